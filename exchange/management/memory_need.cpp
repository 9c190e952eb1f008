// SPDX-License-Identifier: BSL-1.0
//
// The parts one by one, and where the kernel tells what there is: see memory_need.hpp.
#include <exchange/management/memory_need.hpp>

#include <exchange/core/venue.hpp>
#include <exchange/net/session/gateway_session.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace exchange {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// Code, the loop with its rings, the batches of the feed.
constexpr std::uint64_t program_bytes = 32 * mebibyte;

// A connection beside its buffers: two coroutines' frames, or the memory of its handlers.
constexpr std::uint64_t connection_bytes = 8 * 1024;

[[nodiscard]] std::uint64_t sum(std::uint64_t left, std::uint64_t right) noexcept {
    return left > most - right ? most : left + right;
}
[[nodiscard]] std::uint64_t times(std::uint64_t left, std::uint64_t right) noexcept {
    return right != 0 && left > most / right ? most : left * right;
}
[[nodiscard]] std::uint64_t mebibytes(std::uint64_t bytes) noexcept {
    return bytes / mebibyte + (bytes % mebibyte != 0);
}

/// A table whose places are numbered from 1.
template <class Element>
[[nodiscard]] std::uint64_t numbered(std::uint64_t places) noexcept {
    return table_bytes<Element>(places + 1);
}

[[nodiscard]] std::uint64_t streams_need(const order_entry_host_options& it) noexcept {
    const segment_pool_options pool{.bytes_max = stream_memory_for(it),
                                    .segment_bytes = it.stream_memory.segment_bytes};
    const std::uint64_t list = message_log::list_bytes_for(soup_stream::log_of(it.stream), pool);
    const std::size_t participants = std::max(it.participants_max, it.participants.size());
    return sum(segment_pool::bytes_for(pool), times(participants, list));
}

[[nodiscard]] std::uint64_t operators_need(const order_entry_host_options& it) noexcept {
    const message_log_options log = soup_stream::log_of(it.operator_stream);
    const segment_pool_options pool = message_log::own_pool_for(log);
    return times(it.operator_connections_max,
                 sum(segment_pool::bytes_for(pool), message_log::list_bytes_for(log, pool)));
}

[[nodiscard]] std::uint64_t feed_need(const mold_sender_options& it) noexcept {
    const message_log_options log = mold_sender::log_of(it);
    const segment_pool_options pool = message_log::own_pool_for(log);
    return sum(segment_pool::bytes_for(pool), message_log::list_bytes_for(log, pool));
}

[[nodiscard]] std::uint64_t connections_need(const facility_options& it) noexcept {
    const std::uint64_t each =
        it.framing.buffer_bytes_max + 2 * it.sessions.outbox_bytes_max + connection_bytes;
    // What it sends is made anew there, while as much is being written.
    const std::uint64_t websocket = sum(each, times(2, it.websockets.unsent_bytes_max));
    const bool websockets = it.websocket.kind() != gyre::endpoint::family::none;
    return times(it.connections_max, sum(each, websockets ? websocket : 0));
}

/// Buffers of all links, and of each a session per channel.
[[nodiscard]] std::uint64_t gateways_need(const facility_options& it) noexcept {
    if (!it.gateways.wanted()) return 0;
    constexpr std::uint64_t framer_bytes = std::uint64_t{256} << 10;
    constexpr std::uint64_t number_bytes = 128;
    const std::uint64_t channel =
        number_bytes + 2 * it.sessions.outbox_bytes_max + sizeof(gateway_channel);
    return times(it.gateways.links_max, sum(framer_bytes + it.gateways.link.output_bytes_max,
                                            times(it.gateways.link.channels_max, channel)));
}

/// The number that `text` begins with; the largest there is if it is too large for one. Nothing if there
/// is none.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::uint64_t read = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (failure == std::errc::result_out_of_range) return most;
    if (failure != std::errc{}) return std::nullopt;
    return read;
}

/// What /proc/meminfo says behind this name, in kB there.
[[nodiscard]] std::optional<std::uint64_t> bytes_behind(std::string_view name,
                                                        std::string_view meminfo) noexcept {
    const std::size_t at = meminfo.find(name);
    if (at == std::string_view::npos) return std::nullopt;
    const auto kilobytes = number_in(meminfo.substr(at + name.size()));
    if (!kilobytes) return std::nullopt;
    return times(*kilobytes, 1024);
}

/// Lowers `limit` to what the files `name` in `folder` and in those above it say. "max" is no number.
void lower_to(std::optional<std::uint64_t>& limit, const file_reader& read, const std::string& root,
              std::string folder, const std::string& name) {
    for (;;) {
        while (folder.ends_with('/')) folder.pop_back();
        if (const auto text = read(root + folder + '/' + name))
            if (const auto said = number_in(*text)) limit = std::min(limit.value_or(most), *said);
        if (folder.empty()) return;
        folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
    }
}

