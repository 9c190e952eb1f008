// SPDX-License-Identifier: BSL-1.0
//
// What gyre/base/error.hpp promises: an errno, a code of ours, and words for both.
#include <gyre/base/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <type_traits>

using namespace gyre;

static_assert(std::is_trivially_copyable_v<error>);
static_assert(!std::is_convertible_v<error, bool>, "an error must not pass for a number");

TEST_CASE("an error that was never set is no error") {
    constexpr error none;

    CHECK_FALSE(none);
    CHECK(none == errc::ok);
    CHECK(none.message() == "no error");
}

TEST_CASE("an error is true, and equal to its code whatever was being done") {
    constexpr error refused{errc::connection_refused, activity::connect};

    CHECK(static_cast<bool>(refused));
    CHECK(refused == errc::connection_refused);
    CHECK(refused == error{errc::connection_refused, activity::write});
    CHECK(refused != errc::connection_reset);
    CHECK(refused.during() == activity::connect);
}

TEST_CASE("a message names what was being done and what went wrong") {
    const error refused{errc::connection_refused, activity::connect};
    const error torn{errc::eof};

    CHECK(refused.message() == "connect: Connection refused");
    CHECK(torn.message() == "end of stream");
}

TEST_CASE("a message names the port or the status, where it is known") {
    const error taken{errc::address_in_use, activity::bind, 7000};
    const error refused{errc::connection_refused, activity::connect, 80};
    const error absent{errc::protocol_error, activity::upgrade, 404};
    const error unpaid{errc::permission_denied, activity::tunnel, 407};
    const error unknown{errc::address_in_use, activity::bind, 0};
    const error useless{errc::eof, activity::read, 7};

    CHECK(taken.message() == "bind: Address already in use (port 7000)");
    CHECK(refused.message() == "connect: Connection refused (port 80)");
    CHECK(absent.message() == "WebSocket upgrade: Protocol error (status 404)");
    CHECK(unpaid.message() == "tunnel through a proxy: Permission denied (status 407)");
    CHECK(unknown.message() == "bind: Address already in use");
    CHECK(error{errc::tls_alert, activity::read, 20}.message() ==
          "read: peer gave up with an alert (alert 20)");
    CHECK(useless.message() == "read: end of stream");
    CHECK(taken.number() == 7000);
    CHECK(taken == error{errc::address_in_use, activity::bind, 7001});
}

TEST_CASE("a limit of inotify's is called by its name, and not after a disk") {
    const error watches{errc::no_space_on_device, activity::watch};
    const error sets{errc::process_descriptors_exhausted, activity::watch};
    const error disk{errc::no_space_on_device, activity::write};

    CHECK(watches.message().ends_with("fs.inotify.max_user_watches"));
    CHECK(sets.message().ends_with("fs.inotify.max_user_instances"));
    CHECK(disk.message() == "write: No space left on device");
}

TEST_CASE("errno values become errors of the same number, and ECANCELED becomes ours") {
    CHECK(error::from_errno(ECONNRESET) == errc::connection_reset);
    CHECK(error::from_errno(EXDEV).code() == static_cast<errc>(EXDEV));
    CHECK(error::from_errno(ECANCELED) == errc::canceled);
    CHECK(error::from_errno(ECANCELED, activity::read).during() == activity::read);
    CHECK_FALSE(error::from_errno(0));
}

TEST_CASE("the kernel's time-out and ours are told apart") {
    CHECK(error::from_errno(ETIMEDOUT) == errc::connection_timed_out);
    CHECK(error::from_errno(ETIMEDOUT) != errc::timed_out);
}

TEST_CASE("each code of ours has words of its own") {
    const std::string unknown = describe(static_cast<errc>(1'000'000));
    for (int code = static_cast<int>(errc::canceled);
         code <= static_cast<int>(errc::tls_version_mismatch); ++code) {
        CAPTURE(code);
        CHECK(describe(static_cast<errc>(code)) != unknown);
    }
    CHECK(unknown == "unknown error");
}

TEST_CASE("each activity has a verb, and no verb stands for two activities") {
    CHECK(std::string_view{describe(activity::unknown)}.empty());
    const auto last = static_cast<std::uint32_t>(activity::tunnel);
    for (std::uint32_t one = 1; one <= last; ++one) {
        const std::string_view verb = describe(static_cast<activity>(one));
        CAPTURE(verb);
        CHECK_FALSE(verb.empty());
        for (std::uint32_t other = one + 1; other <= last; ++other) {
            CHECK(verb != describe(static_cast<activity>(other)));
        }
    }
}
