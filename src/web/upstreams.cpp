// SPDX-License-Identifier: BSL-1.0
#include <gyre/web/upstreams.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/http/method.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/stream/shared_bytes.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/timeout.hpp>
#include <web/sent_body.hpp>
#include <web/watched_producer.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace gyre::web {
namespace {

// Says nothing about the server: another one would be no better.
bool is_ours(error failed) noexcept {
    constexpr errc ours[] = {
        errc::canceled,
        errc::invalid_argument,
        errc::not_supported,
        errc::process_descriptors_exhausted,
        errc::system_descriptors_exhausted,
        errc::not_enough_memory,
        errc::no_buffer_space,
        errc::address_not_available,
        errc::operation_not_permitted,
    };
    return std::ranges::any_of(ours, [failed](errc each) { return failed == each; });
}

// The connection ended, and not the time for an answer.
bool broke_off(error failed) noexcept {
    return failed == errc::connection_reset || failed == errc::connection_aborted ||
           failed == errc::broken_pipe || failed == errc::eof || failed == errc::tls_truncated;
}

bool is_bad_gateway(http::status of) noexcept {
    return of == http::status::bad_gateway || of == http::status::service_unavailable ||
           of == http::status::gateway_timeout;
}

// RFC 9110, 9.2.2.
bool may_go_elsewhere(const io_result<client_response>& failed, http::method method,
                      const sent_body* body) noexcept {
    if (is_ours(failed.error()) || (body != nullptr && body->produced)) return false;
    if (failed.value().unprocessed) return true;
    const bool has_producer = body != nullptr && body->content.producer() != nullptr;
    return broke_off(failed.error()) && http::is_idempotent(method) && !has_producer;
}

// A request that may be sent to several servers, but for where to.
class repeatable_request {
public:
    explicit repeatable_request(client_request of)
        : body_{kept_body(std::move(of.body))}, what_{std::move(of)} {
        if (body_ == nullptr || body_->content.producer() != nullptr) return;
        bytes_ = shared_bytes::copy_of(body_->content.bytes());
    }

    [[nodiscard]] client_request to(const url& origin) const {
        client_request made;
        made.method = what_.method;
        made.other_method = what_.other_method;
        made.where = what_.where.at_origin_of(origin);
        made.fields = what_.fields;
        if (!bytes_.empty()) made.body = bytes_;
        else if (body_ != nullptr) made.body = {std::make_unique<watched_producer>(body_)};
        return made;
    }
    [[nodiscard]] http::method method() const noexcept { return what_.method; }
    [[nodiscard]] const sent_body* body() const noexcept { return body_.get(); }
    /// Its body has ended early, and the server is not why.
    [[nodiscard]] bool gave_up() const noexcept { return body_ != nullptr && body_->gave_up; }

private:
    std::shared_ptr<sent_body> body_;
    shared_bytes bytes_;  // Of it, unless a producer has them. An attempt may keep them for longer.
    client_request what_;
};

}  // namespace

/// What is known of the servers.
class upstreams::state {
public:
    state(client& by, std::vector<upstream> of, upstreams_options options)
        : by_{by}, options_{std::move(options)} {
        expects(!of.empty() && options_.attempts_max > 0, "a request has a server to go to");
        for (upstream& each : of) {
            expects(each.weight > 0, "a server without a share gets no requests: leave it out");
            servers_.emplace_back(std::move(each));
        }
    }

    struct server {
        explicit server(upstream from) noexcept : of{std::move(from)} {}

        upstream of;
        upstream_counters counters;
        bool up = true;  // So checks say.
        std::uint32_t failures_in_row = 0;
        std::uint32_t ejections_in_row = 0;
        time_point ejected_until = time_point::min();
        std::size_t trials = 0;  // Sent after an ejection, and neither answered nor failed.
    };

    /// A request that is in flight to a server, until this goes.
    class flight {
    public:
        flight(std::shared_ptr<state> of, std::size_t to, time_point now) noexcept
            : of_{std::move(of)}, to_{to}, is_trial_{of_->awaits_trial(at(), now)} {
            ++at().counters.requests;
            ++at().counters.in_flight;
            if (is_trial_) ++at().trials;
        }
        flight(const flight&) = delete;
        flight& operator=(const flight&) = delete;
        ~flight() {
            --at().counters.in_flight;
            end_trial();
        }

        [[nodiscard]] bool is_trial() const noexcept { return is_trial_; }
        /// The server has answered, or failed; its body may take for ever.
        void end_trial() noexcept {
            if (std::exchange(is_trial_, false)) --at().trials;
        }

    private:
        [[nodiscard]] server& at() const noexcept { return of_->servers_[to_]; }

