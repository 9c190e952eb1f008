// SPDX-License-Identifier: BSL-1.0
//
// Many requests of a `web::client` with servers of HTTP/2 that do anything, at random: they delay, refuse,
// reset, leave, change their minds about streams, and go silent, while requests are stopped at any time and
// the client is destroyed. All of it in worlds, so that a seed tells everything. See support/dice.hpp.
#include <gyre/io/acceptor.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/web/client.hpp>
#include <http2/frames.hpp>
#include <support/dice.hpp>
#include <support/harness.hpp>
#include <support/world.hpp>
#include <web/site.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

/// How often each request was carried out, by the text of its body.
using deeds = std::map<std::string, int>;

std::string streams_at_most(std::uint32_t most) {
    return frame_of(frame::settings, 0, 0, number(3, 2) + number(most));
}

/// One connection of a server that does anything.
class wild_server {
public:
    wild_server(stream_socket on, dice& with, deeds& done) noexcept
        : stream_{std::move(on)}, dice_{with}, done_{done} {}

    task<> serve() {
        if (dice_.one_in(12)) co_return;  // It is gone before it begins.
        if (dice_.one_in(4)) static_cast<void>(co_await sleep_for(dice_.up_to(40ms)));
        if (dice_.one_in(15)) co_await say("HTTP/1.1 400 Bad Request\r\n\r\n");
        if (!dice_.one_in(10)) {
            if (dice_.one_in(3)) co_await say(streams_at_most(dice_.any_of(0U, 1U, 2U, 5U)));
            else co_await say(frame_of(frame::settings, 0, 0));
        }
        for (;;) {
            const std::optional<seen_frame> next = co_await hear();
            if (!next) co_return;
            const bool goes_on = co_await take(*next);
            if (!goes_on) co_return;
        }
    }

private:
    task<> say(std::string bytes) {
        const auto put = co_await write_all(stream_, bytes_of(bytes));
        broken_ = broken_ || !put.ok();
    }

