// SPDX-License-Identifier: BSL-1.0
//
// Bodies that are never in memory as a whole: answered while they come, and written to files.
//
// Both ends are in this program, on a pipe in memory. The handlers are for any version of HTTP; the client
// speaks HTTP/2, where both directions go on at the same time. docs/guide/http.md explains it.
#include <gyre/gyre.hpp>
#include <gyre/http/multipart_reader.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http2/client_connection.hpp>
#include <gyre/http2/serve_connection.hpp>

#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
namespace http = gyre::http;
namespace http2 = gyre::http2;

namespace {

// snippet: both_ways
// Writes what it reads, in capitals, and says behind it how much that was.
gyre::task<gyre::io_result<>> write_capitals(http::request& what, http::body_writer to) {
    std::array<std::byte, 4096> space;
    std::uint64_t all = 0;
    for (;;) {
        const auto [end, size] = co_await what.body.read_some(space);
        if (end == gyre::errc::eof) break;
        if (end) co_return end;  // Ends the answer without its end, so that the client notices.
        std::string text{gyre::text_of(std::span(space).first(size))};
        for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        const auto [unsent, sent] = co_await gyre::write_all(to, gyre::bytes_of(text));
        if (unsent) co_return unsent;
        const auto flushed = co_await to.flush();  // The peer waits for it now.
        if (!flushed.ok()) co_return flushed;
        all += size;
    }
    to.trailers().set("x-bytes", all);
    co_return gyre::io_result<>{};
}

// The request lives until its answer has been sent, so what writes the answer may read it.
gyre::task<http::response> capitals(http::request& what) {
    http::response answer{http::status::ok};
    answer.fields.set("content-type", "text/plain").set("trailer", "x-bytes");
    answer.body =
        http::produced_by([&what](http::body_writer to) { return write_capitals(what, to); });
    co_return answer;
}
// end of snippet

// snippet: upload
// One file of a form, under a name that is ours: what the peer calls it is no path.
gyre::task<gyre::io_result<>> save(http::multipart_reader& parts, std::string path) {
    auto opened = co_await gyre::file::open(path + ".part", gyre::file_options::writing());
    if (!opened.ok()) co_return opened.error();
    auto to = opened.take();
    std::vector<std::byte> space(64 << 10);
    gyre::error failed;
    while (!failed) {
        const auto [end, size] = co_await parts.read_some(space);
        failed = end;
        if (end) break;
        const auto [unwritten, written] =
            co_await gyre::write_all(to, std::span(space).first(size));
        failed = unwritten;
    }
    if (failed == gyre::errc::eof) {
        const auto renamed = co_await gyre::rename_file(path + ".part", path);
        co_return renamed;
    }
    // Also where the peer has left, or this is being stopped.
    static_cast<void>(co_await gyre::shielded(gyre::remove_file(path + ".part"), 5s));
    co_return failed;
}

gyre::task<http::response> upload(std::string directory, http::request& what) {
    const auto boundary = http::multipart_boundary(what.fields);
    if (!boundary) co_return http::response{http::status::unsupported_media_type};
    http::multipart_reader parts{what.body, *boundary};
    for (int files = 0;;) {
        auto [failed, head] = co_await parts.next();
        if (failed == gyre::errc::limit_exceeded) {
            co_return http::response{http::status::content_too_large};
        }
        if (failed) co_return http::response{http::status::bad_request};
        if (!head) co_return http::response{http::status::created};  // That was the last part.
        if (!head->file_name) continue;
        const auto saved = co_await save(parts, directory + "/" + std::to_string(++files));
        if (!saved.ok()) co_return http::response{http::status::internal_server_error};
    }
}
// end of snippet

gyre::task<> serve(gyre::any_stream stream, std::string directory) {
    http::router routes;
    routes.add(http::method::post, "/capitals", capitals)
        .add(http::method::post, "/upload",
             [&directory](http::request& what) { return upload(directory, what); });
    const http::handler handle = std::move(routes).build();
    const http2::connection_options options;
    const http2::connection_hooks hooks;
    const auto ended = co_await http2::serve_connection(std::move(stream), handle, options, hooks);
    std::printf("server: %s\n", ended.error().message().c_str());
}

// snippet: http2_body
gyre::task<gyre::io_result<>> say_slowly(http::body_writer to) {
    for (const std::string_view word : {"north,", "south,", "west"}) {
        const auto [unsent, sent] = co_await gyre::write_all(to, gyre::bytes_of(word));
        if (unsent) co_return unsent;
        const auto flushed = co_await to.flush();
        if (!flushed.ok()) co_return flushed;
        const auto slept = co_await gyre::sleep_for(20ms);
        if (!slept.ok()) co_return slept;
    }
    co_return gyre::io_result<>{};
}

gyre::task<> converse(http2::client_connection& server) {
    http::request what{http::method::post, "/capitals"};
    what.set_authority("words");
    auto [error, answer] = co_await server.send(what, http::produced_by(say_slowly));
    if (error) co_return;
    std::array<std::byte, 4096> space;
    for (;;) {
        // The first words come back before the last ones are sent.
        const auto [end, size] = co_await answer.body.read_some(space);
        if (end) break;
        const auto text = gyre::text_of(std::span(space).first(size));
        std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
    }
    const std::string bytes{answer.body.trailers().value_or("x-bytes", "?")};
    std::printf("%s bytes\n", bytes.c_str());
}
// end of snippet

gyre::task<> send_form(http2::client_connection& server) {
    http::request what{http::method::post, "/upload"};
    what.set_authority("words");
    what.fields.set("content-type", "multipart/form-data; boundary=b");
    const std::string form =
        "--b\r\nContent-Disposition: form-data; name=f; filename=\"../x\"\r\n\r\nhere\r\n--b--\r\n";
    const auto [error, answer] = co_await server.send(what, form);
    std::printf("upload: %u\n", error ? 0 : http::number_of(answer.status));
}

gyre::task<> ask(gyre::any_stream stream) {
    http2::client_connection server{std::move(stream)};
    const auto requests = [&server](gyre::task_group& group) -> gyre::task<> {
        group.spawn(server.run());
        co_await converse(server);
        co_await send_form(server);
        server.close();
    };
    co_await gyre::with_group(requests);
}

gyre::task<> both(std::string directory) {
    gyre::memory_pipe pipe{64 << 10};
    gyre::any_stream here{std::move(pipe.first)};
    gyre::any_stream there{std::move(pipe.second)};
    co_await gyre::when_all(ask(std::move(here)), serve(std::move(there), directory));
}

}  // namespace

int main() {
    std::string directory = (std::filesystem::temp_directory_path() / "streamed.XXXXXX").string();
    if (::mkdtemp(directory.data()) == nullptr) return 1;
    gyre::run(both(directory));
    std::error_code failed;
    std::printf("stored: %d bytes\n",
                static_cast<int>(std::filesystem::file_size(directory + "/1", failed)));
    std::filesystem::remove_all(directory, failed);
    return 0;
}