        std::shared_ptr<state> of_;
        std::size_t to_;
        bool is_trial_;
    };

    [[nodiscard]] bool available(const server& it, time_point now) const noexcept;
    [[nodiscard]] std::optional<std::size_t> choose(loop& home, const std::vector<bool>& tried);
    void note(server& it, const io_result<client_response>& got, bool was_trial, time_point now);
    [[nodiscard]] task<> check(client& by, server& it, const health_check& how);

    [[nodiscard]] client& by() const noexcept { return by_; }
    [[nodiscard]] const upstreams_options& options() const noexcept { return options_; }
    [[nodiscard]] std::vector<server>& servers() noexcept { return servers_; }
    [[nodiscard]] const server& at(std::size_t index) const noexcept {
        expects(index < servers_.size(), "there are so many servers");
        return servers_[index];
    }

    loop* home = nullptr;  // Known since the first request or check.

private:
    [[nodiscard]] bool is_ejectable(const server& it) const noexcept {
        return options_.failures_max > 0 && it.failures_in_row >= options_.failures_max;
    }
    // A request that is sent to it now tries whether its ejection is over.
    [[nodiscard]] bool awaits_trial(const server& it, time_point now) const noexcept {
        return is_ejectable(it) && now >= it.ejected_until;
    }
    [[nodiscard]] std::size_t draw(loop& home, const std::vector<bool>& from) const noexcept;

    client& by_;
    upstreams_options options_;
    std::vector<server> servers_;
};

// -------- Choosing --------

// After an ejection one request at a time tries it: with nothing in flight it would attract all of them.
bool upstreams::state::available(const server& it, time_point now) const noexcept {
    if (!it.up) return false;
    if (!is_ejectable(it)) return true;
    return awaits_trial(it, now) && it.trials == 0;
}

// One of `from`, by the weights. @pre  there is one.
std::size_t upstreams::state::draw(loop& home, const std::vector<bool>& from) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t each = 0; each < servers_.size(); ++each) {
        if (from[each]) sum += servers_[each].of.weight;
    }
    std::uint64_t left = context_of(home).host().entropy() % sum;
    std::size_t at = 0;
    for (;; ++at) {
        if (!from[at]) continue;
        const std::uint64_t weight = servers_[at].of.weight;
        if (left < weight) return at;
        left -= weight;
    }
}

// The first that is drawn, so that shares are weights, unless the second is no more loaded with the request
// than the first without it: else one with nothing to do would get it, whatever its weight. The load of all
// would send every request to one that is new, or fails at once.
std::optional<std::size_t> upstreams::state::choose(loop& home, const std::vector<bool>& tried) {
    const time_point now = home.now();
    std::vector<bool> from(servers_.size());
    std::size_t left = 0;
    for (std::size_t each = 0; each < servers_.size(); ++each) {
        from[each] = available(servers_[each], now);
        if (from[each]) ++left;
    }
    const bool few = left * 100 < servers_.size() * options_.available_min_percent;
    for (std::size_t each = 0; each < servers_.size(); ++each) {
        from[each] = (few || from[each]) && !tried[each];
    }
    const std::ptrdiff_t count = std::ranges::count(from, true);
    if (count == 0) return std::nullopt;
    const std::size_t first = draw(home, from);
    if (count == 1) return first;
    from[first] = false;
    const std::size_t second = draw(home, from);
    const server& one = servers_[first];
    const server& other = servers_[second];
    const bool other_has_less =
        (other.counters.in_flight + 1) * one.of.weight <= one.counters.in_flight * other.of.weight;
    return other_has_less ? second : first;
}

// -------- Learning --------

void upstreams::state::note(server& it, const io_result<client_response>& got, bool was_trial,
                            time_point now) {
    if (is_ours(got.error())) return;
    const auto& is_failure = options_.is_failure;
    const bool failed = !got.ok() || (is_failure ? is_failure(got.value().status)
                                                 : is_bad_gateway(got.value().status));
    if (!failed) {
        it.failures_in_row = it.ejections_in_row = 0;
        return;
    }
    ++it.counters.failures;
    // A request that was in flight when it was ejected says nothing new, however late it fails.
    if (is_ejectable(it) && !(was_trial && now >= it.ejected_until)) return;
    ++it.failures_in_row;
    if (!is_ejectable(it)) return;
    duration span = options_.ejected_first;
    for (std::uint32_t each = 0; each < it.ejections_in_row; ++each) {
        span = span > options_.ejected_max / 2 ? options_.ejected_max : span * 2;
    }
    ++it.ejections_in_row;
    ++it.counters.ejections;
    it.ejected_until = deadline_after(now, std::min(span, options_.ejected_max));
}