    task<std::optional<seen_frame>> hear() {
        std::string piece(4'096, ' ');
        for (;;) {
            if (!greeted_ && heard_.size() >= preface.size()) {
                heard_.erase(0, preface.size());
                greeted_ = true;
            }
            if (greeted_) {
                std::vector<seen_frame> found = frames_in(heard_);
                if (!found.empty()) {
                    heard_.erase(0, 9 + found.front().payload.size());
                    co_return std::move(found.front());
                }
            }
            const io_result<std::size_t> got =
                co_await stream_.read_some(std::as_writable_bytes(std::span{piece}));
            if (!got.ok()) co_return std::nullopt;
            heard_.append(piece, 0, got.value());
        }
    }

    task<bool> take(const seen_frame& it) {
        if (it.type == frame::settings && (it.flags & ack) == 0 && !dice_.one_in(30))
            co_await say(frame_of(frame::settings, ack, 0));
        if (it.type == frame::ping && (it.flags & ack) == 0)
            co_await say(frame_of(frame::ping, ack, 0, it.payload));
        if (it.type == frame::data) bodies_[it.stream] += it.payload;
        const bool asks = it.type == frame::headers || it.type == frame::data;
        if (!asks || (it.flags & end_stream) == 0) co_return !broken_;
        const bool goes_on = co_await answer(it.stream, bodies_[it.stream]);
        co_return goes_on && !broken_;
    }

    // True if the connection goes on.
    task<bool> answer(std::uint32_t on, const std::string& body) {
        if (going_ && on > last_) co_return true;  // It has said so.
        const auto refuse = [on](std::uint32_t code) {
            return frame_of(frame::rst_stream, 0, on, number(code));
        };
        const std::size_t what = dice_.below(20);
        if (what == 0) {
            co_await say(refuse(7));
            co_return true;
        }
        if (what == 1) {
            last_ = std::max(carried_out_, on - dice_.any_of(0U, 1U));
            going_ = true;
            if (on <= last_) carry_out(on, body);
            co_await say(frame_of(frame::goaway, 0, 0, number(last_) + number(0)));
            if (on <= last_ && dice_.one_in(2)) co_await whole(on);
            co_return !dice_.one_in(2);
        }
        if (dice_.one_in(4)) static_cast<void>(co_await sleep_for(dice_.up_to(30ms)));
        carry_out(on, body);
        if (what == 2) co_return false;  // It leaves without an answer.
        if (what == 3) co_await say(refuse(dice_.any_of(0U, 2U, 8U, 11U)));
        else if (what == 4) co_await say(streams_at_most(dice_.any_of(0U, 1U, 3U)));
        else if (what == 5) co_await half(on);
        else if (what == 6) co_await say(frame_of(frame::headers, 0, on, "\x88"));
        else co_await whole(on);
        co_return true;
    }

    task<> whole(std::uint32_t on) {
        co_await say(frame_of(frame::headers, end_headers, on, "\x88") +
                     frame_of(frame::data, end_stream, on, std::string(dice_.below(2000), 'x')));
    }
    task<> half(std::uint32_t on) {
        co_await say(frame_of(frame::headers, end_headers, on, "\x88") +
                     frame_of(frame::data, 0, on, "part"));
    }

    void carry_out(std::uint32_t on, const std::string& body) {
        carried_out_ = std::max(carried_out_, on);
        if (!body.empty()) ++done_[body];
    }

    stream_socket stream_;
    dice& dice_;
    deeds& done_;
    std::string heard_;
    std::map<std::uint32_t, std::string> bodies_;
    std::uint32_t carried_out_ = 0;  // The last one.
    std::uint32_t last_ = 0;
    bool greeted_ = false;
    bool going_ = false;
    bool broken_ = false;
};

web::client_options options_by(dice& of) {
    web::client_options made;
    made.prior_knowledge = [](const web::url&) { return true; };
    made.connections_max = of.any_of(1U, 2U, 256U);
    made.connections_per_origin_max = of.any_of(1U, 2U, 8U);
    made.streams_max = of.any_of(1U, 2U, 100U);
    made.idle_max = of.any_of(0U, 1U, 64U);
    made.idle_time_max = of.any_of<duration>(2ms, 30s);
    made.exchange.response_time_max = 300ms;
    made.exchange.body_silence_max = 200ms;
    made.connect_time_max = 500ms;
    return made;
}

// One request, which may be given up at any time.
task<> ask(std::optional<web::client>& by, std::string where, dice& with, std::string name) {
    static_cast<void>(co_await sleep_for(with.up_to(200ms)));
    web::client_request what{with.one_in(2) ? http::method::post : http::method::get,
                             web::url::parse(where).take()};
    if (what.method == http::method::post) what.body = name;
    if (!by) co_return;
    const duration patience = with.one_in(3) ? with.up_to(60ms) : duration{1h};
    auto got = co_await with_timeout(patience, by->send(std::move(what)));
    if (!got.ok()) co_return;
    const web::client_response response = got.take();
    if (with.one_in(4)) co_return;
    if (with.one_in(4)) static_cast<void>(co_await sleep_for(with.up_to(50ms)));
    static_cast<void>(co_await with_timeout(patience, response.text()));
}

task<> storm(io_context& io, std::uint64_t seed) {
    dice random{seed};
    deeds done;
    std::array sites{listening_site{io}, listening_site{io}};
    const auto session = [&](stream_socket peer) -> task<> {
        wild_server one{std::move(peer), random, done};
        co_await one.serve();
    };
    const auto serving = [&](std::size_t which) -> task<> {
        static_cast<void>(co_await serve(std::move(sites.at(which).acceptor), session));
    };
    const auto requests = [&](task_group& group) -> task<> {
        std::optional<web::client> by;
        by.emplace(options_by(random));
        for (int each = 0; each < 40; ++each) {
            const std::string where = sites.at(random.below(2)).url("/");
            group.spawn(ask(by, where, random, "n" + std::to_string(each)));
        }
        static_cast<void>(co_await sleep_for(random.up_to(300ms)));
        by->close_idle();
        if (random.one_in(2)) by.reset();
        co_await group.join();
    };
    const auto both = [&](task_group& group) -> task<> {
        group.spawn(serving(0));
        group.spawn(serving(1));
        co_await with_group(requests);
        group.request_stop();
    };
    co_await with_group(both);
    for (const auto& [name, times] : done) {
        CAPTURE(name);
        CHECK(times == 1);
    }
}

}  // namespace

TEST_CASE("storm: requests with servers that do anything end, and none is carried out twice") {
    for_each_storm([](std::uint64_t seed) {
        run_in_world([seed](io_context& io) { return storm(io, seed); });
    });
}
