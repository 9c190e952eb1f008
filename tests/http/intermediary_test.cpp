// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/intermediary.hpp>

#include <support/harness.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;

namespace {

std::string passed_on(const http::fields& from) {
    http::fields to;
    http::copy_end_to_end(from, to);
    std::string text;
    for (const http::field each : to) {
        text.append(each.name).append("=").append(each.value).append(";");
    }
    return text;
}

/// A body that comes in given pieces, each after a wait, and ends as it is asked to.
class piecewise_source final : public http::body_source {
public:
    piecewise_source(std::deque<std::string> pieces, error end)
        : pieces_{std::move(pieces)}, end_{end} {}

    http::fields behind;

    [[nodiscard]] std::optional<io_result<std::size_t>> try_read(mutable_buffer) noexcept override {
        return std::nullopt;
    }
    [[nodiscard]] task<io_result<std::size_t>> read(mutable_buffer into) override {
        if (pieces_.empty()) co_return io_result<std::size_t>{end_};
        std::string& piece = pieces_.front();
        const std::size_t size = std::min(into.size(), piece.size());
        std::memcpy(into.data(), piece.data(), size);
        piece.erase(0, size);
        if (piece.empty()) pieces_.pop_front();
        co_return io_result<std::size_t>{size};
    }
    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override { return {}; }
    [[nodiscard]] bool ended() const noexcept override { return pieces_.empty(); }
    [[nodiscard]] const http::fields& trailers() const noexcept override { return behind; }

private:
    std::deque<std::string> pieces_;
    error end_;
};

/// Notes what is written and when it is flushed, and takes so many bytes.
class noting_sink final : public http::body_sink {
public:
    explicit noting_sink(std::size_t room = 1'000'000) : room_{room} {}

    std::string noted;
    http::fields behind;

    [[nodiscard]] std::optional<io_result<std::size_t>> try_write(const_buffer) noexcept override {
        return std::nullopt;
    }
    [[nodiscard]] task<io_result<std::size_t>> write(const_buffer from) override {
        if (room_ == 0)
            co_return io_result<std::size_t>{error{errc::limit_exceeded, activity::write}};
        const std::size_t size = std::min({from.size(), room_, std::size_t{10'000}});
        noted.append(text_of(from).substr(0, size));
        room_ -= size;
        co_return io_result<std::size_t>{size};
    }
    [[nodiscard]] task<io_result<>> flush() override {
        noted += '|';
        co_return io_result<>{};
    }
    [[nodiscard]] http::fields& trailers() noexcept override { return behind; }

private:
    std::size_t room_;
};

task<error> end_of_passing(piecewise_source& from, noting_sink& to) {
    const auto ended = co_await http::pass_on(http::body_reader{from}, http::body_writer{to});
    co_return ended.error();
}

}  // namespace

TEST_CASE("an intermediary passes on no field of its connection, in whatever case") {
    http::fields from;
    from.add("Host", "a").add("Connection", "close").add("KEEP-ALIVE", "timeout=5");
    from.add("Proxy-Authenticate", "Basic").add("proxy-authentication-info", "x");
    from.add("Proxy-Authorization", "Basic eDp5")
        .add("Proxy-Connection", "close")
        .add("TE", "trailers");
    from.add("Trailer", "x-sum").add("Transfer-Encoding", "chunked").add("Upgrade", "websocket");
    from.add("Content-Length", "3").add("x-last", "");
    CHECK(passed_on(from) == "Host=a;Content-Length=3;x-last=;te=trailers;");
}

TEST_CASE("an intermediary passes on that trailers are welcome, and no other word of that field") {
    http::fields from;
    from.add("connection", "te").add("te", "gzip;q=0.5, TRAILERS").add("te", "trailers");
    CHECK(passed_on(from) == "te=trailers;");
    http::fields other;
    other.add("te", "gzip").add("te", "x-trailers");
    CHECK(passed_on(other).empty());
}

TEST_CASE("an intermediary passes on no field that any connection field names") {
    http::fields from;
    from.add("X-One", "1")
        .add("connection", "x-TWO ,,close")
        .add("x-two", "2")
        .add("X-Two", "2 again");
    from.add("x-three", "3").add("CONNECTION", "X-THREE").add("x-twofold", "4").add("x-tw", "5");
    CHECK(passed_on(from) == "X-One=1;x-twofold=4;x-tw=5;");
}

// 40,000 names for each of 40,000 fields would be looked at for minutes.
TEST_CASE("a peer that names thousands of fields does not choose how long its proxy works") {
    std::string listed;
    http::fields from;
    for (int each = 0; each < 40'000; ++each) {
        const std::string name = "x-" + std::to_string(each);
        listed += name + ",";
        from.add(name, "v");
    }
    from.add("connection", listed).add("y", "z");
    CHECK(passed_on(from) == "y=z;");
}

TEST_CASE("an intermediary flushes each piece of a body, then passes on the trailers") {
    on_every_backend([](io_context&) -> task<> {
        piecewise_source from{{"one", "two", std::string(20'000, 'x')}, errc::eof};
        from.behind.add("x-sum", "7").add("Connection", "x-hop").add("x-hop", "8");
        noting_sink to;
        const error end = co_await end_of_passing(from, to);
        CHECK(!end);
        std::string expected = "one|two|";
        expected.append(16'384, 'x').append("|").append(3'616, 'x').append("|");
        CHECK(to.noted == expected);
        CHECK(to.behind.size() == 1);
        CHECK(to.behind.value_or("x-sum") == "7");
    });
}

TEST_CASE("an intermediary ends a body that is cut with its error, and without trailers") {
    on_every_backend([](io_context&) -> task<> {
        piecewise_source from{{"half"}, errc::connection_reset};
        from.behind.add("x-sum", "7");
        noting_sink to;
        const error end = co_await end_of_passing(from, to);
        CHECK(end == errc::connection_reset);
        CHECK(to.noted == "half|");
        CHECK(to.behind.empty());
    });
}

TEST_CASE("an intermediary reports the error of its writer, and reads no more") {
    on_every_backend([](io_context&) -> task<> {
        piecewise_source from{{"12345678", "9"}, errc::eof};
        noting_sink to{5};
        const error end = co_await end_of_passing(from, to);
        CHECK(end == errc::limit_exceeded);
        CHECK(to.noted == "12345");
        CHECK(!from.ended());
    });
}

TEST_CASE("an intermediary passes on a body that is empty with its trailers alone") {
    on_every_backend([](io_context&) -> task<> {
        piecewise_source from{{}, errc::eof};
        from.behind.add("x-sum", "0");
        noting_sink to;
        const error end = co_await end_of_passing(from, to);
        CHECK(!end);
        CHECK(to.noted.empty());
        CHECK(to.behind.size() == 1);
    });
}
