// SPDX-License-Identifier: BSL-1.0
//
// Two carriers for each connection, and a coroutine that disturbs them: see the header.
#include <exchange/tests/links/bad_stream_link.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/sync/sleep.hpp>

#include <algorithm>
#include <iterator>

namespace exchange::testing {

using namespace std::chrono_literals;

gyre::io_result<gyre::endpoint> bad_stream_link::listen(const gyre::endpoint& at) {
    auto [error, acceptor] = gyre::stream_acceptor::listen(on_, at);
    if (error) return error;
    acceptor_ = std::move(acceptor);
    return acceptor_.local_endpoint();
}

void bad_stream_link::begin(const gyre::endpoint& server) {
    server_ = server;
    gyre::launch(on_, accept_clients(), gyre::or_terminate{});
    gyre::launch(on_, strike_at_random(), gyre::or_terminate{});
}

void bad_stream_link::stop() noexcept {
    stopped_ = calm_ = true;
    static_cast<void>(acceptor_.close());
    for (crossing& each : crossings_) end(each, ending::reset);
}

gyre::task<> bad_stream_link::accept_clients() {
    while (!stopped_) {
        auto [error, client] = co_await acceptor_.accept();
        if (error == gyre::errc::canceled) co_return;
        if (error) {
            static_cast<void>(co_await gyre::sleep_for(5ms));
            continue;
        }
        if (stopped_ || crossings_.size() == connections_max) continue;  // Turned away.
        crossings_.emplace_back(std::move(client));
        gyre::launch(on_, cross(std::prev(crossings_.end())), gyre::or_terminate{});
    }
}

gyre::task<> bad_stream_link::cross(place it) {
    ++it->carriers;
    auto [error, server] = co_await gyre::stream_socket::connect(server_);
    if (error || it->over) {
        end(*it, ending::reset);
        leave(it);
        co_return;
    }
    ++counts_.connections;
    ++it->carriers;
    it->server = std::move(server);
    gyre::launch(on_, carry(it, it->server, it->client, it->portions[0]), gyre::or_terminate{});
    gyre::launch(on_, carry(it, it->client, it->server, it->portions[1]), gyre::or_terminate{});
}

gyre::task<> bad_stream_link::carry(place it, gyre::stream_socket& from, gyre::stream_socket& to,
                                    std::span<std::byte> portion) {
    while (!it->over) {
        const auto [error, size] = co_await from.read_some(portion);
        if (it->over) break;
        if (error == gyre::errc::eof) {  // The other direction goes on.
            if (to.is_open()) static_cast<void>(to.shutdown(gyre::shutdown_side::send));
            break;
        }
        if (error) {
            end(*it, ending::reset);
            break;
        }
        ++counts_.portions;
        co_await pass_on(it, to, portion.first(size));
    }
    leave(it);
}

bad_stream_link::fault bad_stream_link::draw() {
    if (calm_) return fault::none;
    if (strikes(faults_.reset_one_in, counts_.resets)) return fault::reset;
    if (strikes(faults_.close_one_in, counts_.closes)) return fault::close;
    if (strikes(faults_.freeze_one_in, counts_.freezes)) return fault::freeze;
    if (strikes(faults_.orphan_one_in, counts_.orphans)) return fault::orphan;
    if (strikes(faults_.stall_one_in, counts_.stalls)) return fault::stall;
    return strikes(faults_.slice_one_in, counts_.slices) ? fault::slice : fault::none;
}

/// By chance, and for the first time soon, so that no run is without it.
bool bad_stream_link::strikes(std::size_t one_in, std::uint64_t so_far) {
    if (one_in == 0) return false;
    return dice_.chance(one_in) || (so_far == 0 && counts_.portions > first_within);
}

gyre::task<> bad_stream_link::pass_on(place it, gyre::stream_socket& to,
                                      std::span<const std::byte> bytes) {
    const fault what = it->frozen || it->orphaned ? fault::none : draw();
    const std::size_t torn_at = dice_.below(bytes.size() + 1);
    if (it->frozen) {  // By the carrier of the other direction, who will end it.
        while (!it->over) static_cast<void>(co_await gyre::sleep_for(5ms));
        co_return;
    }
    switch (what) {
        case fault::none: co_await write_in_pieces(it, to, bytes, bytes.size()); break;
        case fault::slice:
            ++counts_.slices;
            co_await write_in_pieces(it, to, bytes, 1);
            break;
        case fault::stall:
            ++counts_.stalls;
            co_await write_in_pieces(it, to, bytes.first(torn_at), bytes.size());
            co_await rest(it, some_of(faults_.stall_max, dice_));
            co_await write_in_pieces(it, to, bytes.subspan(torn_at), bytes.size());
            break;
        case fault::freeze:
            ++counts_.freezes;
            it->frozen = true;
            co_await write_in_pieces(it, to, bytes.first(torn_at), bytes.size());
            co_await rest(it, faults_.freeze_max);
            end(*it, ending::reset);
            break;
        case fault::reset:
            ++counts_.resets;
            co_await write_in_pieces(it, to, bytes.first(torn_at), bytes.size());
            end(*it, ending::reset);
            break;
        case fault::close:
            ++counts_.closes;
            co_await write_in_pieces(it, to, bytes.first(torn_at), bytes.size());
            end(*it, ending::orderly);
            break;
        case fault::orphan:
            if (&to == &it->server) co_await orphan(it, bytes);
            else co_await write_in_pieces(it, to, bytes, bytes.size());
            break;
    }
}

/// The client logs in again at once; by the time its last words arrive, they are those of an old connection.
gyre::task<> bad_stream_link::orphan(place it, std::span<const std::byte> bytes) {
    ++counts_.orphans;
    it->orphaned = true;
    static_cast<void>(it->client.set_option(gyre::reset_on_close{{true}}));
    static_cast<void>(it->client.close());
    co_await rest(it, 2 * some_of(faults_.stall_max, dice_));
    co_await write_in_pieces(it, it->server, bytes, bytes.size());
    co_await rest(it, some_of(faults_.stall_max, dice_));
    end(*it, ending::orderly);
}

gyre::task<> bad_stream_link::write_in_pieces(place it, gyre::stream_socket& to,
                                              std::span<const std::byte> bytes,
                                              std::size_t piece_bytes) {
    const bool towards_client = &to == &it->client;
    while (!bytes.empty() && !it->over) {
        if (towards_client && it->orphaned) co_return;
        const auto [error, size] =
            co_await to.write_some(bytes.first(std::min(piece_bytes, bytes.size())));
        if (towards_client && it->orphaned) co_return;
        if (error) {
            end(*it, ending::reset);
            co_return;
        }
        bytes = bytes.subspan(size);
    }
}

gyre::task<> bad_stream_link::rest(place it, gyre::duration at_most) {
    const gyre::time_point until = on_.now() + at_most;
    while (!it->over && !calm_ && on_.now() < until)
        static_cast<void>(co_await gyre::sleep_for(5ms));
}

gyre::task<> bad_stream_link::strike_at_random() {
    while (!calm_) {
        const gyre::time_point until = on_.now() + some_of(2 * faults_.strike_every, dice_);
        while (!calm_ && on_.now() < until) static_cast<void>(co_await gyre::sleep_for(5ms));
        if (calm_ || crossings_.empty()) continue;
        const auto whom = static_cast<std::ptrdiff_t>(dice_.below(crossings_.size()));
        crossing& victim = *std::next(crossings_.begin(), whom);
        if (victim.over) continue;
        ++counts_.strikes;
        end(victim, ending::reset);
    }
}

void bad_stream_link::end(crossing& it, ending how) noexcept {
    if (it.over) return;
    it.over = true;
    for (gyre::stream_socket* const each : {&it.client, &it.server}) {
        if (how == ending::reset) static_cast<void>(each->set_option(gyre::reset_on_close{{true}}));
        static_cast<void>(each->close());
    }
}

void bad_stream_link::leave(place it) noexcept {
    if (--it->carriers == 0) crossings_.erase(it);
}

}  // namespace exchange::testing
