// SPDX-License-Identifier: BSL-1.0
//
// What gyre/web/pem_files.hpp promises: identities from files, and new ones as they come.
#include <gyre/web/pem_files.hpp>

#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/certificates.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

tls::context server_of(const tls::identity& it) {
    tls::server_options options;
    options.identities = {it};
    return tls::context::server(std::move(options)).take();
}

}  // namespace

TEST_CASE("an identity is read from files, and what cannot be read is told") {
    const scratch_directory there;
    const tls::identity made = self_signed(certificate_wish{"localhost"});
    const std::string chain = there.put("chain.pem", made.certificates);
    const std::string key = there.put("key.pem", made.private_key);
    const std::string huge = there.put("huge.pem", std::string((1 << 20) + 8192, 'x'));
    const auto run = [&](io_context&) -> task<> {
        const auto read = co_await web::read_identity({chain, key});
        CHECK_FALSE(read.error());
        CHECK(read.value().certificates == made.certificates);
        CHECK(read.value().private_key == made.private_key);
        const auto missing = co_await web::read_identity({chain, there / "nothing"});
        CHECK(missing.error() == errc::no_such_file);
        const auto large = co_await web::read_identity({huge, key});
        CHECK(large.error() == errc::limit_exceeded);
    };
    on_every_backend(run);
}

TEST_CASE("what is renewed is loaded once it has settled, and what is broken is not") {
    const tls::identity first = self_signed(certificate_wish{"first"});
    const tls::identity second = self_signed(certificate_wish{"second"});
    const auto run = [&](io_context&) -> task<> {
        const scratch_directory there;
        const std::string chain = there.put("chain.pem", first.certificates);
        const std::string key = there.put("key.pem", first.private_key);
        std::vector<error> told;
        web::reload_options options;
        options.settle_time = 20ms;
        options.on_reload = [&told](io_result<> ended) { told.push_back(ended.error()); };
        const std::vector<web::identity_files> from{{chain, key}};
        const tls::context context = server_of(first);
        io_result<> watched;
        const auto watching = [&]() -> task<> {
            watched = co_await web::reload_on_change(context, from, options);
        };
        const auto told_last = [&](bool ok) -> task<> {
            while (told.empty() || !told.back() != ok) {
                const io_result<> slept = co_await sleep_for(1ms);
                if (!slept.ok()) co_return;
            }
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(watching);
            // Nothing tells that it watches by now but this.
            while (told.empty()) {
                static_cast<void>(there.put("key.pem", "none"));
                const io_result<> slept = co_await sleep_for(2 * options.settle_time);
                if (!slept.ok()) co_return;
            }
            static_cast<void>(there.put("key.pem", first.private_key));
            co_await told_last(true);
            told.clear();
            // Chain and key apart: in between they do not belong together.
            static_cast<void>(there.put("chain.pem", second.certificates));
            static_cast<void>(there.put("key.pem", second.private_key));
            co_await told_last(true);
            for (const error& each : told) CHECK_FALSE(each);
            static_cast<void>(there.put("new", "nothing of the kind"));
            std::filesystem::rename(there / "new", key);
            co_await told_last(false);
            CHECK(told.back() == errc::key_unreadable);
            group.request_drain();
        };
        co_await with_group(body);
        CHECK(watched.error() == errc::canceled);

        const auto again = co_await web::reload_from(context, from);
        CHECK(again.error() == errc::key_unreadable);
        const std::vector<web::identity_files> nameless{{"", key}};
        const auto nowhere = co_await web::reload_on_change(context, nameless);
        CHECK(nowhere.error() == errc::invalid_argument);
    };
    on_every_backend(run);
}

namespace {

// How attempts to load what has changed end.
class reloads {
public:
    void note(io_result<> ended) {
        last_ = ended.error();
        ++count_;
        next_.set();
    }

    // Until one ends so; the last may have.
    [[nodiscard]] task<> until(bool ok) {
        while (count_ == 0 || !last_ != ok) {
            const io_result<> told = co_await another();
            if (!told.ok()) co_return;
        }
    }
    [[nodiscard]] task<> until(errc why) {
        while (last_ != why) {
            const io_result<> told = co_await another();
            if (!told.ok()) co_return;
        }
    }
    [[nodiscard]] int count() const noexcept { return count_; }

private:
    [[nodiscard]] event::wait_awaiter another() {
        next_.reset();
        return next_.wait();
    }

