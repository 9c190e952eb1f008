// SPDX-License-Identifier: BSL-1.0
//
// The announcement in the environment: see include/gyre/io/inherited_descriptors.hpp.
#include <gyre/io/inherited_descriptors.hpp>

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace gyre {
namespace {

constexpr int first_number = 3;  // SD_LISTEN_FDS_START
constexpr int count_max = 1024;

std::string_view variable(const char* name) noexcept {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

// A whole number that is not negative; -1 for everything else.
int number_in(std::string_view text) noexcept {
    int value = -1;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc{} && end == text.data() + text.size() && value >= 0 ? value : -1;
}

std::string_view take_name(std::string_view& names) noexcept {
    const std::size_t colon = names.find(':');
    const std::string_view name = names.substr(0, colon);
    names = colon == std::string_view::npos ? std::string_view{} : names.substr(colon + 1);
    return name.empty() ? "unknown" : name;
}

}  // namespace

io_result<std::vector<inherited_descriptor>> take_inherited_descriptors(io_context& on) {
    std::vector<inherited_descriptor> all;
    const std::string_view announced = variable("LISTEN_FDS");
    if (announced.empty()) return all;
    const std::string_view receiver = variable("LISTEN_PID");
    const int process = receiver.empty() ? ::getpid() : number_in(receiver);
    const int count = number_in(announced);
    const bool numbers = process > 0 && count >= 0 && count <= count_max;
    if (!numbers) return error{errc::malformed, activity::adopt};
    if (process != ::getpid()) return all;

    std::string_view names = variable("LISTEN_FDNAMES");
    for (int each = 0; each < count; ++each) {
        // Beyond all that was announced, so that no copy is taken for one of these.
        duplicate_operation op{first_number + each, first_number + count};
        op.through_exec = true;  // An old announcement may name what was opened since.
        op.result = on.host().perform_now(op);
        if (const error failed = error_of(op)) return failed;
        all.push_back({std::string{take_name(names)}, descriptor::adopt(on, op.result)});
    }
    for (int each = 0; each < count; ++each)
        static_cast<void>(descriptor::adopt(on, first_number + each).close());
    for (const char* const name : {"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}) ::unsetenv(name);
    return all;
}

}  // namespace gyre
