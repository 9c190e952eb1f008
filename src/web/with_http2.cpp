// SPDX-License-Identifier: BSL-1.0
//
// The versions that a build with gyre::http2 speaks: HTTP/2 where the client agrees, else HTTP/1.
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>
#include <gyre/web/server.hpp>
#include <web/versions.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace gyre::web {
namespace {

http2::client_options limits_of(const http::client_options& from, std::size_t streams_max,
                                std::function<void()> on_change) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    http2::client_options made;
    made.streams_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(streams_max, most));
    // RFC 9113, 5.2.2: one window for all that come would let a response that is not read hold up others,
    // which the program may need before it reads that.
    made.windows.connection_bytes = static_cast<std::uint32_t>(
        std::min(std::uint64_t{made.streams_max} * made.windows.stream_bytes, most));
    made.head_bytes_max = from.head.bytes_max;
    made.fields_max = from.head.fields_max;
    made.body_bytes_max = from.body_bytes_max;
    made.write_bytes_max = from.write_bytes_max;
    made.interim_max = from.interim_max;
    made.response_time_max = from.response_time_max;
    made.body_silence_max = from.body_silence_max;
    made.continue_time_max = from.continue_time_max;
    made.turn_time_max = from.response_time_max;
    made.times.write_max = from.write_time_max;
    made.times.idle_max = duration::max();  // The pool's to say.
    made.on_change = std::move(on_change);
    return made;
}

class http2_connection final : public multiplexed_connection {
public:
    http2_connection(any_stream stream, http2::client_options limits)
        : on_{std::move(stream), std::move(limits)} {}

    [[nodiscard]] task<> run() override { static_cast<void>(co_await on_.run()); }

    [[nodiscard]] task<io_result<multiplexed_answer>> send(const http::request& what,
                                                           http::response_body body,
                                                           std::shared_ptr<void> keeps) override {
        io_result<http2::received_response> got = co_await on_.send(what, std::move(body));
        multiplexed_answer answer;
        const http2::received_response& ended = got.value();
        // What our side has given up for a breach would breach again.
        answer.unprocessed = ended.unprocessed && on_.why() == http2::breach::none;
        answer.refused = ended.reset_by == http2::error_code::refused_stream;
        answer.reset = ended.reset_by != http2::error_code::none;
        if (!got.ok()) co_return io_result<multiplexed_answer>{got.error(), std::move(answer)};
        auto kept = std::make_shared<stream>();
        kept->of_body = std::move(keeps);
        kept->response = got.take();
        answer.head = std::move(static_cast<http::received_response&>(kept->response));
        answer.stream = std::move(kept);
        co_return io_result<multiplexed_answer>{std::move(answer)};
    }

    [[nodiscard]] std::size_t room() const noexcept override { return on_.streams_free(); }
    [[nodiscard]] bool settled() const noexcept override { return on_.settled(); }
    [[nodiscard]] bool reusable() const noexcept override { return on_.reusable(); }

private:
    struct stream {
        std::shared_ptr<void> of_body;  // Sent until the response goes.
        http2::received_response response;
    };

    http2::client_connection on_;
};

}  // namespace

std::string_view unspoken_protocol() noexcept { return {}; }

std::unique_ptr<multiplexed_connection> make_multiplexed(any_stream stream,
                                                         const http::client_options& options,
                                                         std::size_t streams_max,
                                                         std::function<void()> on_change) {
    return std::make_unique<http2_connection>(
        std::move(stream), limits_of(options, streams_max, std::move(on_change)));
}

std::vector<std::string> protocols_spoken() { return {"h2", "http/1.1", "http/1.0"}; }

task<io_result<>> serve_multiplexed(any_stream stream, const http::handler& handle,
                                    const http::connection_options& options,
                                    const http::connection_hooks& hooks) {
    // What both versions bound has one name for who sets it.
    http2::connection_options limits;
    limits.head_bytes_max = options.head.bytes_max;
    limits.fields_max = options.head.fields_max;
    limits.body_bytes_max = options.body_bytes_max;
    limits.dropped_bytes_max = options.dropped_bytes_max;
    limits.write_bytes_max = options.write_bytes_max;
    limits.requests_max = options.requests_max;
    limits.body_silence_max = options.body_silence_max;
    limits.times.head_max = options.head_time_max;
    limits.times.idle_max = options.idle_time_max;
    limits.times.write_max = options.write_time_max;
    limits.times.linger_max = options.linger_time_max;
    limits.scheme = options.scheme;
    limits.peer = options.peer;
    limits.client = options.client;
    http2::connection_hooks told;
    told.date = hooks.date;
    told.on_exception = hooks.on_exception;
    told.on_answered = hooks.on_answered;
    const io_result<> ended =
        co_await http2::serve_connection(std::move(stream), handle, limits, told);
    co_return ended;
}

}  // namespace gyre::web