namespace {

io_result<url> checked_by(const health_check& how) {
    return url::parse("http://upstream" + how.target);
}

// Whether the server lives: whether all of an answer comes, of any length.
task<io_result<>> ask(client& by, client_request what) {
    io_result<client_response> got = co_await by.send(std::move(what));
    if (!got.ok()) co_return got.error();
    client_response response = got.take();
    std::array<std::byte, 4096> dropped;
    io_result<std::size_t> read;
    while (read.ok()) read = co_await response.body.read_some(dropped);
    if (read.error() != errc::eof) co_return read.error();
    if (http::number_of(response.status) / 100 != 2) co_return errc::host_down;
    co_return io_result<>{};
}

}  // namespace

task<> upstreams::state::check(client& by, server& it, const health_check& how) {
    const url where = checked_by(how).value().at_origin_of(it.of.origin);
    std::uint32_t in_row = 0;  // Of answers that say that it is not what it counts as.
    for (;;) {
        client_request what{http::method::get, where};
        const io_result<> lives = co_await with_timeout(how.time_max, ask(by, std::move(what)));
        if (lives.error() == errc::canceled) break;
        if (!is_ours(lives.error())) {
            if (!lives.ok()) ++it.counters.failed_checks;
            in_row = lives.ok() == it.up ? 0 : in_row + 1;
            if (in_row >= (it.up ? how.failures_max : how.successes_min)) {
                it.up = !it.up;
                in_row = 0;
            }
        }
        const io_result<> slept = co_await sleep_for(how.interval);
        if (!slept.ok()) break;
    }
    it.up = true;
}

// -------- Sending --------

upstreams::upstreams(client& by, std::vector<upstream> of, upstreams_options options)
    : state_{std::make_shared<state>(by, std::move(of), std::move(options))} {}
upstreams::~upstreams() = default;

task<io_result<upstream_response>> upstreams::send(client_request what) {
    return send_by(state_, std::move(what));
}

task<io_result<upstream_response>> upstreams::send_by(std::shared_ptr<state> self,
                                                      client_request what) {
    loop& home = co_await this_task::loop();
    self->home = &home;
    const repeatable_request request{std::move(what)};
    std::vector<bool> tried(self->servers().size());
    error failed = errc::host_down;
    state::server* before = nullptr;
    for (std::size_t attempt = 0; attempt < self->options().attempts_max; ++attempt) {
        const std::optional<std::size_t> chosen = self->choose(home, tried);
        if (!chosen) break;
        tried[*chosen] = true;
        if (before != nullptr) ++before->counters.repeated;
        state::server& to = self->servers()[*chosen];
        auto in_flight = std::make_shared<state::flight>(self, *chosen, home.now());
        io_result<client_response> got = co_await self->by().send(request.to(to.of.origin));
        if (!request.gave_up()) self->note(to, got, in_flight->is_trial(), home.now());
        in_flight->end_trial();
        if (got.ok()) {
            upstream_response response;
            static_cast<client_response&>(response) = got.take();
            response.from = *chosen;
            response.in_flight_ = std::move(in_flight);
            co_return io_result<upstream_response>{std::move(response)};
        }
        failed = got.error();
        if (!may_go_elsewhere(got, request.method(), request.body())) break;
        before = &to;
    }
    co_return failed;
}

task<> upstreams::check(health_check how) {
    expects(how.target.starts_with('/') && checked_by(how).ok(),
            "the target of a check is a path, and perhaps a query");
    expects(how.failures_max > 0 && how.successes_min > 0, "a check that can say something");
    return check_by(state_, std::move(how));
}

task<> upstreams::check_by(std::shared_ptr<state> self, health_check how) {
    loop& home = co_await this_task::loop();
    self->home = &home;
    // Checks have connections of their own, so that none waits for a request or another check. Each makes a
    // new one, since a server that takes no connections does not live.
    client_options options = self->by().options();
    options.connections_max = options.connections_per_origin_max = self->servers().size();
    options.idle_max = 0;
    client by{std::move(options)};
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): it outlives what it makes.
    const auto each_server = [&](task_group& group) -> task<> {
        for (state::server& each : self->servers()) group.spawn(self->check(by, each, how));
        co_return;
    };
    co_await with_group(each_server);
}

std::size_t upstreams::size() const noexcept { return state_->servers().size(); }

bool upstreams::available(std::size_t index) const noexcept {
    const time_point now = state_->home != nullptr ? state_->home->now() : time_point::min();
    return state_->available(state_->at(index), now);
}

const upstream_counters& upstreams::counters(std::size_t index) const noexcept {
    return state_->at(index).counters;
}

const url& upstreams::origin(std::size_t index) const noexcept {
    return state_->at(index).of.origin;
}

}  // namespace gyre::web
