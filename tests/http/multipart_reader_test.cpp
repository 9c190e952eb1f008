// SPDX-License-Identifier: BSL-1.0
//
// What gyre/http/multipart_reader.hpp promises: parts however their bytes are split, and bounds.
#include <gyre/http/multipart_reader.hpp>

#include <http/fed_stream.hpp>
#include <support/harness.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;

namespace {

// A body that comes in pieces of one size.
class fed_body final : public http::body_source {
public:
    fed_body(std::string text, std::size_t piece) : text_{std::move(text)}, piece_{piece} {}

    [[nodiscard]] std::optional<io_result<std::size_t>> try_read(
        mutable_buffer into) noexcept override {
        const std::size_t size = std::min({into.size(), piece_, text_.size() - at_});
        if (size == 0) return io_result<std::size_t>{errc::eof};
        std::memcpy(into.data(), text_.data() + at_, size);
        at_ += size;
        return io_result<std::size_t>{size};
    }
    [[nodiscard]] task<io_result<std::size_t>> read(mutable_buffer into) override {
        co_return *try_read(into);
    }
    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override {
        return std::nullopt;
    }
    [[nodiscard]] bool ended() const noexcept override { return at_ == text_.size(); }
    [[nodiscard]] const http::fields& trailers() const noexcept override { return none_; }

private:
    std::string text_;
    std::size_t piece_;
    std::size_t at_ = 0;
    http::fields none_;
};

task<std::string> all_of(http::multipart_reader& reader, std::size_t bytes_max = SIZE_MAX) {
    std::string all;
    for (;;) {
        io_result<std::optional<http::part_head>> next = co_await reader.next();
        if (!next.ok()) co_return all + "error";
        const std::optional<http::part_head> head = next.take();
        if (!head) co_return all;
        const io_result<std::string> content = co_await reader.read_all(bytes_max);
        if (!content.ok()) co_return all + "bad content";
        all.append(head->name).append("/").append(head->file_name.value_or("-"));
        all.append("=").append(content.value()).append("|");
    }
}

}  // namespace

TEST_CASE("the bounds of a body in parts may be all that there is") {
    on_every_backend([](io_context&) -> task<> {
        http::multipart_limits limits;
        limits.parts_max = limits.head_bytes_max = limits.fields_max = SIZE_MAX;
        fed_body body{"--b\r\nX: " + std::string(9000, 'x') + "\r\n\r\none\r\n--b--\r\n", 1000};
        http::multipart_reader reader{http::body_reader{body}, "b", limits};

        const std::string all = co_await all_of(reader);

        CHECK(all == "/-=one|");
    });
}

// RFC 2046, 5.1.1, and RFC 7578, 4.
TEST_CASE("parts are read however their bytes are split") {
    on_every_backend([](io_context&) -> task<> {
        const std::string text =
            "preamble\r\n--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n--b  \r\n"
            "Content-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n"
            "Content-Type: text/plain\r\n\r\nline\r\n--\r\n-b\r\n--c\r\n\r\n--b\r\n"
            "Content-Disposition: form-data; name=\"e\"\r\n\r\n\r\n--b--\r\nepilogue";
        for (std::size_t piece = 1; piece < text.size(); ++piece) {
            fed_body body{text, piece};
            http::multipart_reader reader{http::body_reader{body}, "b"};

            const std::string all = co_await all_of(reader);

            CAPTURE(piece);
            CHECK(all == "a/-=one|f/x.txt=line\r\n--\r\n-b\r\n--c\r\n|e/-=|");
        }
    });
}

TEST_CASE("a head of quotes that never close is read as fast as any") {
    on_every_backend([](io_context&) -> task<> {
        std::string disposition = "form-data";
        while (disposition.size() < 2'000'000) disposition += ";a=\"x";
        http::multipart_limits limits;
        limits.head_bytes_max = SIZE_MAX;
        fed_body body{
            "--b\r\nContent-Disposition: " + disposition + "; name=n\r\n\r\none\r\n--b--\r\n",
            SIZE_MAX};
        http::multipart_reader reader{http::body_reader{body}, "b", limits};

        const std::string all = co_await all_of(reader);

        CHECK(all == "n/-=one|");
    });
}

