// SPDX-License-Identifier: BSL-1.0
#include <web/connection_pool.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/web/server.hpp>

#include <iterator>

namespace gyre::web {

connection_pool::idle_timer::idle_timer(connection_pool& owner) noexcept
    : timer{[](timer& it) noexcept {
          auto& self = static_cast<idle_timer&>(it);
          self.posted = true;
          self.of.home_->post(static_cast<work&>(self));
      }},
      work{[](work& it) noexcept {
          auto& self = static_cast<idle_timer&>(it);
          self.posted = false;
          self.of.end_overdue();
      }},
      of{owner} {}

connection_pool::lease::lease(lease&& other) noexcept
    : connection{std::move(other.connection)},
      reused{other.reused},
      forwarded{other.forwarded},
      of_{std::exchange(other.of_, nullptr)},
      at_{other.at_},
      one_of_all_{std::move(other.one_of_all_)},
      one_of_place_{std::move(other.one_of_place_)} {}

connection_pool::lease& connection_pool::lease::operator=(lease&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    connection = std::move(other.connection);
    reused = other.reused;
    forwarded = other.forwarded;
    of_ = std::exchange(other.of_, nullptr);
    at_ = other.at_;
    one_of_all_ = std::move(other.one_of_all_);
    one_of_place_ = std::move(other.one_of_place_);
    return *this;
}

void connection_pool::lease::give_back() noexcept {
    connection_pool* const of = std::exchange(of_, nullptr);
    if (of == nullptr) return;
    of->rest(*this);
    one_of_place_.release();
    one_of_all_.release();
    of->leave(at_);
}

bool connection_pool::goes_through_proxy(const url& where) const {
    return options_.via && (!options_.proxied || options_.proxied(where));
}

task<io_result<connection_pool::lease>> connection_pool::take(const url& where) {
    if (home_ == nullptr) {
        loop& home = co_await this_task::loop();
        home_ = &home;
    }
    const bool by_proxy = goes_through_proxy(where);
    // What a proxy forwards may go over any connection to it.
    const bool forwarded = by_proxy && !where.is_secure();
    const std::string key = forwarded ? std::string{"proxy"}
                                      : (by_proxy ? "proxy " : "") + where.scheme() + "://" +
                                            where.authority_with_port();
    const auto at = places_.try_emplace(key, options_.connections_per_origin_max).first;
    visit here{*this, at};
    // First the place's: who waits for a slow origin takes none from the others.
    io_result<semaphore::permits> of_place = co_await at->second.permits.acquire_permits();
    if (!of_place.ok()) co_return of_place.error();
    io_result<semaphore::permits> of_all = co_await all_.acquire_permits();
    if (!of_all.ok()) co_return of_all.error();

    lease it;
    it.of_ = this;
    it.at_ = at;
    it.one_of_place_ = of_place.take();
    it.one_of_all_ = of_all.take();
    it.forwarded = forwarded;
    here.passes_on();
    const io_result<> opened = co_await renew(it, where);
    if (!opened.ok()) co_return opened.error();
    co_return io_result<lease>{std::move(it)};
}

task<io_result<>> connection_pool::renew(lease& it, const url& where) {
    it.connection.close();
    while (take_resting(it)) {
        const bool usable = co_await it.connection.still_idle();
        if (usable) co_return io_result<>{};
    }
    it.reused = false;
    const io_result<> opened = co_await open(it, where);
    co_return opened;
}

task<io_result<>> connection_pool::open(lease& it, const url& where) {
    // Those under way are counted by permits, so one too many rests.
    while (idle_count_ > 0 && all_.available() < idle_count_) end_rest(resting_.begin());
    io_result<any_stream> stream = co_await connect(where, purpose::requests);
    if (!stream.ok()) co_return stream.error();
    ++counters_.connections;
    it.connection = http::client_connection{stream.take(), options_.exchange};
    co_return io_result<>{};
}

task<io_result<any_stream>> connection_pool::connect(const url& where, purpose of) {
    io_result<any_stream> made =
        co_await with_timeout(options_.connect_time_max, connect_now(where, of));
    co_return made;
}

task<io_result<any_stream>> connection_pool::connect_now(const url& where, purpose of) {
    const bool by_proxy = goes_through_proxy(where);
    const std::string host = by_proxy ? options_.via->host : where.host();
    const std::uint16_t port = by_proxy ? options_.via->port : where.port();
    std::optional<endpoint> known;
    if (!by_proxy && options_.connect_at) known = options_.connect_at(where);
    io_result<stream_socket> connected;
    if (known) connected = co_await stream_socket::connect(*known);
    else connected = co_await connect_to(host, port, options_.connecting);
    if (!connected.ok()) co_return connected.error();
    any_stream stream{connected.take()};
    // A proxy forwards requests alone.
    if (by_proxy && (where.is_secure() || of == purpose::other_protocol)) {
        io_result<any_stream> through = co_await tunnel(std::move(stream), where);
        if (!through.ok()) co_return through.error();
        stream = through.take();
    }
    if (!where.is_secure()) co_return io_result<any_stream>{std::move(stream)};
    io_result<any_stream> secured = co_await secure(std::move(stream), where);
    co_return secured;
}

// RFC 9110, 9.3.6.
task<io_result<any_stream>> connection_pool::tunnel(any_stream through, const url& where) {
    http::request wish{http::method::connect, where.authority_with_port()};
    wish.set_authority(where.authority_with_port());
    if (options_.via->credentials) {
        http::fields written;
        http::set_basic_credentials(written, *options_.via->credentials);
        if (written.refused()) co_return errc::invalid_argument;
        wish.fields.set("proxy-authorization", written.value_or("authorization"));
    }
    http::client_connection asked{std::move(through), options_.exchange};
    const io_result<http::received_response> answer = co_await asked.send(wish);
    if (!answer.ok()) co_return answer.error();
    const auto said = static_cast<std::uint16_t>(http::number_of(answer.value().status));
    // RFC 9110, 15.5.8.
    if (said == 407) co_return error{errc::permission_denied, activity::tunnel, said};
    if (said / 100 != 2) co_return error{errc::connection_refused, activity::tunnel, said};
    http::upgraded_connection opened = asked.take_stream();
    // The server behind the tunnel does not speak first.
    if (!opened.early.empty()) co_return error{errc::malformed, activity::tunnel, said};
    co_return io_result<any_stream>{std::move(opened.stream)};
}

task<io_result<any_stream>> connection_pool::secure(any_stream below, const url& where) {
    if (!options_.settings) {
        // It reads what the system trusts: milliseconds that the loop does not have.
        tls::client_options wanted;
        wanted.protocols = {"http/1.1"};
        io_result<tls::context> made;
        const auto make = [&made, &wanted] { made = tls::context::client(std::move(wanted)); };
        const io_result<> ran = co_await blocking(make);
        if (!ran.ok()) co_return ran.error();
        if (!made.ok()) co_return made.error();
        if (!options_.settings) options_.settings = made.take();
    }
    io_result<tls::stream> secured =
        co_await tls::connect(std::move(below), options_.settings, where.host(), options_.tls);
    if (!secured.ok()) co_return secured.error();
    co_return io_result<any_stream>{any_stream{secured.take()}};
}

// The one that came last: the others may all be closed by now, and then no request has to find that out.
bool connection_pool::take_resting(lease& it) noexcept {
    end_overdue();
    auto& here = it.at_->second.resting_here;
    if (here.empty()) return false;
    const std::list<resting>::iterator last = here.back();
    it.connection = std::move(last->connection);
    it.reused = true;
    end_rest(last);
    return true;
}

void connection_pool::rest(lease& it) noexcept {
    if (closed_ || options_.idle_max == 0 || !it.connection.reusable()) {
        it.connection.close();
        return;
    }
    while (idle_count_ >= options_.idle_max) end_rest(resting_.begin());
    const time_point until = deadline_after(home_->now(), options_.idle_time_max);
    resting_.push_back(resting{std::move(it.connection), until, it.at_});
    it.at_->second.resting_here.push_back(std::prev(resting_.end()));
    ++idle_count_;
    if (!timer_.armed() && until != never) home_->arm(timer_, until);
}

void connection_pool::end_rest(std::list<resting>::iterator it) noexcept {
    const places::iterator at = it->at;
    at->second.resting_here.remove(it);
    resting_.erase(it);
    --idle_count_;
    if (at->second.users == 0 && at->second.resting_here.empty()) places_.erase(at);
}

void connection_pool::end_overdue() noexcept {
    const time_point now = home_->now();
    while (!resting_.empty() && resting_.front().until <= now) end_rest(resting_.begin());
    if (!resting_.empty() && !timer_.armed() && resting_.front().until != never) {
        home_->arm(timer_, resting_.front().until);
    }
}

void connection_pool::leave(places::iterator at) noexcept {
    if (--at->second.users == 0 && at->second.resting_here.empty()) places_.erase(at);
}

void connection_pool::close_idle() noexcept {
    while (!resting_.empty()) end_rest(resting_.begin());
}

void connection_pool::close() noexcept {
    closed_ = true;
    close_idle();
    if (home_ == nullptr) return;
    home_->disarm(timer_);
    if (std::exchange(timer_.posted, false)) home_->retract(timer_);
}

}  // namespace gyre::web
