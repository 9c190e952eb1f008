// SPDX-License-Identifier: BSL-1.0
//
// Clients of HTTP/1 that leave an event stream, with TLS and without: see leaving_clients.hpp.
#include <web/leaving_clients.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

task<> hear_one_event(any_stream on, crowd& of) {
    const std::string_view asked = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    static_cast<void>(co_await write_all(on, bytes_of(asked)));
    std::string heard;
    std::array<char, 512> space{};
    while (heard.find("first") == std::string::npos) {
        const io_result<std::size_t> got =
            co_await with_timeout(30s, on.read_some(std::as_writable_bytes(std::span{space})));
        if (!got.ok()) {
            ++of.failed;
            co_return;
        }
        heard.append(space.data(), got.value());
    }
    ++of.here;
    static_cast<void>(co_await of.all_leave.wait());
}

}  // namespace

TEST_CASE("clients of event streams that leave cost nothing any more: HTTP/1") {
    const leaving_clients plain{"HTTP/1", nullptr, hear_one_event};
    check_leaving(plain);
}

TEST_CASE("clients of event streams that leave cost nothing any more: HTTP/1 over TLS") {
    const leaving_clients secure{"HTTP/1 over TLS", "http/1.1", hear_one_event};
    check_leaving(secure);
}
