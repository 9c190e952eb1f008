// SPDX-License-Identifier: BSL-1.0
//
// What exchange/management/memory_need.hpp promises: the worst is known, and compared with what there is.
#include <exchange/management/memory_need.hpp>

#include <gyre/base/build.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>

using namespace exchange;

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

/// A machine whose kernel tells this.
struct told_machine {
    std::map<std::string, std::string> files;

    [[nodiscard]] std::optional<std::uint64_t> memory() const {
        return memory_there([this](const std::string& path) -> std::optional<std::string> {
            const auto found = files.find(path);
            if (found == files.end()) return std::nullopt;
            return found->second;
        });
    }
};

constexpr const char* meminfo =
    "MemTotal:       24684204 kB\nMemFree:        23000000 kB\nMemAvailable:   20480000 kB\n";

std::uint64_t part_of(const config& of, std::string_view what) {
    for (const memory_part& each : memory_needs(of))
        if (each.what == what) return each.bytes;
    FAIL("there is no such part: ", what);
    return 0;
}

}  // namespace

TEST_CASE("each part grows with the number that it names, and no other part does") {
    const auto check_of = [](const char* key, const auto& enlarge) {
        CAPTURE(key);
        config it;
        const auto before = memory_needs(it);
        enlarge(it);
        for (const memory_part& each : memory_needs(it)) {
            CAPTURE(each.what);
            const auto same = std::ranges::find(before, each.what, &memory_part::what);
            REQUIRE(same != before.end());
            if (each.key == key) CHECK(each.bytes > same->bytes);
            else CHECK(each.bytes == same->bytes);
        }
    };
    check_of("limits.trades_kept_max",
             [](config& it) { it.host.sequencing.limits.trades_kept_max *= 2; });
    check_of("limits.orders_max", [](config& it) { it.host.sequencing.limits.orders_max *= 2; });
    check_of("limits.holdings_max",
             [](config& it) { it.host.sequencing.limits.holdings_max *= 2; });
    check_of("limits.level_chunks_max",
             [](config& it) { it.host.sequencing.limits.level_chunks_max *= 2; });
    check_of("limits.protections_max",
             [](config& it) { it.host.sequencing.limits.protections_max *= 2; });
    check_of("limits.far_nodes_max",
             [](config& it) { it.host.sequencing.limits.far_nodes_max *= 2; });
    check_of("limits.products_max",
             [](config& it) { it.host.sequencing.limits.products_max *= 2; });
    check_of("limits.instruments_max",
             [](config& it) { it.host.sequencing.limits.instruments_max *= 2; });
    check_of("limits.accounts_max",
             [](config& it) { it.host.sequencing.limits.accounts_max *= 2; });
    check_of("limits.sessions_max",
             [](config& it) { it.host.sequencing.limits.sessions_max *= 2; });
    check_of("order_entry.stream_memory_max",
             [](config& it) { it.host.stream_memory.bytes_max = 1'000 * mebibyte; });
    check_of("operators.connections_max",
             [](config& it) { it.host.operator_connections_max *= 2; });
    check_of("feed.unsent_bytes_max", [](config& it) { it.host.feed.unsent_bytes_max *= 100; });
    check_of("order_entry.connections_max", [](config& it) { it.facility.connections_max *= 2; });
    check_of("gateways.channels_max", [](config& it) {
        it.facility.gateways.at = gyre::endpoint{gyre::ipv4::loopback(), 0};
    });
}

TEST_CASE("a part is as large as what it is made of") {
    config it;
    it.host.sequencing.limits.orders_max = 1'000'000;
    CHECK(part_of(it, "orders") / mebibyte == ((64 + 40) * 1'000'000 + 4 * (1 << 20)) / mebibyte);
    it.host.stream_memory.bytes_max = 100 * mebibyte;
    CHECK(part_of(it, "streams") / mebibyte == 100);
    it.facility.connections_max = 1'000;
    CHECK(part_of(it, "connections") == 1'000 * (64 + 32 + 8) * std::uint64_t{1024});
    it.facility.websocket = {gyre::ipv4::loopback(), 7004};
    CHECK(part_of(it, "connections") == 1'000 * (2 * (64 + 32 + 8) + 128) * std::uint64_t{1024});
}

TEST_CASE("the largest parts come first") {
    const std::vector<memory_part> parts = memory_needs(config{});
    CHECK(std::ranges::is_sorted(parts, std::ranges::greater{}, &memory_part::bytes));
    CHECK(sum_of(parts) > parts.front().bytes);
}

TEST_CASE("what fits is in order, to the last byte") {
    const std::vector<memory_part> parts{{"orders", "limits.orders_max", 300 * mebibyte},
                                         {"the program itself", "", 20 * mebibyte}};
    CHECK_FALSE(why_too_much(parts, 320 * mebibyte).has_value());
    CHECK_FALSE(why_too_much(parts, std::nullopt).has_value());
    CHECK(why_too_much(parts, 320 * mebibyte - 1).has_value());
    CHECK(describe(parts, 1'000 * mebibyte + 1) == "needs at most 320 MiB of 1000 MiB");
    CHECK(describe(parts, std::nullopt) == "needs at most 320 MiB");
}

TEST_CASE("what does not fit is refused with the largest parts, and what to lower") {
    const std::vector<memory_part> parts{
        {"streams", "order_entry.stream_memory_max", 900 * mebibyte},
        {"orders", "limits.orders_max", 300 * mebibyte},
        {"the program itself", "", 32 * mebibyte},
        {"holdings", "limits.holdings_max", mebibyte}};
    const auto error = why_too_much(parts, 1'000 * mebibyte);
    REQUIRE(error.has_value());
    CHECK(
        error->message() ==
        "order_entry.stream_memory_max: expected less: the facility needs at most 1233 MiB of 1000 "
        "MiB: streams 900 MiB (order_entry.stream_memory_max), orders 300 MiB (limits.orders_max), "
        "the program itself 32 MiB");
}

TEST_CASE("what is no number is more than there is") {
    const std::vector<memory_part> parts{{"orders", "limits.orders_max", most - 5},
                                         {"streams", "order_entry.stream_memory_max", 6}};
    CHECK(sum_of(parts) == most);
    CHECK(why_too_much(parts, most - 1).has_value());
    config it;
    it.facility.connections_max = std::numeric_limits<std::size_t>::max() / 2;
    it.host.stream_memory.bytes_max = std::numeric_limits<std::size_t>::max();
    CHECK(part_of(it, "connections") == most);
    CHECK(part_of(it, "streams") == most);
    CHECK(sum_of(memory_needs(it)) == most);
}

TEST_CASE("a machine has what the kernel says is available, or else all of it, or does not tell") {
    CHECK(told_machine{{{"/proc/meminfo", meminfo}}}.memory() == 20'000 * mebibyte);
    CHECK(told_machine{{{"/proc/meminfo", "MemTotal: 1024 kB\n"}}}.memory() == mebibyte);
    CHECK_FALSE(told_machine{}.memory().has_value());
    CHECK_FALSE(told_machine{{{"/proc/meminfo", "MemTotal: much\n"}}}.memory().has_value());
    CHECK_FALSE(told_machine{{{"/proc/meminfo", "MemTotal: 99999999999999999999999 kB\n"}}}
                    .memory()
                    .has_value());
    CHECK_FALSE(told_machine{{{"/proc/meminfo", "MemTotal:"}}}.memory().has_value());
}

TEST_CASE("a control group that allows less than there is counts, its own or one above") {
    told_machine it{{{"/proc/meminfo", meminfo}, {"/proc/self/cgroup", "0::/day/one\n"}}};
    it.files["/sys/fs/cgroup/day/one/memory.max"] = "max\n";
    CHECK(it.memory() == 20'000 * mebibyte);
    it.files["/sys/fs/cgroup/day/memory.max"] = "1073741824\n";
    CHECK(it.memory() == 1'024 * mebibyte);
    it.files["/sys/fs/cgroup/day/one/memory.max"] = "536870912\n";
    CHECK(it.memory() == 512 * mebibyte);
    it.files["/sys/fs/cgroup/memory.max"] = "268435456\n";
    CHECK(it.memory() == 256 * mebibyte);
    it.files.erase("/proc/meminfo");
    CHECK(it.memory() == 256 * mebibyte);
}

TEST_CASE("a control group that allows more than there is changes nothing") {
    told_machine it{{{"/proc/meminfo", meminfo}, {"/proc/self/cgroup", "0::/"}}};
    it.files["/sys/fs/cgroup/memory.max"] = "99999999999999999999999\n";
    CHECK(it.memory() == 20'000 * mebibyte);
    it.files["/sys/fs/cgroup/memory.max"] = "999999999999\n";
    CHECK(it.memory() == 20'000 * mebibyte);
}

TEST_CASE("a control group of the first version counts as well") {
    told_machine it{
        {{"/proc/meminfo", meminfo},
         {"/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a\n3:memory:/b\n0::/\n"}}};
    it.files["/sys/fs/cgroup/memory/b/memory.limit_in_bytes"] = "9223372036854771712\n";
    CHECK(it.memory() == 20'000 * mebibyte);
    it.files["/sys/fs/cgroup/memory/b/memory.limit_in_bytes"] = "1048576\n";
    CHECK(it.memory() == mebibyte);
}

TEST_CASE("what can be had can be reserved, and what no machine has cannot") {
    CHECK(can_be_reserved(mebibyte));
    // A sanitizer ends the program instead.
    if (gyre::recycles_memory) CHECK_FALSE(can_be_reserved(most / 4));
}

TEST_CASE("partitions have tables of their own, and share streams, feed and connections") {
    config it;
    const auto before = memory_needs(it);
    it.host.sequencing.partitions = 3;

    CHECK(part_of(it, "orders") ==
          3 * std::ranges::find(before, "orders", &memory_part::what)->bytes);
    for (const char* shared : {"streams", "the feed", "connections"})
        CHECK(part_of(it, shared) == std::ranges::find(before, shared, &memory_part::what)->bytes);
}