/// The least that the control groups of this process allow, of either version.
[[nodiscard]] std::optional<std::uint64_t> group_limit(const file_reader& read) {
    std::optional<std::uint64_t> limit;
    std::string groups = read("/proc/self/cgroup").value_or("");
    if (!groups.ends_with('\n')) groups += '\n';
    // "0::/path" of the second version, "4:memory:/path" of the first.
    for (std::size_t begin = 0, end; (end = groups.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
        const std::string line = groups.substr(begin, end - begin);
        const std::size_t path = line.find('/');
        if (path == std::string::npos) continue;
        if (line.starts_with("0::"))
            lower_to(limit, read, "/sys/fs/cgroup", line.substr(path), "memory.max");
        if (line.substr(0, path).find(":memory:") != std::string::npos)
            lower_to(limit, read, "/sys/fs/cgroup/memory", line.substr(path),
                     "memory.limit_in_bytes");
    }
    return limit;
}

}  // namespace

std::vector<memory_part> memory_needs(const config& of) {
    const partition_limits& limits = of.host.sequencing.limits;
    // Each partition has tables of its own, of the same sizes.
    const auto in_each = [&](std::uint64_t bytes) {
        return times(of.host.sequencing.partitions, bytes);
    };
    std::vector<memory_part> parts{
        {"orders", "limits.orders_max",
         in_each(sum(
             sum(numbered<order>(limits.orders_max), numbered<advanced_terms>(limits.orders_max)),
             table_bytes<order_index>(client_index::heads_for(limits.orders_max))))},
        {"holdings", "limits.holdings_max",
         in_each(sum(numbered<holding>(limits.holdings_max),
                     table_bytes<holding_index>(holding_table::heads_for(limits.holdings_max))))},
        {"sums of a day", "limits.holdings_max", in_each(numbered<day_sums>(limits.holdings_max))},
        {"trades of a day", "limits.trades_kept_max",
         in_each(table_bytes<kept_trade>(limits.trades_kept_max))},
        {"price levels", "limits.level_chunks_max",
         in_each(sum(numbered<level_chunk>(limits.level_chunks_max),
                     table_bytes<contracts_total>(levels_of(limits.level_chunks_max))))},
        {"far price levels", "limits.far_nodes_max",
         in_each(numbered<node_pool::node>(limits.far_nodes_max))},
        {"protections", "limits.protections_max",
         in_each(numbered<protection>(limits.protections_max))},
        {"products", "limits.products_max", in_each(numbered<product>(limits.products_max))},
        {"instruments", "limits.instruments_max",
         in_each(numbered<market>(limits.instruments_max))},
        {"accounts", "limits.accounts_max", in_each(numbered<account>(limits.accounts_max))},
        {"sessions", "limits.sessions_max",
         sum(in_each(numbered<session>(limits.sessions_max)),
             sum(numbered<client_sequence>(limits.sessions_max),
                 numbered<participant*>(limits.sessions_max)))},
        {"streams", "order_entry.stream_memory_max", streams_need(of.host)},
        {"operators", "operators.connections_max", operators_need(of.host)},
        {"the feed", "feed.unsent_bytes_max", feed_need(of.host.feed)},
        {"connections", "order_entry.connections_max", connections_need(of.facility)},
        {"gateways", "gateways.channels_max", gateways_need(of.facility)},
        {"the program itself", "", program_bytes},
    };
    std::ranges::sort(parts, std::ranges::greater{}, &memory_part::bytes);
    return parts;
}

std::uint64_t sum_of(const std::vector<memory_part>& parts) noexcept {
    std::uint64_t all = 0;
    for (const memory_part& each : parts) all = sum(all, each.bytes);
    return all;
}

std::optional<std::uint64_t> memory_there(const file_reader& read) {
    const std::string meminfo = read("/proc/meminfo").value_or("");
    std::optional<std::uint64_t> there = bytes_behind("MemAvailable:", meminfo);
    if (!there) there = bytes_behind("MemTotal:", meminfo);
    if (const auto limit = group_limit(read)) there = std::min(there.value_or(most), *limit);
    return there == most ? std::nullopt : there;
}

std::optional<config_error> why_too_much(const std::vector<memory_part>& needed,
                                         std::optional<std::uint64_t> there) {
    if (!there || sum_of(needed) <= *there) return std::nullopt;
    constexpr std::size_t named_max = 3;
    std::string where;
    std::string parts;
    for (std::size_t each = 0; each < std::min(named_max, needed.size()); ++each) {
        const memory_part& it = needed[each];
        if (where.empty()) where = it.key;
        parts += (each == 0 ? "" : ", ") + std::string{it.what} + ' ' +
                 std::to_string(mebibytes(it.bytes)) + " MiB";
        if (!it.key.empty()) parts += " (" + std::string{it.key} + ')';
    }
    return config_error{where,
                        "expected less: the facility " + describe(needed, there) + ": " + parts};
}

bool can_be_reserved(std::uint64_t bytes) noexcept {
    void* const volatile tried = std::malloc(bytes);  // Or the compiler would know the answer.
    void* const got = tried;
    std::free(got);
    return got != nullptr;
}

std::string describe(const std::vector<memory_part>& needed, std::optional<std::uint64_t> there) {
    std::string text = "needs at most " + std::to_string(mebibytes(sum_of(needed))) + " MiB";
    if (there) text += " of " + std::to_string(*there / mebibyte) + " MiB";
    return text;
}

}  // namespace exchange
