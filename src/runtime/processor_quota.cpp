// SPDX-License-Identifier: BSL-1.0
//
// The files of cgroups(7) that processor_quota.hpp reads: which group, where it is mounted, what it may use.
#include <runtime/processor_quota.hpp>

#include <runtime/system_host.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre {
namespace {

std::string text_of(const std::string& path) {
    std::string text;
    if (system_host::instance().read_settings(path.c_str(), text) != 0) text.clear();
    return text;
}

// Takes off what stands before the next `separator`, and that as well.
std::string_view taken_to(std::string_view& from, char separator) noexcept {
    const std::size_t end = std::min(from.find(separator), from.size());
    const std::string_view part = from.substr(0, end);
    from.remove_prefix(std::min(end + 1, from.size()));
    return part;
}

bool lists(std::string_view names, std::string_view wanted) noexcept {
    while (!names.empty()) {
        if (taken_to(names, ',') == wanted) return true;
    }
    return false;
}

/// One of the two versions, in which the kernel may have control of processors.
struct cgroup_version {
    std::string_view type;  // Of its mounts.
    bool has_controllers;   // Its mounts and groups are listed with these.
};

constexpr cgroup_version first_version{"cgroup", true};
constexpr cgroup_version second_version{"cgroup2", false};

// The group of this process, below the top of its hierarchy: "4:cpu,cpuacct:/a/group", or "0::/a/group".
std::optional<std::string_view> group_in(std::string_view listing, cgroup_version of) noexcept {
    while (!listing.empty()) {
        std::string_view line = taken_to(listing, '\n');
        const std::string_view number = taken_to(line, ':');
        const std::string_view controllers = taken_to(line, ':');
        const bool found =
            of.has_controllers ? lists(controllers, "cpu") : number == "0" && controllers.empty();
        if (found) return line;
    }
    return std::nullopt;
}

// Blanks and the like are written "\040" (proc(5)).
std::string unescaped(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        unsigned code = 0;
        if (text.front() == '\\' && text.size() >= 4 &&
            std::from_chars(text.data() + 1, text.data() + 4, code, 8).ptr == text.data() + 4) {
            plain.push_back(static_cast<char>(code));
            text.remove_prefix(4);
            continue;
        }
        plain.push_back(text.front());
        text.remove_prefix(1);
    }
    return plain;
}

/// Where a part of a hierarchy can be seen.
struct cgroup_mount {
    std::string top;    // The group that is seen there, without a slash at its end.
    std::string point;  // The directory.
};

// A line of /proc/self/mountinfo: "36 35 0:30 /top /mount/point rw shared:1 - cgroup cgroup rw,cpu".
std::optional<cgroup_mount> mount_in(std::string_view line, cgroup_version of) {
    constexpr std::string_view end_of_options = " - ";
    const std::size_t behind = line.find(end_of_options);
    if (behind == std::string_view::npos) return std::nullopt;
    std::string_view kind = line.substr(behind + end_of_options.size());
    if (taken_to(kind, ' ') != of.type) return std::nullopt;
    taken_to(kind, ' ');
    if (of.has_controllers && !lists(kind, "cpu")) return std::nullopt;
    for (int skipped = 0; skipped < 3; ++skipped) taken_to(line, ' ');
    std::string top = unescaped(taken_to(line, ' '));
    if (top == "/") top.clear();
    return cgroup_mount{std::move(top), unescaped(taken_to(line, ' '))};
}

std::optional<std::int64_t> number_in(std::string_view text) noexcept {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || end == text.data()) return std::nullopt;
    return number;
}

// The quota of one group over its period, rounded up; 0 without a limit.
unsigned quota_of(const std::string& directory, cgroup_version of) {
    std::string quota;
    std::string period;
    if (of.has_controllers) {
        quota = text_of(directory + "/cpu.cfs_quota_us");  // -1 without a limit.
        period = text_of(directory + "/cpu.cfs_period_us");
    } else {
        const std::string both = text_of(directory + "/cpu.max");  // "max 100000" without a limit.
        std::string_view rest = both;
        quota = taken_to(rest, ' ');
        period = rest;
    }
    const std::optional<std::int64_t> time = number_in(quota);
    const std::optional<std::int64_t> each = number_in(period);
    if (!time || !each || *time <= 0 || *each <= 0) return 0;
    constexpr std::int64_t processors_max = 1 << 20;
    return static_cast<unsigned>(std::min((*time - 1) / *each + 1, processors_max));
}

unsigned less(unsigned one, unsigned other) noexcept {
    if (one == 0 || other == 0) return std::max(one, other);
    return std::min(one, other);
}

// The least quota of the group and of those above it, up to the mount.
unsigned quota_along(const std::string& point, std::string below, cgroup_version of) {
    unsigned least = quota_of(point, of);
    while (!below.empty()) {
        least = less(least, quota_of(point + below, of));
        below.erase(below.rfind('/'));
    }
    return least;
}

unsigned quota_by(cgroup_version of, const std::string& root, std::string_view groups,
                  std::string_view mounts) {
    const std::optional<std::string_view> group = group_in(groups, of);
    if (!group) return 0;
    while (!mounts.empty()) {
        const std::optional<cgroup_mount> seen = mount_in(taken_to(mounts, '\n'), of);
        if (!seen || !group->starts_with(seen->top)) continue;
        std::string below{group->substr(seen->top.size())};
        if (below == "/") below.clear();
        if (!below.empty() && below.front() != '/') continue;  // Another one that begins alike.
        if (below == "/.." || below.starts_with("/../")) continue;  // Outside of what is seen here.
        return quota_along(root + seen->point, std::move(below), of);
    }
    return 0;
}

}  // namespace

unsigned processors_by_quota(const std::string& root) {
    const std::string groups = text_of(root + "/proc/self/cgroup");
    const std::string mounts = text_of(root + "/proc/self/mountinfo");
    return less(quota_by(first_version, root, groups, mounts),
                quota_by(second_version, root, groups, mounts));
}

}  // namespace gyre
