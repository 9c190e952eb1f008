// SPDX-License-Identifier: BSL-1.0
//
// Questions from one loop to another, and routes: see admin_server.hpp.
#include <exchange/management/admin_server.hpp>

#include <exchange/management/write_within.hpp>

#include <gyre/coro/launch.hpp>
#include <gyre/http/router.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/web/server.hpp>

#include <csignal>
#include <thread>
#include <utility>

#include <pthread.h>

namespace exchange {
namespace {

namespace http = gyre::http;

gyre::io_context_options on_epoll() {
    gyre::io_context_options made;
    made.backend = gyre::backend_choice::epoll;
    return made;
}

gyre::web::server_options limits(const admin_options& of) {
    gyre::web::server_options made;
    made.intake.connections_max = of.connections_max;
    made.connection.body_bytes_max = 0;
    made.connection.requests_max = 10'000;
    made.connection.head_time_max = std::chrono::seconds{5};
    // There are few places, and to connect anew costs a reader that comes later next to nothing.
    made.connection.idle_time_max = std::chrono::seconds{5};
    made.connection.write_time_max = std::chrono::seconds{5};
    made.drain_time_max = std::chrono::seconds{1};
    return made;
}

/// One kind of question, and the answer that whoever asks soon enough shares.
///
/// Threads:  the asking loop's.
template <class Answer>
class shared_question {
public:
    using find_function = std::function<Answer()>;

    /// @param  find  Called on the loop of `source`.
    shared_question(gyre::io_context& here, admin_source& source, const admin_options& options,
                    find_function find)
        : here_{here}, source_{source}, options_{options}, find_{std::move(find)} {}

    /// The answer; null if the process has not answered in time.
    gyre::task<std::shared_ptr<const Answer>> ask() {
        if (!last_ || (last_->answered.is_set() && here_.now() > last_->fresh_until)) begin();
        const std::shared_ptr<round> mine = last_;
        if (!mine->answered.is_set()) {
            const auto [late] =
                co_await gyre::with_timeout(options_.answer_within, mine->answered.wait());
            if (late) co_return nullptr;
        }
        co_return std::shared_ptr<const Answer>{mine, &mine->answer};
    }

private:
    struct round {
        gyre::event answered;
        gyre::time_point fresh_until = gyre::never;
        Answer answer{};
    };

    void begin() {
        last_ = std::make_shared<round>();
        source_.post([it = last_, this] {
            it->answer = find_();
            here_.post([it, this] {
                it->fresh_until = gyre::deadline_after(here_.now(), options_.fresh_for);
                it->answered.set();
            });
        });
    }

    gyre::io_context& here_;
    admin_source& source_;
    const admin_options& options_;
    find_function find_;
    std::shared_ptr<round> last_;
};

http::response text(http::status code, std::string body) {
    http::response made{code, "text/plain; charset=utf-8", std::move(body)};
    made.fields.set("cache-control", "no-store");
    return made;
}

http::response told_of(const admin_outcome& it) {
    using kind = admin_outcome::kind;
    const http::status code = it.what == kind::begun     ? http::status::accepted
                              : it.what == kind::not_now ? http::status::conflict
                                                         : http::status::not_found;
    return text(code, it.why + '\n');
}

http::response silent() {
    return text(http::status::service_unavailable, "the process does not answer\n");
}

/// "127.0.0.1:7021", "[::1]" or "localhost:7021": whom a browser names that was sent here by no other name.
[[nodiscard]] bool is_own_name(std::string_view host) {
    const std::size_t bracket = host.find(']');
    if (host.starts_with('[') && bracket != std::string_view::npos)
        return gyre::ipv6::parse(host.substr(1, bracket - 1)).ok();
    host = host.substr(0, host.find(':'));
    return host == "localhost" || gyre::ipv4::parse(host).ok();
}

}  // namespace

class admin_server::service {
public:
    service(admin_source& source, const admin_options& options)
        : source_{source},
          options_{options},
          context_{on_epoll()},
          reports_{context_, source, options_, [&source] { return source.report(); }},
          tasks_{context_, source, options_, [&source] { return source.tasks(); }} {}
    service(const service&) = delete;
    service& operator=(const service&) = delete;

    ~service() {
        if (!thread_.joinable()) return;
        running_.request_stop();
        thread_.join();
    }

    gyre::io_result<> start() {
        if (const gyre::error failed = context_.status()) return failed;
        routes_ = routes();
        auto listening = gyre::stream_acceptor::listen(context_, options_.at);
        if (listening.ok()) {
            gyre::stream_acceptor acceptor = listening.take();
            const auto [failed, at] = acceptor.local_endpoint();
            if (failed) return failed;
            at_ = at;
            running_ = gyre::launch(context_, serve(std::move(acceptor)), gyre::or_terminate{});
        } else {
            if (!options_.waits_for_place || listening.error() != gyre::errc::address_in_use)
                return listening.error();
            at_ = options_.at;
            running_ = gyre::launch(context_, serve_when_free(), gyre::or_terminate{});
        }
        thread_ = std::thread{[this] { run(); }};
        return {};
    }

