// SPDX-License-Identifier: BSL-1.0
//
// Asking the C library for a user: see include/gyre/runtime/process_user.hpp.
#include <gyre/runtime/process_user.hpp>

#include <gyre/runtime/call.hpp>

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>

namespace gyre {
namespace {

io_result<process_user> look_up(const std::string& name) {
    if (name.find('\0') != std::string::npos)
        return error{errc::invalid_argument, activity::change_user};
    std::vector<char> space(1024);
    passwd entry{};
    passwd* found = nullptr;
    int failed = ERANGE;
    for (constexpr std::size_t most = std::size_t{1} << 20;
         failed == ERANGE && space.size() <= most;) {
        failed = ::getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &found);
        if (failed == ERANGE) space.resize(2 * space.size());
    }
    if (failed != 0) return error::from_errno(failed, activity::change_user);
    if (found == nullptr) return error{errc::unknown_user, activity::change_user};

    std::vector<gid_t> groups(64);
    auto count = static_cast<int>(groups.size());
    while (::getgrouplist(name.c_str(), entry.pw_gid, groups.data(), &count) < 0) {
        groups.resize(2 * groups.size());
        count = static_cast<int>(groups.size());
    }
    groups.resize(static_cast<std::size_t>(count));
    return process_user{entry.pw_uid, entry.pw_gid, std::move(groups)};
}

}  // namespace

task<io_result<process_user>> find_user(std::string name) {
    const auto ask = [&name] { return look_up(name); };
    io_result<io_result<process_user>> asked = co_await blocking(ask);
    if (!asked.ok()) co_return asked.error();
    co_return asked.take();
}

}  // namespace gyre
