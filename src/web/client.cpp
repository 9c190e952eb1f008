// SPDX-License-Identifier: BSL-1.0
#include <gyre/web/client.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/http/percent.hpp>
#include <gyre/http/serializer.hpp>
#include <gyre/io/backoff.hpp>
#include <gyre/sync/timeout.hpp>
#include <web/connection_pool.hpp>
#include <web/decoded_body.hpp>
#include <web/sent_body.hpp>

#include <array>
#include <utility>

namespace gyre::web {

class client::state {
public:
    explicit state(client_options chosen) noexcept
        : options{std::move(chosen)}, pool{options, counters} {}

    client_options options;
    client_counters counters;
    connection_pool pool;
};

/// A response that is being read, and the connection it comes on.
class client_response::exchange {
public:
    exchange(std::shared_ptr<client::state> of, connection_pool::lease on) noexcept
        : client_{std::move(of)}, lease_{std::move(on)} {}

    /// What is to be read of `head`, within the limits of the client and until `until`.
    void decode(client_response& head, time_point until) {
        const client_options& options = client_->options;
        http::coding with = http::coding::identity;
        // RFC 9110, 14.4: a range is of coded bytes, which mean nothing without those in front.
        const bool whole = head.status != http::status::partial_content;
        if (options.decompress && whole) with = coding_of(head.fields);
        const bool coded = with != http::coding::identity;
        if (head.body.ended() || (!coded && until == never)) return;
        if (coded) head.fields.remove("content-encoding");
        if (coded) head.fields.remove("content-length");
        decoded_.emplace(head.body, with, options.decoded_bytes_max, until);
        head.body = http::body_reader{*decoded_};
    }

private:
    std::shared_ptr<client::state> client_;  // Outlives the lease.
    connection_pool::lease lease_;
    std::optional<decoded_body> decoded_;
};

client_response::client_response() noexcept = default;
client_response::client_response(client_response&&) noexcept = default;
client_response& client_response::operator=(client_response&&) noexcept = default;
client_response::~client_response() = default;

namespace {

// RFC 9110, 15.4.
bool is_redirect(http::status code) noexcept {
    const unsigned number = http::number_of(code);
    return number == 301 || number == 302 || number == 303 || number == 307 || number == 308;
}

// RFC 9110, 15.4.2 to 15.4.4.
bool becomes_get(http::status code, http::method asked) noexcept {
    if (code == http::status::see_other) return asked != http::method::head;
    return asked == http::method::post &&
           (code == http::status::moved_permanently || code == http::status::found);
}

http::request request_for(const client_request& what, const client_options& options,
                          bool forwarded) {
    http::request made;
    if (what.method == http::method::other) made.set_method(what.other_method);
    else made.set_method(what.method);
    made.set_scheme(what.where.scheme());
    made.set_target(what.where.target());
    if (forwarded) made.set_target(what.where.to_string());  // RFC 9112, 3.2.2.
    made.fields = what.fields;
    // RFC 9112, 3.2.2: a proxy goes by the target, and Host says the same.
    if (forwarded || !made.fields.contains("host")) made.set_authority(what.where.authority());
    if (!made.fields.contains("user-agent") && !options.user_agent.empty()) {
        made.fields.add("user-agent", options.user_agent);
    }
    if (options.decompress && !made.fields.contains("accept-encoding")) {
        // Ranges are wanted of what is read, not of its coding.
        const bool all = !made.fields.contains("range");
        made.fields.add("accept-encoding", all ? "gzip, deflate, zstd" : "identity");
    }
    if (forwarded && options.via->credentials) {
        http::fields written;
        http::set_basic_credentials(written, *options.via->credentials);
        made.fields.set("proxy-authorization", written.value_or("authorization"));
    }
    return made;
}

// What can be known before there is a connection; only what is rare is looked at.
bool is_sendable(const client_request& what, const client_options& options, bool forwarded,
                 std::optional<std::uint64_t> body_size) {
    const http::fields& said = what.fields;
    const bool usual = what.method != http::method::other && !said.contains("host") &&
                       !said.contains("content-length") && !said.contains("transfer-encoding");
    return usual || http::is_sendable(request_for(what, options, forwarded), body_size);
}

// What a response says that it leads to; nothing if it does not say, or says nothing.
// RFC 9110, 10.2.2: it is one, and of several that differ each reader would follow another.
io_result<std::string_view> location_of(const http::fields& of) {
    std::string_view found;
    for (const http::field each : of) {
        if (!http::equal_without_case(each.name, "location") || each.value.empty()) continue;
        if (!found.empty() && each.value != found) return error{errc::malformed, activity::read};
        found = each.value;
    }
    return found;
}

// The Location of a redirect; empty if it is none.
io_result<std::string_view> redirect_of(const http::received_response& head) {
    if (!is_redirect(head.status)) return {};
    return location_of(head.fields);
}

// Where the request is to be sent next; nowhere if the response is to be handed out.
io_result<std::string_view> way_on(const http::received_response& head, const client_request& what,
                                   bool has_producer, const client_options& options) {
    const bool replayable = !has_producer || becomes_get(head.status, what.method);
    if (options.redirects_max == 0 || !replayable) return io_result<std::string_view>{};
    return redirect_of(head);
}

bool is_for_http(const client_request& what) noexcept {
    if (what.method == http::method::connect || what.other_method == "CONNECT") return false;
    const std::string& scheme = what.where.scheme();
    return scheme == "http" || scheme == "https";
}

// Blanks and bytes beyond ASCII have no place in a URL (RFC 3986, 2), but many servers write them here.
// Encoded, they come back to their server as it wrote them.
std::string with_raw_bytes_encoded(std::string_view location) {
    std::string encoded;
    for (const char& each : location) {
        const bool raw = each == ' ' || static_cast<unsigned char>(each) >= 0x80;
        if (raw) encoded.append(http::percent_encoded({&each, 1}));
        else encoded.push_back(each);
    }
    return encoded;
}

// Where a redirect leads, if it may be followed.
io_result<url> target_of(std::string_view location, const url& from,
                         const client_options& options) {
    io_result<url> to = from.resolved(with_raw_bytes_encoded(location));
    if (to.ok() && to.value().scheme() != "http" && to.value().scheme() != "https") {
        return errc::not_supported;
    }
    const bool weakens = to.ok() && from.is_secure() && !to.value().is_secure();
    if (weakens && !options.insecure_redirects) return errc::permission_denied;
    return to;
}

// What a redirect makes of a request: RFC 9110, 15.4.
void redirect(client_request& what, http::status code, url to) {
    if (becomes_get(code, what.method)) {
        what.method = http::method::get;
        what.other_method.clear();
        for (const char* const each :
             {"content-type", "content-encoding", "content-language", "content-location",
              "content-length", "transfer-encoding", "digest", "expect"}) {
            what.fields.remove(each);
        }
    }
    if (!what.where.same_origin(to)) {
        for (const char* const each :
             {"authorization", "cookie", "proxy-authorization", "origin", "host"}) {
            what.fields.remove(each);
        }
    }
    what.where = std::move(to);
}

// Of no body: 0.
std::optional<std::uint64_t> size_of(const sent_body* body) noexcept {
    return body == nullptr ? 0 : body->content.size();
}

bool is_produced(const sent_body* body) noexcept {
    return body != nullptr && body->content.producer() != nullptr;
}

http::response_body once_more(const std::shared_ptr<sent_body>& it) {
    if (it == nullptr) return {};
    if (it->content.producer() != nullptr) return {std::make_unique<lent_producer>(it)};
    return http::static_text{gyre::text_of(it->content.bytes())};
}

// Whether a request with this body may be sent once more after `last`.
bool may_repeat(connection_pool::fate last, http::method method, const sent_body* body) {
    using fate = connection_pool::fate;
    if (body != nullptr && body->produced) return false;
    if (last == fate::unprocessed) return true;
    const bool has_producer = body != nullptr && body->content.producer() != nullptr;
    return last == fate::lost && http::is_idempotent(method) && !has_producer;
}

// Sends `what` on a connection that is idle, new or shared, and once more on another one for each that turns
// out to be stale or has not processed it.
task<io_result<http::received_response>> send_on(connection_pool& pool, client_counters& counters,
                                                 const client_options& options,
                                                 connection_pool::lease& on,
                                                 const client_request& what,
                                                 std::shared_ptr<sent_body> body) {
    // A server that refuses everything is asked so often: at once, then ever later.
    constexpr std::size_t repeats_max = 5;
    const http::request made = request_for(what, options, on.forwarded);
    backoff delays;
    for (std::size_t repeats = 0;;) {
        if (on.reused) ++counters.reused;
        io_result<http::received_response> got = co_await on.send(made, once_more(body), body);
        if (got.ok()) co_return got;
        // Of connections that a request has to itself, those that are idle are the bound.
        if (on.shares()) ++repeats;
        const bool anew = may_repeat(on.last(), what.method, body.get());
        if (!anew || repeats > repeats_max) co_return got;
        ++counters.repeated;
        if (repeats > 1) {
            const io_result<> waited = co_await delays.pause();
            if (!waited.ok()) co_return waited.error();
        }
        const io_result<> renewed = co_await pool.renew(on, what.where);
        if (!renewed.ok()) co_return renewed.error();
    }
}

// Of a request that has failed; `seen` if a server may have seen it.
io_result<client_response> failed_request(error why, bool seen) {
    client_response none;
    none.unprocessed = !seen;
    return {why, std::move(none)};
}

// What a redirect has for a body is dropped if it is short, so that the connection can be used again.
task<> drop_body(http::body_reader body) {
    constexpr std::size_t dropped_max = std::size_t{64} * 1024;
    std::array<std::byte, 2048> space;
    if (body.size().value_or(0) > dropped_max) co_return;
    for (std::size_t dropped = 0; dropped < dropped_max;) {
        const io_result<std::size_t> got = co_await body.read_some(space);
        if (!got.ok()) co_return;
        dropped += got.value();
    }
}

// One that comes in drops is not worth the connection.
task<io_result<>> drop_in_time(http::body_reader body) {
    const io_result<> ended = co_await with_timeout(std::chrono::seconds{1}, drop_body(body));
    co_return ended;
}

}  // namespace

client::client(client_options options) : state_{std::make_shared<state>(std::move(options))} {
    expects(state_->options.connections_max > 0 && state_->options.connections_per_origin_max > 0,
            "a client may have a connection");
    expects(state_->options.streams_max > 0, "a connection may have a stream");
}
client::~client() { state_->pool.close(); }

task<io_result<client_response>> client::send(client_request what) {
    return perform(state_, std::move(what));
}

task<io_result<client_response>> client::get(std::string_view where) {
    return perform_parsed(state_, url::parse(where), client_request{});
}

task<io_result<client_response>> client::post(std::string_view where, std::string_view content_type,
                                              http::response_body body) {
    client_request what;
    what.method = http::method::post;
    what.fields.set("content-type", content_type);
    what.body = std::move(body);
    return perform_parsed(state_, url::parse(where), std::move(what));
}

task<io_result<client_response>> client::perform_parsed(std::shared_ptr<state> self,
                                                        io_result<url> where, client_request what) {
    if (!where.ok()) co_return where.error();
    what.where = where.take();
    io_result<client_response> got = co_await perform(std::move(self), std::move(what));
    co_return got;
}

task<io_result<client_response>> client::perform(std::shared_ptr<state> self, client_request what) {
    const client_options& options = self->options;
    if (!is_for_http(what)) co_return errc::invalid_argument;
    loop& home = co_await this_task::loop();
    const time_point until = deadline_after(home.read_clock(), options.total_time_max);
    std::shared_ptr<sent_body> body = kept_body(std::move(what.body));
    for (std::size_t redirects = 0;; ++redirects) {
        const std::optional<std::uint64_t> size = size_of(body.get());
        const bool forwarded = self->pool.ways().forwards(what.where);
        if (!is_sendable(what, options, forwarded, size)) co_return errc::invalid_argument;
        const bool has_producer = is_produced(body.get());
        io_result<connection_pool::lease> leased =
            co_await with_deadline(until, self->pool.take(what.where));
        if (!leased.ok()) co_return failed_request(leased.error(), redirects > 0);
        connection_pool::lease on = leased.take();
        io_result<http::received_response> got = co_await with_deadline(
            until, send_on(self->pool, self->counters, options, on, what, body));
        if (!got.ok()) {
            const bool unseen = on.last() == connection_pool::fate::unprocessed;
            co_return failed_request(got.error(), redirects > 0 || !unseen);
        }
        http::received_response head = got.take();

        const io_result<std::string_view> location = way_on(head, what, has_producer, options);
        if (!location.ok()) co_return location.error();
        if (!location.value().empty()) {
            if (redirects == options.redirects_max) co_return errc::limit_exceeded;
            io_result<url> to = target_of(location.value(), what.where, options);
            if (!to.ok()) co_return to.error();
            static_cast<void>(co_await with_deadline(until, drop_in_time(head.body)));
            ++self->counters.redirected;
            if (becomes_get(head.status, what.method)) body.reset();
            redirect(what, head.status, to.take());
            continue;
        }

        client_response response;
        response.status = head.status;
        response.version = head.version;
        response.fields = std::move(head.fields);
        response.where = std::move(what.where);
        response.body = head.body;
        response.exchange_ = std::make_unique<client_response::exchange>(self, std::move(on));
        response.exchange_->decode(response, until);
        co_return io_result<client_response>{std::move(response)};
    }
}

task<io_result<any_stream>> client::connect(url where) {
    return connect_by(state_, std::move(where));
}

task<io_result<any_stream>> client::connect_by(std::shared_ptr<state> self, url where) {
    io_result<connector::connected> made =
        co_await self->pool.ways().connect(where, connector::purpose::other_protocol);
    connector::connected got = made.take();
    co_return io_result<any_stream>{made.error(), std::move(got.stream)};
}

void client::close_idle() noexcept { state_->pool.close_idle(); }
std::size_t client::idle() const noexcept { return state_->pool.idle(); }
const client_counters& client::counters() const noexcept { return state_->counters; }
const client_options& client::options() const noexcept { return state_->options; }

}  // namespace gyre::web