    [[nodiscard]] const gyre::endpoint& at() const noexcept { return at_; }

private:
    // Signals are the process' own thread's.
    void run() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        pthread_setname_np(pthread_self(), "admin");
        context_.run();
    }

    gyre::task<> serve(gyre::stream_acceptor acceptor) {
        const auto [failed] = co_await gyre::web::serve_http(
            std::move(acceptor), [this](http::request& asked) { return guard(asked); },
            limits(options_));
        if (failed && failed != gyre::errc::canceled) say_ended(failed);
    }

    gyre::task<> serve_when_free() {
        constexpr auto look_again = std::chrono::milliseconds{20};
        for (;;) {
            const auto waited = co_await gyre::sleep_for(look_again);
            if (!waited.ok()) co_return;
            auto listening = gyre::stream_acceptor::listen(context_, options_.at);
            if (listening.ok()) {
                co_await serve(listening.take());
                co_return;
            }
            if (listening.error() == gyre::errc::address_in_use) continue;
            say_ended(listening.error());
            co_return;
        }
    }

    void say_ended(gyre::error why) const {
        note_on_error_output("the admin port at " + at_.to_string() +
                             " has ended: " + why.message() + '\n');
    }

    // Another site can point a name of its own to a port that is for this machine alone, and its page in a
    // browser here could read the answers.
    gyre::task<http::response> guard(http::request& asked) {
        const bool is_own =
            at_.kind() != gyre::endpoint::family::local && at_.address().is_loopback();
        const auto host = asked.fields.find("host");
        if (is_own && host && !is_own_name(*host))
            co_return text(http::status::misdirected_request, "this host is not served here\n");
        co_return co_await routes_(asked);
    }

    template <class Told>
    http::handler told(const Told& how) {
        return [this, how](http::request&) -> gyre::task<http::response> { return answer(how); };
    }
    template <class Told>
    gyre::task<http::response> answer(Told how) {
        const auto known = co_await reports_.ask();
        if (known == nullptr) co_return silent();
        http::response made = how(*known);
        made.fields.set("cache-control", "no-store");
        co_return made;
    }
    gyre::task<http::response> answer_tasks() {
        const auto known = co_await tasks_.ask();
        if (known == nullptr) co_return silent();
        co_return text(http::status::ok, *known);
    }

    /// What one command has come to; shared with the question, which may be answered too late.
    struct command_under_way {
        gyre::event answered;
        admin_outcome outcome{};
    };
    gyre::task<http::response> carry_out(std::string name, const http::request& asked) {
        // A page of a browser on this machine can post here, and says in this field where it is from.
        if (asked.fields.contains("origin"))
            co_return text(http::status::forbidden, "commands are not taken from web pages\n");
        auto it = std::make_shared<command_under_way>();
        source_.post([it, name, child = asked.query_value("child").value_or(""), this] {
            it->outcome = source_.command(name, child);
            context_.post([it] { it->answered.set(); });
        });
        const auto [late] =
            co_await gyre::with_timeout(options_.answer_within, it->answered.wait());
        if (late) co_return silent();
        co_return told_of(it->outcome);
    }

    http::handler routes() {
        using http::method;
        http::router made;
        made.add(method::get, "/health",
                 told([](const admin_report&) { return text(http::status::ok, "ok\n"); }))
            .add(method::get, "/ready", told([](const admin_report& it) {
                     const bool ready = it.state == process_state::ready;
                     return text(ready ? http::status::ok : http::status::service_unavailable,
                                 std::string{describe(it.state)} + '\n');
                 }))
            .add(method::get, "/status", told([](const admin_report& it) {
                     return http::response{http::status::ok, "application/json", status_json(it)};
                 }))
            .add(method::get, "/latency", told([](const admin_report& it) {
                     return http::response{http::status::ok, "application/json", latency_json(it)};
                 }))
            .add(method::get, "/metrics", told([](const admin_report& it) {
                     return http::response{http::status::ok, "text/plain; version=0.0.4",
                                           metrics_text(it)};
                 }))
            .add(method::get, "/tasks", [this](http::request&) { return answer_tasks(); });
        if (!options_.commands) return std::move(made).build();
        for (const std::string& each : source_.commands())
            made.add(method::post, "/" + each,
                     [this, each](http::request& asked) { return carry_out(each, asked); });
        return std::move(made).build();
    }

    admin_source& source_;
    admin_options options_;
    gyre::io_context context_;
    http::handler routes_;
    shared_question<admin_report> reports_;
    shared_question<std::string> tasks_;
    gyre::endpoint at_;
    gyre::stop_handle running_;
    std::thread thread_;
};

admin_server::admin_server(admin_source& source, const admin_options& options)
    : service_{std::make_unique<service>(source, options)} {}
admin_server::~admin_server() = default;

gyre::io_result<> admin_server::start() { return service_->start(); }
const gyre::endpoint& admin_server::at() const noexcept { return service_->at(); }

}  // namespace exchange