    event next_;
    int count_ = 0;
    error last_;
};

void put_identity(const scratch_directory& there, const std::string& in, bool good) {
    static const tls::identity made = self_signed(certificate_wish{"it"});
    std::filesystem::create_directories(there / in);
    static_cast<void>(there.put(in + "/chain.pem", made.certificates));
    static_cast<void>(there.put(in + "/key.pem", good ? made.private_key : "none"));
}

using moves = std::function<task<>(const scratch_directory& there, reloads& seen)>;

// Has the identity in "live" followed while `act` runs, which finds a broken one there, and it reported.
void check_reloads(web::reload_options options, const moves& act) {
    const auto run = [&](io_context&) -> task<> {
        const scratch_directory there;
        put_identity(there, "live", false);
        const tls::context context = server_of(self_signed(certificate_wish{"first"}));
        const std::vector<web::identity_files> from{
            {there / "live/chain.pem", there / "live/key.pem"}};
        reloads seen;
        options.on_reload = [&seen](io_result<> ended) { seen.note(ended); };
        io_result<> watched;
        const auto watching = [&]() -> task<> {
            watched = co_await web::reload_on_change(context, from, options);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(watching);
            // Nothing tells that it watches by now but this.
            while (seen.count() == 0) {
                put_identity(there, "live", false);
                const io_result<> slept =
                    co_await sleep_for(2 * std::min(options.settle_time, options.settle_time_max));
                if (!slept.ok()) co_return;
            }
            co_await act(there, seen);
            group.request_drain();
        };
        co_await with_group(body);
        CHECK(watched.error() == errc::canceled);
    };
    on_every_backend(run);
}

web::reload_options settling_in(duration quiet) {
    web::reload_options options;
    options.settle_time = quiet;
    return options;
}

}  // namespace

TEST_CASE("a certificate is loaded after its directory was replaced by a rename, each time") {
    check_reloads(settling_in(1ms), [](const scratch_directory& there, reloads& seen) -> task<> {
        for (const bool good : {true, false, true}) {
            put_identity(there, "new", good);
            std::filesystem::rename(there / "live", there / "old");
            std::filesystem::rename(there / "new", there / "live");
            co_await seen.until(good);
            std::filesystem::remove_all(there / "old");
        }
        put_identity(there, "live", false);
        co_await seen.until(false);
    });
}

TEST_CASE("a certificate is loaded after its directory was removed and made again, each time") {
    check_reloads(settling_in(1ms), [](const scratch_directory& there, reloads& seen) -> task<> {
        for (int round = 0; round < 3; ++round) {
            std::filesystem::remove_all(there / "live");
            co_await seen.until(false);
            put_identity(there, "live", true);
            co_await seen.until(true);
        }
    });
}

TEST_CASE("a certificate is loaded through links that are replaced, as certbot and Kubernetes do") {
    check_reloads(settling_in(1ms), [](const scratch_directory& there, reloads& seen) -> task<> {
        std::filesystem::remove_all(there / "live");
        co_await seen.until(false);
        put_identity(there, "first", true);
        std::filesystem::create_directory(there / "live");
        std::filesystem::create_directory_symlink("../first", there / "live/..data");
        std::filesystem::create_symlink("..data/chain.pem", there / "live/chain.pem");
        std::filesystem::create_symlink("..data/key.pem", there / "live/key.pem");
        co_await seen.until(true);
        for (const bool good : {false, true}) {
            put_identity(there, "next", good);
            std::filesystem::rename(there / "first", there / "last");
            std::filesystem::rename(there / "next", there / "second");
            std::filesystem::create_directory_symlink("../second", there / "live/..tmp");
            std::filesystem::rename(there / "live/..tmp", there / "live/..data");
            co_await seen.until(good);
            std::filesystem::rename(there / "second", there / "first");
            std::filesystem::create_directory_symlink("../first", there / "live/..tmp");
            std::filesystem::rename(there / "live/..tmp", there / "live/..data");
            std::filesystem::remove_all(there / "last");
        }
    });
}

TEST_CASE("a certificate is loaded while other files beside it are written all the time") {
    check_reloads(settling_in(250ms), [](const scratch_directory& there, reloads& seen) -> task<> {
        bool loaded = false;
        const auto others = [&]() -> task<> {
            while (!loaded) {
                static_cast<void>(there.put("live/other", "x"));
                const io_result<> slept = co_await sleep_for(1ms);
                if (!slept.ok()) co_return;
            }
        };
        const auto wait = [&]() -> task<> {
            put_identity(there, "live", true);
            co_await seen.until(true);
            loaded = true;
        };
        co_await when_all(others(), wait());
    });
}

TEST_CASE("a certificate that is written all the time is loaded when its time is over") {
    web::reload_options options;
    options.settle_time = 1h;
    options.settle_time_max = 20ms;
    check_reloads(options, [](const scratch_directory& there, reloads& seen) -> task<> {
        bool loaded = false;
        const auto write = [&]() -> task<> {
            while (!loaded) {
                put_identity(there, "live", true);
                const io_result<> slept = co_await sleep_for(1ms);
                if (!slept.ok()) co_return;
            }
        };
        const auto wait = [&]() -> task<> {
            co_await seen.until(true);
            loaded = true;
        };
        co_await when_all(write(), wait());
    });
}

TEST_CASE(
    "a certificate is loaded after its path could not be followed for a while, and that told") {
    check_reloads(settling_in(1ms), [](const scratch_directory& there, reloads& seen) -> task<> {
        put_identity(there, "live", true);
        co_await seen.until(true);
        std::filesystem::rename(there / "live", there / "good");
        std::filesystem::create_symlink(std::string(300, 'x'), there / "live");
        co_await seen.until(errc::name_too_long);
        std::filesystem::create_symlink("good", there / "new");
        std::filesystem::rename(there / "new", there / "live");
        co_await seen.until(true);
    });
}
