// SPDX-License-Identifier: BSL-1.0
//
// See control_group.hpp. Where the hierarchies are mounted is guessed: where systemd and Docker put them.
#include <support/control_group.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string_view>

namespace gyre::testing {
namespace {

// The group of this process in the second version's hierarchy; in the first one's, its top will do.
std::string own_group() {
    std::ifstream listed{"/proc/self/cgroup"};
    for (std::string line; std::getline(listed, line);) {
        if (line.starts_with("0::/")) return line.substr(3);
    }
    return "/";
}

}  // namespace

control_group::control_group(const std::string& controller) {
    const std::string name = "/gyre_test_" + std::to_string(::getpid());
    const std::array places{"/sys/fs/cgroup/" + controller, "/sys/fs/cgroup" + own_group(),
                            "/sys/fs/cgroup/unified" + own_group()};
    for (const std::string& each : places) {
        const std::string path = each + name;
        if (::mkdir(path.c_str(), 0755) != 0) continue;
        const std::string limit = controller == "cpu" ? "/cpu.cfs_quota_us" : "/pids.max";
        const bool first = ::access((path + limit).c_str(), W_OK) == 0 && &each == &places[0];
        const std::string second = "/" + controller + ".max";
        if (first || ::access((path + second).c_str(), W_OK) == 0) {
            path_ = path;
            unified_ = !first;
            return;
        }
        ::rmdir(path.c_str());
    }
}

control_group::~control_group() {
    if (exists()) ::rmdir(path_.c_str());
}

bool control_group::set(const std::string& name, const std::string& value) const {
    const int to = ::open((path_ + "/" + name).c_str(), O_WRONLY | O_CLOEXEC);
    if (to < 0) return false;
    const bool written =
        ::write(to, value.data(), value.size()) == static_cast<ssize_t>(value.size());
    ::close(to);
    return written;
}

bool control_group::enter() const { return set("cgroup.procs", std::to_string(::getpid())); }

}  // namespace gyre::testing
