// SPDX-License-Identifier: BSL-1.0
//
// What include/gyre/base/exception.hpp tells of exceptions.
#include <gyre/base/exception.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <typeinfo>

namespace gyre {

#if defined(__cpp_exceptions)

namespace {

// Of the one that is being handled.
std::string type_name() {
    const std::type_info* const type = abi::__cxa_current_exception_type();
    if (type == nullptr) return "an exception of another language";
    int failed = 0;
    char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &failed);
    std::string text{failed == 0 ? name : type->name()};
    std::free(name);
    return text;
}

}  // namespace

std::string describe(const std::exception_ptr& thrown) {
    if (thrown == nullptr) return {};
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& it) {
        return type_name() + ": " + it.what();
    } catch (...) {
        return type_name();
    }
}

#else

std::string describe(const std::exception_ptr&) { return {}; }

#endif

}  // namespace gyre
