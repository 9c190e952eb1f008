// SPDX-License-Identifier: BSL-1.0
//
// What gyre/web/static_files.hpp promises, above all that nothing leads out of the directory.
#include <gyre/web/static_files.hpp>

#include <gyre/http/compression.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>
#include <support/scratch_directory.hpp>
#include <web/site.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <utility>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

namespace files = std::filesystem;

// As if it had been written an hour ago, so that its tag is strong.
void age(const std::string& path) {
    files::last_write_time(path, files::file_time_type::clock::now() - 1h);
}

// A directory to be served, beside things that must not be.
struct published {
    published() {
        files::create_directories(around / "site/docs");
        files::create_directories(around / "site/empty");
        files::create_directories(around / "site/.well-known");
        files::create_directories(around / "site/.git");
        around.put("secret.txt", "SECRET");
        put("index.html", "<h1>home</h1>");
        put("a.txt", "0123456789");
        put("nothing.bin", "");
        put("docs/index.html", "docs");
        put("sp ace%.txt", "blank");
        put(".git/config", "SECRET");
        put(".well-known/security.txt", "contact");
        put("..text", "SECRET, by its dot");
        files::create_symlink("../secret.txt", around / "site/out.txt");
        files::create_symlink(around / "secret.txt", around / "site/absolute.txt");
        files::create_directory_symlink("..", around / "site/up");
        files::create_symlink("a.txt", around / "site/inside.txt");
        files::create_symlink("loop", around / "site/loop");
        REQUIRE(::mkfifo((around / "site/fifo").c_str(), 0600) == 0);
    }
    void put(const std::string& name, const std::string& content) const {
        age(around.put("site/" + name, content));
    }
    [[nodiscard]] std::string root() const { return around / "site"; }

    scratch_directory around;
};

// Runs `body(site)` against a server of `root`, on every backend.
template <class Body>
void on_every_site(const std::string& root, const web::static_options& options, const Body& body) {
    const auto run = [&](io_context& io) -> task<> {
        co_await with_site(io, web::static_files(root, options), {}, body);
    };
    on_every_backend(run);
}

struct attempt {
    const char* path;
    int status;
};
constexpr std::array attempts{
    attempt{"/../secret.txt", 404},
    attempt{"/docs/../../secret.txt", 404},
    attempt{"/..", 404},
    attempt{"/../", 404},
    attempt{"/./a.txt", 404},
    attempt{"/docs/./index.html", 404},
    attempt{"/%2e%2e/secret.txt", 404},
    attempt{"/%2E%2e/secret.txt", 404},
    attempt{"/.%2e/secret.txt", 404},
    attempt{"/docs/%2e%2e/%2e%2e/secret.txt", 404},
    attempt{"/..%2fsecret.txt", 404},
    attempt{"/%2e%2e%2fsecret.txt", 404},
    attempt{"/docs%2findex.html", 404},
    attempt{"/..%5csecret.txt", 404},
    attempt{"/..\\secret.txt", 404},
    attempt{"/..%252fsecret.txt", 404},
    attempt{"/%252e%252e/secret.txt", 404},
    attempt{"/..%c0%afsecret.txt", 404},
    attempt{"/..%00/secret.txt", 400},
    attempt{"/a.txt%00.html", 400},
    attempt{"/a.txt%", 400},
    attempt{"/a.txt%2", 400},
    attempt{"/%zz", 400},
    attempt{"//etc/passwd", 404},
    attempt{"///etc/passwd", 404},
    attempt{"/%2fetc/passwd", 404},
    attempt{"/%2fetc%2fpasswd", 404},
    attempt{"/etc/passwd", 404},
    attempt{"/out.txt", 404},
    attempt{"/absolute.txt", 404},
    attempt{"/up/secret.txt", 404},
    attempt{"/up", 404},
    attempt{"/up/site/a.txt", 404},
    attempt{"/loop", 404},
    attempt{"/fifo", 404},
    attempt{"/.git/config", 404},
    attempt{"/..text", 404},
    attempt{"/docs/.", 404},
    attempt{"/docs/..", 404},
    attempt{"/docs//index.html", 404},
    attempt{"/inside.txt", 200},
    attempt{"/.well-known/security.txt", 200},
    attempt{"/sp%20ace%25.txt", 200},
    attempt{"/a.txt?../../secret.txt", 200},
};

