// SPDX-License-Identifier: BSL-1.0
//
// The processor time of containers: by trees of files such as kernels show them, and by a real group.
#include <runtime/processor_quota.hpp>

#include <gyre/runtime/io_pool.hpp>
#include <support/child.hpp>
#include <support/control_group.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/skip.hpp>

#include <sched.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

constexpr const char* second_at_top =
    "24 23 0:22 / /proc rw - proc proc rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* first_at_top =
    "30 23 0:27 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
    "33 30 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "32 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

struct machine {
    const char* name;
    unsigned processors;
    std::vector<std::pair<std::string, std::string>> files;
};

const std::vector<machine> machines{
    {"nothing can be read", 0, {}},
    {"no group has a limit",
     0,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", second_at_top},
      {"/sys/fs/cgroup/app/cpu.max", "max 100000\n"}}},
    {"the second version, as in a container",
     2,
     {{"/proc/self/cgroup", "0::/\n"},
      {"/proc/self/mountinfo", second_at_top},
      {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}},
    {"a fraction is rounded up",
     3,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", second_at_top},
      {"/sys/fs/cgroup/app/cpu.max", "200001 100000\n"}}},
    {"less than one is one",
     1,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", second_at_top},
      {"/sys/fs/cgroup/app/cpu.max", "1000 100000\n"}}},
    {"a group above has the least",
     2,
     {{"/proc/self/cgroup", "0::/pod/app/worker\n"},
      {"/proc/self/mountinfo", second_at_top},
      {"/sys/fs/cgroup/cpu.max", "800000 100000\n"},
      {"/sys/fs/cgroup/pod/cpu.max", "100000 50000\n"},
      {"/sys/fs/cgroup/pod/app/cpu.max", "400000 100000\n"},
      {"/sys/fs/cgroup/pod/app/worker/cpu.max", "max 100000\n"}}},
    {"the first version",
     4,
     {{"/proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/app\n0::/\n"},
      {"/proc/self/mountinfo", first_at_top},
      {"/sys/fs/cgroup/cpuset/other/cpu.cfs_quota_us", "100000\n"},
      {"/sys/fs/cgroup/cpuset/other/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "200000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "50000\n"}}},
    {"the first version, without a limit",
     0,
     {{"/proc/self/cgroup", "4:cpu,cpuacct:/app\n"},
      {"/proc/self/mountinfo", first_at_top},
      {"/sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "100000\n"}}},
    {"a part of a hierarchy is mounted, and both names are the machine's",
     2,
     {{"/proc/self/cgroup", "0::/docker/0a/inner\n"},
      {"/proc/self/mountinfo",
       "31 23 0:28 /docker/0 /elsewhere rw - cgroup2 cgroup rw\n"
       "32 23 0:28 /docker/0a /sys/fs/cgroup rw - cgroup2 cgroup rw\n"},
      {"/elsewhere/cpu.max", "100000 100000\n"},
      {"/sys/fs/cgroup/cpu.max", "200000 100000\n"},
      {"/sys/fs/cgroup/docker/0a/cpu.max", "100000 100000\n"}}},
    {"the group is outside of what is mounted",
     0,
     {{"/proc/self/cgroup", "0::/../other\n"},
      {"/proc/self/mountinfo", second_at_top},
      {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}},
    {"a mount has a blank in its name",
     2,
     {{"/proc/self/cgroup", "0::/app\n"},
      {"/proc/self/mountinfo", "31 23 0:28 / /my\\040groups rw - cgroup2 cgroup2 rw\n"},
      {"/my groups/app/cpu.max", "200000 100000\n"}}},
    {"both versions are mounted, and the first one has the processors",
     1,
     {{"/proc/self/cgroup", "1:cpu:/app\n0::/app\n"},
      {"/proc/self/mountinfo",
       "32 30 0:29 / /cpu rw - cgroup cgroup rw,cpu\n"
       "38 30 0:37 / /unified rw - cgroup2 cgroup2 rw\n"},
      {"/cpu/app/cpu.cfs_quota_us", "50000\n"},
      {"/cpu/app/cpu.cfs_period_us", "100000\n"}}},
    {"what no kernel writes",
     0,
     {{"/proc/self/cgroup", "0::/app\nnonsense\n::::\n\n:"},
      {"/proc/self/mountinfo",
       " - \n - cgroup2\nnonsense\n31 23 - cgroup2 x y\n"
       "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
      {"/sys/fs/cgroup/app/cpu.max", "200000 0\n"},
      {"/sys/fs/cgroup/cpu.max", "99999999999999999999 100000\n"}}},
};

unsigned processors_of_affinity() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ::sched_getaffinity(0, sizeof allowed, &allowed);
    return static_cast<unsigned>(CPU_COUNT(&allowed));
}

}  // namespace

TEST_CASE(
    "the processors that a control group leaves are read as kernels and containers show them") {
    for (const machine& each : machines) {
        INFO(std::string{each.name});
        const scratch_directory root;
        for (const auto& [name, content] : each.files) {
            const std::filesystem::path path{root / name.substr(1)};
            std::filesystem::create_directories(path.parent_path());
            static_cast<void>(root.put(name.substr(1), content));
        }

        CHECK(processors_by_quota(root.path().string()) == each.processors);
    }
}

TEST_CASE("a pool has as many threads as its control group has processor time for") {
    if (processors_of_affinity() < 2) return skip("there is one processor");
    const control_group group{"cpu"};
    if (!group.exists()) return skip("no control group for processors may be made here");
    const bool limited = group.unified() ? group.set("cpu.max", "50000 100000")
                                         : group.set("cpu.cfs_quota_us", "50000") &&
                                               group.set("cpu.cfs_period_us", "100000");
    if (!limited) return skip("a control group may not be limited here");

    const child_report child = in_child([&](child_process& me) {
        if (!group.enter()) return me.say("it may not be entered");
        me.check(processors_by_quota() == 1, "half a processor's time is one processor");
        const io_pool pool;
        me.check(pool.size() == 1, "the pool has one thread");
        io_pool_options options;
        options.threads = 2;
        const io_pool as_asked{options};
        me.check(as_asked.size() == 2, "a number that is asked for is kept to");
    });

    INFO(child.text);
    CHECK(child.passed());
}
