// SPDX-License-Identifier: BSL-1.0
//
// What gyre/web/pem_files.hpp promises: identities from files, and new ones as they come.
#include <gyre/web/pem_files.hpp>

#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/certificates.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>

#include <chrono>
#include <filesystem>
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
        const auto settled = [&](std::size_t count) -> task<> {
            for (int tries = 0; tries < 2000 && told.size() < count; ++tries) {
                static_cast<void>(co_await sleep_for(5ms));
            }
            CHECK(told.size() == count);
        };
        const auto body = [&](task_group& group) -> task<> {
            group.spawn(watching);
            static_cast<void>(co_await sleep_for(5ms));
            // Chain and key apart: in between they do not belong together.
            static_cast<void>(there.put("chain.pem", second.certificates));
            static_cast<void>(there.put("key.pem", second.private_key));
            co_await settled(1);
            static_cast<void>(there.put("new", "nothing of the kind"));
            std::filesystem::rename(there / "new", key);
            co_await settled(2);
            group.request_drain();
        };
        co_await with_group(body);
        REQUIRE(told.size() == 2);
        CHECK_FALSE(told[0]);
        CHECK(told[1] == errc::key_unreadable);
        CHECK(watched.error() == errc::canceled);

        const auto again = co_await web::reload_from(context, from);
        CHECK(again.error() == errc::key_unreadable);
        const std::vector<web::identity_files> missing{{"/nowhere/a", "/nowhere/b"}};
        const auto nowhere = co_await web::reload_on_change(context, missing);
        CHECK(nowhere.error() == errc::no_such_file);
    };
    on_every_backend(run);
}