// A server may refuse the line before the handler has seen it.
bool is_right(const attempt& tried, const std::string& answer) {
    const int status = status_of_answer(answer);
    return (status == tried.status || (tried.status == 404 && status == 400)) &&
           answer.find("SECRET") == std::string::npos && answer.find("root:") == std::string::npos;
}

}  // namespace

TEST_CASE("files are served with type, length, tag and date, to HEAD without a body") {
    const published it;
    const auto body = [](const listening_site& site) -> task<> {
        const std::string got = co_await fetch_raw(site.where, "/a.txt");
        CHECK(status_of_answer(got) == 200);
        CHECK(body_of(got) == "0123456789");
        CHECK(field_of(got, "content-length") == "10");
        CHECK(field_of(got, "content-type") == "text/plain; charset=utf-8");
        CHECK(field_of(got, "etag").starts_with('"'));
        CHECK(field_of(got, "last-modified").ends_with("GMT"));
        CHECK(field_of(got, "accept-ranges") == "bytes");

        const std::string head = co_await converse(
            site.where, "HEAD /a.txt HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
        CHECK(status_of_answer(head) == 200);
        CHECK(field_of(head, "content-length") == "10");
        CHECK(body_of(head).empty());

        const std::string nothing = co_await fetch_raw(site.where, "/nothing.bin");
        CHECK(status_of_answer(nothing) == 200);
        CHECK(field_of(nothing, "content-length") == "0");

        const std::string post = co_await converse(
            site.where, "POST /a.txt HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
        CHECK(status_of_answer(post) == 405);
        CHECK(field_of(post, "allow") == "GET, HEAD, OPTIONS");
    };
    on_every_site(it.root(), {}, body);
}

TEST_CASE("directories answer by their index, redirect to their slash, and are not listed") {
    const published it;
    const auto body = [](const listening_site& site) -> task<> {
        const std::string home = co_await fetch_raw(site.where, "/");
        CHECK(body_of(home) == "<h1>home</h1>");
        CHECK(field_of(home, "content-type") == "text/html; charset=utf-8");
        const std::string docs = co_await fetch_raw(site.where, "/docs/");
        CHECK(body_of(docs) == "docs");
        const std::string bare = co_await fetch_raw(site.where, "/docs?a=b");
        CHECK(status_of_answer(bare) == 301);
        CHECK(field_of(bare, "location") == "/docs/?a=b");
        const std::string empty = co_await fetch_raw(site.where, "/empty/");
        CHECK(status_of_answer(empty) == 404);
        const std::string file_with_slash = co_await fetch_raw(site.where, "/a.txt/");
        CHECK(status_of_answer(file_with_slash) == 404);
    };
    on_every_site(it.root(), {}, body);
}

// Whatever is tried, what lies outside is not served, and the server goes on.
TEST_CASE("no path leads out of the directory") {
    const published it;
    const auto body = [](const listening_site& site) -> task<> {
        for (const attempt& each : attempts) {
            CAPTURE(each.path);
            const std::string got = co_await fetch_raw(site.where, each.path);
            CHECK(is_right(each, got));
        }
        const std::string long_name = co_await fetch_raw(site.where, "/" + std::string(4000, 'a'));
        CHECK(status_of_answer(long_name) == 404);
        const std::string after = co_await fetch_raw(site.where, "/a.txt");
        CHECK(status_of_answer(after) == 200);
    };
    on_every_site(it.root(), {}, body);
}

// As old versions of Docker do; a child, because it stays refused.
TEST_CASE("files inside a directory are served, and no others, where openat2 is refused") {
    for (const int answer : {EPERM, EACCES, ENOSYS}) {
        INFO(answer);
        const published it;
        check_in_child([&it, answer](child_process& me) {
            forbid(std::array<unsigned, 1>{SYS_openat2}, static_cast<unsigned>(answer));
            const auto body = [&me](const listening_site& site) -> task<> {
                for (const attempt& each : attempts) {
                    const std::string got = co_await fetch_raw(site.where, each.path);
                    me.check(is_right(each, got), std::string{each.path} + ": " + got);
                }
            };
            on_every_site(it.root(), {}, body);
        });
    }
}

// RFC 9110, 13.2.2.
TEST_CASE("conditions spare what the client has, and refuse what has changed") {
    const published it;
    const auto body = [](const listening_site& site) -> task<> {
        const std::string first = co_await fetch_raw(site.where, "/a.txt");
        const std::string etag = field_of(first, "etag");
        const std::string date = field_of(first, "last-modified");
        struct question {
            std::string fields;
            int status;
        };
        const std::vector<question> questions{
            {"if-none-match: " + etag + "\r\n", 304},
            {"if-none-match: \"other\", " + etag + "\r\n", 304},
            {"if-none-match: *\r\n", 304},
            {"if-none-match: \"other\"\r\n", 200},
            {"if-modified-since: " + date + "\r\n", 304},
            {"if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 200},
            {"if-match: " + etag + "\r\n", 200},
            {"if-match: \"other\"\r\n", 412},
            {"if-unmodified-since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 412},
            {"if-unmodified-since: Sunday, 06-Nov-94 08:49:37 GMT\r\n", 412},
            {"if-unmodified-since: Sun Nov  6 08:49:37 1994\r\n", 412},
        };
        for (const question& each : questions) {
            CAPTURE(each.fields);
            const std::string got = co_await fetch_raw(site.where, "/a.txt", each.fields);
            CHECK(status_of_answer(got) == each.status);
            CHECK(body_of(got) == (each.status == 200 ? "0123456789" : ""));
            CHECK(field_of(got, "etag") == etag);
        }
    };
    on_every_site(it.root(), {}, body);
}

// RFC 9110, 14.
TEST_CASE("ranges are sent alone, together, or not at all") {
    const published it;
    const auto body = [](const listening_site& site) -> task<> {
        const std::string whole = co_await fetch_raw(site.where, "/a.txt");
        const std::string etag = field_of(whole, "etag");
        struct question {
            std::string fields;
            int status;
            std::string body;
            std::string range;
        };
        const std::vector<question> questions{
            {"range: bytes=0-0\r\n", 206, "0", "bytes 0-0/10"},
            {"range: bytes=2-4\r\n", 206, "234", "bytes 2-4/10"},
            {"range: bytes=7-\r\n", 206, "789", "bytes 7-9/10"},
            {"range: bytes=7-99\r\n", 206, "789", "bytes 7-9/10"},
            {"range: bytes=-3\r\n", 206, "789", "bytes 7-9/10"},
            {"range: bytes=-99\r\n", 206, "0123456789", "bytes 0-9/10"},
            {"range: bytes=0-18446744073709551616\r\n", 206, "0123456789", "bytes 0-9/10"},
            {"range: bytes=10-\r\n", 416, "Range Not Satisfiable\n", "bytes */10"},
            {"range: bytes=-0\r\n", 416, "Range Not Satisfiable\n", "bytes */10"},
            {"range: bytes=4-2\r\n", 200, "0123456789", ""},
            {"range: bytes=x-2\r\n", 200, "0123456789", ""},
            {"range: bytes=\r\n", 200, "0123456789", ""},
            {"range: lines=1-2\r\n", 200, "0123456789", ""},
            {"range: bytes=0-5,3-7\r\n", 200, "0123456789", ""},  // Would be sent twice.
            {"range: bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8\r\n", 200, "0123456789", ""},
            {"range: bytes=2-4\r\nif-range: " + etag + "\r\n", 206, "234", "bytes 2-4/10"},
            {"range: bytes=2-4\r\nif-range: \"other\"\r\n", 200, "0123456789", ""},
            {"range: bytes=2-4\r\nif-none-match: " + etag + "\r\n", 304, "", ""},
        };
        for (const question& each : questions) {
            CAPTURE(each.fields);
            const std::string got = co_await fetch_raw(site.where, "/a.txt", each.fields);
            CHECK(status_of_answer(got) == each.status);
            CHECK(body_of(got) == each.body);
            CHECK(field_of(got, "content-range") == each.range);
        }
        // RFC 9110, 14.6.
        const std::string several =
            co_await fetch_raw(site.where, "/a.txt", "range: bytes=0-1, -2, 20-\r\n");
        CHECK(status_of_answer(several) == 206);
        const std::string type = field_of(several, "content-type");
        REQUIRE(type.starts_with("multipart/byteranges; boundary="));
        const std::string line = "--" + type.substr(type.find('=') + 1);
        const std::string kind = "content-type: text/plain; charset=utf-8\r\n";
        CHECK(body_of(several) ==
              line + "\r\n" + kind + "content-range: bytes 0-1/10\r\n\r\n01\r\n" + line + "\r\n" +
                  kind + "content-range: bytes 8-9/10\r\n\r\n89\r\n" + line + "--\r\n");
        CHECK(field_of(several, "content-length") == std::to_string(body_of(several).size()));
    };
    on_every_site(it.root(), {}, body);
}

TEST_CASE("files beside the file are sent to those who accept their coding") {
    const published it;
    it.put("a.txt.gz", "GZIP");
    it.put("a.txt.zst", "ZSTD");
    it.put("only.txt", "plain");
    it.put("only.txt.gz", "GZIP");
    web::static_options options;
    options.precompressed = true;
    const auto body = [](const listening_site& site) -> task<> {
        struct question {
            const char* path;
            const char* accepted;
            const char* body;
            const char* coding;
        };
        static constexpr std::array questions{
            question{"/a.txt", "accept-encoding: gzip\r\n", "GZIP", "gzip"},
            question{"/a.txt", "accept-encoding: gzip, zstd\r\n", "ZSTD", "zstd"},
            question{"/a.txt", "accept-encoding: br\r\n", "0123456789", ""},
            question{"/a.txt", "accept-encoding: gzip;q=0\r\n", "0123456789", ""},
            question{"/a.txt", "", "0123456789", ""},
            question{"/only.txt", "accept-encoding: zstd, gzip\r\n", "GZIP", "gzip"},
            question{"/only.txt", "accept-encoding: zstd\r\n", "plain", ""},
        };
        std::string plain_tag;
        for (const question& each : questions) {
            CAPTURE(each.path);
            CAPTURE(each.accepted);
            const std::string got = co_await fetch_raw(site.where, each.path, each.accepted);
            CHECK(body_of(got) == each.body);
            CHECK(field_of(got, "content-encoding") == each.coding);
            CHECK(field_of(got, "content-type") == "text/plain; charset=utf-8");
            CHECK(field_of(got, "vary") == "accept-encoding");
        }
    };
    on_every_site(it.root(), options, body);
}

// RFC 9110, 8.8.1.
TEST_CASE("a file that was written a moment ago has a weak tag") {
    const published it;
    const auto body = [](const listening_site& site) -> task<> {
        const std::string got = co_await fetch_raw(site.where, "/new.txt");
        CHECK(field_of(got, "etag").starts_with("W/\""));
    };
    const auto run = [&](io_context& io) -> task<> {
        static_cast<void>(it.around.put("site/new.txt", "new"));
        co_await with_site(io, web::static_files(it.root(), {}), {}, body);
    };
    on_every_backend(run);
}

TEST_CASE("a large file arrives whole, and one that is cut meanwhile breaks the connection") {
    const published it;
    std::string large(3'000'000, '\0');
    for (std::size_t at = 0; at < large.size(); ++at)
        large[at] = static_cast<char>(at * 7 + at / 251);
    it.put("large.bin", large);
    const auto body = [&](const listening_site& site) -> task<> {
        it.put("large.bin", large);
        const std::string got = co_await fetch_raw(site.where, "/large.bin");
        CHECK(body_of(got) == large);

        // A client that reads nothing yet: the server is in the middle of the file when it is cut.
        io_result<stream_socket> connected = co_await stream_socket::connect(site.where);
        REQUIRE(connected.ok());
        stream_socket peer = connected.take();
        const auto sent =
            co_await write_all(peer, bytes_of("GET /large.bin HTTP/1.1\r\nhost: h\r\n\r\n"));
        REQUIRE(sent.ok());
        std::array<std::byte, 1> first{};
        const auto begun = co_await peer.read_some(first);
        REQUIRE(begun.ok());
        files::resize_file(it.around / "site/large.bin", 1000);
        std::array<std::byte, 16 * 1024> space;
        std::size_t all = 1;
        for (;;) {
            const io_result<std::size_t> more = co_await with_timeout(20s, peer.read_some(space));
            if (!more.ok()) {
                CHECK(more.error() != errc::timed_out);
                break;
            }
            all += more.value();
        }
        CHECK(all < large.size());
    };
    on_every_site(it.root(), {}, body);
}

// RFC 9110, 8.8.2.1: no date lies in the future. Archives have files that are older than Unix.
TEST_CASE("a file is served whatever its date is, and with that date if a client can use it") {
    const published it;
    const auto date = [&it](const char* name, std::int64_t seconds) {
        it.put(name, "x");
        const std::array<timespec, 2> both{timespec{seconds, 0}, timespec{seconds, 0}};
        const std::string path = it.around / "site/" + name;
        REQUIRE(::utimensat(AT_FDCWD, path.c_str(), both.data(), 0) == 0);
    };
    date("old.txt", -315'619'200);
    date("epoch.txt", 0);
    date("new.txt", 4'102'444'800);
    // The years 1600 and 10000, or as far as the file system reaches: beyond what nanoseconds count.
    date("first.txt", -11'676'096'000);
    date("last.txt", 253'402'300'800);
    const auto body = [](const listening_site& site) -> task<> {
        for (const auto& [name, said] : {std::pair{"/old.txt", "Fri, 01 Jan 1960 00:00:00 GMT"},
                                         std::pair{"/epoch.txt", "Thu, 01 Jan 1970 00:00:00 GMT"},
                                         std::pair{"/new.txt", ""}, std::pair{"/last.txt", ""}}) {
            CAPTURE(name);
            const std::string got = co_await fetch_raw(site.where, name);
            CHECK(status_of_answer(got) == 200);
            CHECK(body_of(got) == "x");
            CHECK(field_of(got, "last-modified") == said);
            const std::string since =
                co_await fetch_raw(site.where, name,
                                   "if-modified-since: Fri, 31 Dec 9999 23:59:59 GMT\r\n"
                                   "if-none-match: \"another\"\r\n");
            CHECK(status_of_answer(since) == 200);
        }
        const std::string first = co_await fetch_raw(site.where, "/first.txt");
        CHECK(body_of(first) == "x");
        CHECK(field_of(first, "last-modified").ends_with("GMT"));
        CHECK(field_of(first, "etag").starts_with('"'));
        const std::string last = co_await fetch_raw(site.where, "/last.txt");
        CHECK(field_of(last, "etag").starts_with("W/"));
    };
    on_every_site(it.root(), {}, body);
}

TEST_CASE("a prefix stands before the names, and the program may name types") {
    const published it;
    web::static_options options;
    options.prefix = "/assets";
    options.cache_control = "max-age=60";
    options.content_type = [](std::string_view name) -> std::string_view {
        return name.ends_with(".txt") ? "text/x-mine" : "";
    };
    const auto body = [](const listening_site& site) -> task<> {
        const std::string got = co_await fetch_raw(site.where, "/assets/a.txt");
        CHECK(body_of(got) == "0123456789");
        CHECK(field_of(got, "content-type") == "text/x-mine");
        CHECK(field_of(got, "cache-control") == "max-age=60");
        const std::string home = co_await fetch_raw(site.where, "/assets/");
        CHECK(field_of(home, "content-type") == "text/html; charset=utf-8");
        for (const char* const each : {"/a.txt", "/assetsa.txt", "/assets", "/assets/../a.txt"}) {
            CAPTURE(each);
            const std::string other = co_await fetch_raw(site.where, each);
            CHECK(status_of_answer(other) == 404);
        }
    };
    on_every_site(it.root(), options, body);
}