// The HTML standard, "multipart form data", and RFC 7578, 4.2.
TEST_CASE("names of files are read as browsers write them") {
    on_every_backend([](io_context&) -> task<> {
        struct row {
            const char* parameters;
            const char* name;
            const char* file_name;
        };
        const row rows[] = {{R"(name="f"; filename="C:\dir\f.txt")", "f", R"(C:\dir\f.txt)"},
                            {R"(name="f"; filename="a\")", "f", R"(a\)"},
                            {R"(filename="a\"; name="f")", "f", R"(a\)"},
                            {R"(filename="a\"; filename="b"; name=f)", "f", R"(a\)"},
                            {R"(name="%22%0D%0A%41"; filename="%2522")", "\"\r\n%41", "%2522"},
                            {R"(name="f"; filename="a\"b.txt")", "f", R"(a"b.txt)"},
                            {R"(name="a;b"; filename="c; name=d" )", "a;b", "c; name=d"},
                            {R"(NAME = f ;filename=plain.txt)", "f", "plain.txt"},
                            {R"(x; =y; name; name="f";; filename=)", "f", ""},
                            {R"(name="f"; filename="open)", "f", "\"open"}};
        for (const row& each : rows) {
            fed_body body{std::string{"--b\r\nContent-Disposition: form-data; "} + each.parameters +
                              "\r\n\r\none\r\n--b--",
                          7};
            http::multipart_reader reader{http::body_reader{body}, "b"};

            const auto part = co_await reader.next();

            CAPTURE(each.parameters);
            REQUIRE(part.ok());
            REQUIRE(part.value());
            CHECK(part.value()->name == each.name);
            CHECK(part.value()->file_name == each.file_name);
        }
    });
}

TEST_CASE("a part that nobody reads is passed over") {
    on_every_backend([](io_context&) -> task<> {
        fed_body body{"--b\r\nX: 1\r\n\r\n" + std::string(100'000, 'x') +
                          "\r\n--b\r\nX: 2\r\n\r\nend\r\n--b--",
                      1000};
        http::multipart_reader reader{http::body_reader{body}, "b"};

        const auto first = co_await reader.next();
        const auto second = co_await reader.next();
        const io_result<std::string> content = co_await reader.read_all(3);
        const auto third = co_await reader.next();

        CHECK(first.ok());
        REQUIRE(second.ok());
        CHECK(second.value()->fields.find("x") == "2");
        CHECK(content.value() == "end");
        CHECK(third.ok());
        CHECK_FALSE(third.value());
    });
}

TEST_CASE("what is malformed, cut off or too large is an error") {
    on_every_backend([](io_context&) -> task<> {
        http::multipart_limits limits;
        limits.parts_max = 2;
        limits.head_bytes_max = 64;
        limits.fields_max = 2;
        const std::string part = "\r\n--b\r\nX: 1\r\n\r\nc";
        const std::string bad[] = {"",
                                   "--b",
                                   "--b\r\nX: 1\r\n\r\ncut",
                                   "--bx\r\nX: 1\r\n\r\nc\r\n--b--",
                                   "--b\r\nno colon\r\n\r\nc\r\n--b--",
                                   "--b\r\nX : 1\r\n\r\nc\r\n--b--",
                                   "--b\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\nc\r\n--b--",
                                   "--b\r\nX: " + std::string(99, 'x') + "\r\n\r\nc\r\n--b--",
                                   "--b\r\nX: 1\r\n\r\n" + std::string(99, 'c') + "\r\n--b--",
                                   part + part + part + "\r\n--b--"};
        for (const std::string& text : bad) {
            fed_body body{text, 3};
            http::multipart_reader reader{http::body_reader{body}, "b", limits};

            const std::string all = co_await all_of(reader, 50);

            CAPTURE(text);
            CHECK((all.ends_with("error") || all.ends_with("bad content")));
        }
    });
}

TEST_CASE("a boundary is found in its field, and held to its grammar") {
    const auto boundary = [](std::string_view type) {
        http::fields of;
        of.add("content-type", type);
        return http::multipart_boundary(of);
    };

    CHECK(boundary("multipart/form-data; boundary=abc") == "abc");
    CHECK(boundary("Multipart/Mixed; x=y; Boundary=\"a b:c\"") == "a b:c");
    CHECK_FALSE(boundary("multipart/form-data"));
    CHECK_FALSE(boundary("text/plain; boundary=abc"));
    CHECK_FALSE(boundary("multipart/form-data; boundary=" + std::string(71, 'a')));
    CHECK_FALSE(boundary("multipart/form-data; boundary=\"a \""));
    CHECK_FALSE(boundary("multipart/form-data; boundary=\"\""));
}
