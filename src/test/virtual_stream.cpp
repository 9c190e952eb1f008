// SPDX-License-Identifier: BSL-1.0
//
// Connections: see virtual_stream.hpp. What is said of Linux is in tcp(7), unix(7) and RFC 9293.
#include <test/virtual_stream.hpp>

#include <test/virtual_host.hpp>
#include <test/virtual_network.hpp>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace gyre::test {
namespace {

constexpr duration first_repetition = std::chrono::seconds{1};  // RFC 6298 2.1
constexpr duration unreachable_after = std::chrono::seconds{3};
constexpr std::size_t segment_max = 64 * 1024;

// Where it leads: the unspecified address is our own, and an IPv4 address may stand in an IPv6 one.
endpoint destination(const endpoint& to) {
    if (to.kind() == endpoint::family::local) return to;
    const ip_address address = to.address().unmapped();
    if (!address.is_unspecified()) return {address, to.port()};
    if (address.is_v4()) return {ipv4::loopback(), to.port()};
    return {ipv6::loopback(), to.port()};
}

}  // namespace

void virtual_stream::join(const std::shared_ptr<virtual_stream>& one,
                          const std::shared_ptr<virtual_stream>& other) {
    for (const auto& [end, peer] : {std::pair{one, other}, std::pair{other, one}}) {
        end->peer_end_ = peer;
        end->peer_host_ = &peer->host();
        end->state_ = state::connected;
    }
}

void virtual_stream::join_as_pipe(const std::shared_ptr<virtual_stream>& reader,
                                  const std::shared_ptr<virtual_stream>& writer) {
    join(reader, writer);
    reader->pipe_ = writer->pipe_ = true;
    reader->writing_ended_ = reader->end_sent_ = true;
    writer->reading_ended_ = true;
}

// Beginnings.

int virtual_stream::listen(int backlog) {
    if (state_ == state::listening) {
        backlog_ = static_cast<std::size_t>(std::max(backlog, 0));
        return 0;
    }
    if (state_ != state::fresh) return -EINVAL;
    if (family() == AF_UNIX && local_.kind() == endpoint::family::none) return -EINVAL;
    if (family() != AF_UNIX && (local_.kind() == endpoint::family::none || local_.port() == 0)) {
        const ip_address any = virtual_host::unspecified(family());
        const std::uint16_t port = host().free_port(type());
        local_ = endpoint{any, port};
        host().enter_port(*this);
    }
    const int most = host().options().backlog_connections_max;
    backlog_ = static_cast<std::size_t>(std::clamp(backlog, 0, most));
    state_ = state::listening;
    return 0;
}

int virtual_stream::accept(std::shared_ptr<virtual_socket>& taken) {
    if (state_ != state::listening) return -EINVAL;
    if (queue_.empty()) return -EAGAIN;
    taken = queue_.front();
    queue_.pop_front();
    return 0;
}

int virtual_stream::connect(const endpoint& to, bool begun) {
    if (begun && state_ == state::connecting) return -EAGAIN;
    if (begun && state_ == state::connected) return 0;
    if (failure_ != 0) return take_failure();
    if (state_ == state::connecting) return -EALREADY;
    if (state_ == state::connected) return -EISCONN;
    if (state_ != state::fresh) return -EINVAL;
    if (to.address_family() != family()) return -EAFNOSUPPORT;
    if (family() == AF_UNIX) return connect_here(to);

    const endpoint target = destination(to);
    if (target.port() == 0) return -ECONNREFUSED;
    if (const int failed = bind_somewhere(target); failed != 0) return failed;
    peer_ = as_seen_by(family(), target);
    peer_host_ = host().network().find(host(), target.address());
    state_ = state::connecting;
    if (peer_host_ == nullptr) {
        host().time().after(unreachable_after, [it = self()] { it->refused(EHOSTUNREACH); });
    } else {
        host().time().after(host().options().connect_limit,
                            [it = self()] { it->refused(ETIMEDOUT); });
        knock(0);
    }
    if (state_ == state::connecting) return -EAGAIN;
    return failure_ != 0 ? take_failure() : 0;
}

int virtual_stream::connect_here(const endpoint& to) {
    std::shared_ptr<virtual_socket> found;
    if (const int failed = host().find_name(to, found); failed != 0) return failed;
    auto* const there = static_cast<virtual_stream*>(found.get());
    if (there->type() != type()) return -EPROTOTYPE;
    if (there->state_ != state::listening) return -ECONNREFUSED;
    // As the library's own hosts say it: nothing tells when there is room.
    if (there->queue_.size() > there->backlog_) return -ENOBUFS;
    peer_ = to;
    peer_host_ = &host();
    there->answer(self());
    return 0;
}

// Asks for a connection, and again if that was lost or the acceptor had no room.
void virtual_stream::knock(int attempt) {
    if (state_ != state::connecting) return;
    virtual_network& network = host().network();
    host().time().at(host().time().now() + first_repetition * (1 << attempt),
                     [it = self(), attempt] { it->knock(std::min(attempt + 1, 6)); });
    if (network.is_cut(host(), *peer_host_)) return;
    const duration takes = network.time_of_stream(host(), *peer_host_, 0);
    host().time().after(takes, [it = self()] {
        if (it->state_ != state::connecting) return;
        if (it->host().network().is_cut(it->host(), *it->peer_host_)) return;
        const auto there = it->find_listener(*it->peer_host_, destination(it->peer_));
        if (there != nullptr) return there->answer(it);
        const duration back = it->host().network().time_of_stream(*it->peer_host_, it->host(), 0);
        it->host().time().after(back, [it] {
            if (!it->host().network().is_cut(*it->peer_host_, it->host()))
                it->refused(ECONNREFUSED);
        });
    });
}

// Of several that share a port, one.
std::shared_ptr<virtual_stream> virtual_stream::find_listener(virtual_host& on,
                                                              const endpoint& to) const {
    std::vector<std::shared_ptr<virtual_stream>> found;
    for (virtual_socket* const each : on.bound_to_port(to.port(), SOCK_STREAM)) {
        auto* const it = static_cast<virtual_stream*>(each);
        if (it->state_ == state::listening && it->is_at(to)) found.push_back(it->self());
    }
    return found.empty() ? nullptr : on.choose(std::move(found));
}

// As the listener. Where there is no room the caller is not answered, and will come again.
void virtual_stream::answer(const std::shared_ptr<virtual_stream>& caller) {
    if (queue_.size() > backlog_ || std::exchange(caller->answered_, true)) return;
    auto made = std::make_shared<virtual_stream>(host(), family(), type());
    copy_options_to(*made);
    if (family() == AF_UNIX) {
        made->local_ = local_;
        made->peer_ = caller->local_;
    } else {
        made->local_ = as_seen_by(family(), destination(caller->peer_));
        made->peer_ = as_seen_by(family(), destination(caller->local_));
    }
    made->peer_end_ = caller;
    made->peer_host_ = &caller->host();
    made->state_ = state::connected;
    if (family() != AF_UNIX) host().enter_port(*made);
    queue_.push_back(made);
    changed();
    made->tell(caller, [caller, made] { caller->established(made); });
}

// What is said to `to` without bytes; until it has got there it is repeated whenever a link was healed.
void virtual_stream::tell(const std::shared_ptr<virtual_stream>& to, std::function<void()> heard) {
    virtual_network& network = host().network();
    const auto again = [here = self(), to, heard] { here->tell(to, heard); };
    if (network.is_cut(host(), to->host())) return network.when_healed(again);
    const duration takes = network.time_of_stream(host(), to->host(), 0);
    last_arrival_ = deadline_after(host().time().now(), takes);
    host().time().after(takes, [here = self(), to, heard = std::move(heard), again] {
        virtual_network& way = here->host().network();
        if (way.is_cut(here->host(), to->host())) return way.when_healed(again);
        heard();
    });
}

void virtual_stream::established(const std::shared_ptr<virtual_stream>& with) {
    // It may have given up, or two of its requests were answered.
    if (closed_ || state_ == state::connected || state_ == state::over) return with->on_reset();
    if (with->state_ != state::connected) return refused(ECONNRESET);
    peer_end_ = with;
    state_ = state::connected;
    with->push();
    changed();
}

void virtual_stream::refused(int why) {
    if (state_ != state::connecting) return;
    state_ = state::over;
    failure_ = why;
    changed();
}

// Transfers.

received virtual_stream::receive(memory_parts into, reading how) {
    if (state_ == state::connecting) return {-EAGAIN, {}, false};
    if (state_ == state::fresh || state_ == state::listening) return {-ENOTCONN, {}, false};
    const std::size_t there = unread_.size() - read_;
    if (there == 0) {
        if (end_received_ || reading_ended_) return {0, {}, false};
        if (failure_ != 0) return {take_failure(), {}, false};
        return {state_ == state::over ? 0 : -EAGAIN, {}, false};
    }
    std::size_t taken = 0;
    for (const auto& [data, size] : into) {
        const std::size_t some = std::min(size, there - taken);
        if (some > 0) std::memcpy(data, unread_.data() + read_ + taken, some);
        taken += some;
    }
    if (how == reading::looks) return {static_cast<int>(taken), {}, false};
    read_ += taken;
    if (2 * read_ >= unread_.size()) {  // Each byte is moved once, on average, and none is kept.
        unread_.erase(unread_.begin(), unread_.begin() + static_cast<std::ptrdiff_t>(read_));
        read_ = 0;
    }
    if (peer_end_ != nullptr) peer_end_->push();
    return {static_cast<int>(taken), {}, false};
}

std::size_t virtual_stream::room_to_send() const noexcept {
    const std::size_t held = unsent_.size() + bytes_under_way_;
    const std::size_t most = buffer_size(SO_SNDBUF);
    return most - std::min(most, held);
}

int virtual_stream::send(memory_parts from, const endpoint&) {
    if (state_ == state::connecting) return -EAGAIN;
    if (failure_ != 0) return take_failure();
    if (state_ != state::connected || writing_ended_) return -EPIPE;
    if (family() == AF_UNIX && peer_end_->closed_) return -EPIPE;
    std::size_t room = room_to_send();
    if (room == 0 && gyre::test::size_of(from) > 0) return -EAGAIN;
    std::size_t taken = 0;
    for (const auto& [data, size] : from) {
        const std::size_t some = std::min(size, room);
        unsent_.insert(unsent_.end(), data, data + some);
        taken += some;
        room -= some;
    }
    push();
    return static_cast<int>(taken);
}

// Sends what the peer has room for.
void virtual_stream::push() {
    if (state_ != state::connected || stalled_ || end_sent_ || peer_end_ == nullptr) return;
    if (peer_end_->state_ == state::connecting) return;  // It will ask.
    virtual_network& network = host().network();
    while (!unsent_.empty() || writing_ended_) {
        if (network.is_cut(host(), *peer_host_)) return stall();
        const std::size_t most = peer_end_->buffer_size(SO_RCVBUF);
        const std::size_t held = peer_end_->unread_.size() - peer_end_->read_ + bytes_under_way_;
        const std::size_t room = peer_end_->closed_ ? segment_max : most - std::min(most, held);
        if (room == 0 && !unsent_.empty()) return;
        const std::size_t size = std::min({unsent_.size(), room, segment_max});
        const auto end = unsent_.begin() + static_cast<std::ptrdiff_t>(size);
        under_way_.push_back({{unsent_.begin(), end}, false});
        unsent_.erase(unsent_.begin(), end);
        bytes_under_way_ += size;
        end_sent_ = under_way_.back().last = writing_ended_ && unsent_.empty();
        const time_point now = host().time().now();
        const time_point due =
            deadline_after(now, network.time_of_stream(host(), *peer_host_, size));
        last_arrival_ = std::max(last_arrival_, due);
        host().time().after(last_arrival_ - now, [it = self(), sent_in = epoch_] {
            if (it->epoch_ == sent_in) it->arrive();
        });
        if (end_sent_ || stalled_ || state_ != state::connected) return;
    }
}

// Waits for the link to heal, but not for ever.
void virtual_stream::stall() {
    stalled_ = true;
    const unsigned name = ++stalls_;
    wait_for_link(name);
    host().time().after(host().options().silence_limit, [it = self(), name] {
        if (it->stalled_ && it->stalls_ == name) it->end(ETIMEDOUT);
    });
}

// Another one may have been healed.
void virtual_stream::wait_for_link(unsigned stall) {
    host().network().when_healed([it = self(), stall] {
        if (!it->stalled_ || it->stalls_ != stall) return;
        if (it->host().network().is_cut(it->host(), *it->peer_host_))
            return it->wait_for_link(stall);
        it->stalled_ = false;
        it->push();
    });
}

// The first of what is under way is there.
void virtual_stream::arrive() {
    if (host().network().is_cut(host(), *peer_host_)) {
        // Lost, and sent again when it can be.
        std::vector<std::byte> all;
        for (segment& each : under_way_) {
            all.insert(all.end(), each.bytes.begin(), each.bytes.end());
        }
        under_way_.clear();
        bytes_under_way_ = 0;
        ++epoch_;
        end_sent_ = false;
        unsent_.insert(unsent_.begin(), all.begin(), all.end());
        return stall();
    }
    const segment it = std::move(under_way_.front());
    under_way_.pop_front();
    bytes_under_way_ -= it.bytes.size();
    acknowledged_ += it.bytes.size();
    const std::shared_ptr<virtual_stream> to = peer_end_;
    if (to == nullptr) return;
    const bool is_deaf = to->closed_ || to->state_ != state::connected;
    if (is_deaf && !it.bytes.empty()) {
        to->let_go();
        return to->tell(self(), [here = self()] { here->on_reset(); });
    }
    if (!to->reading_ended_)
        to->unread_.insert(to->unread_.end(), it.bytes.begin(), it.bytes.end());
    if (it.last) to->end_received_ = true;
    to->changed();
    if (closed_ && it.last) return let_go();
    changed();
    push();
}

int virtual_stream::shutdown(int how) {
    if (state_ == state::listening)
        return how == SHUT_WR ? 0 : (state_ = state::over, changed(), 0);
    if (state_ != state::connected) return -ENOTCONN;
    if (how != SHUT_WR) reading_ended_ = true;
    if (how != SHUT_RD) writing_ended_ = true;
    push();
    changed();
    return 0;
}

// Ends.

void virtual_stream::close() {
    virtual_socket::close();
    if (family() == AF_UNIX) host().leave_name(*this);
    if (family() != AF_UNIX) host().leave_port(*this);
    for (const auto& each : queue_) {
        each->virtual_socket::close();
        host().leave_port(*each);
        each->reset_peer();
    }
    queue_.clear();
    if (state_ != state::connected) {
        state_ = state::over;
        return;
    }
    if (pipe_ && end_sent_) {  // Its reader.
        const std::shared_ptr<virtual_stream> writer = peer_end_;
        let_go();
        return writer->changed();
    }
    std::array<std::byte, sizeof(linger)> raw{};
    linger at_once{};
    static_cast<void>(get_option(SOL_SOCKET, SO_LINGER, raw));
    std::memcpy(&at_once, raw.data(), sizeof at_once);
    const bool abort = at_once.l_onoff != 0 && at_once.l_linger == 0;
    // RFC 2525 2.17: what was not read is told to its sender as a reset.
    if (abort || unread_.size() > read_) return reset_peer();
    host().network().keep(shared_from_this());
    writing_ended_ = true;
    push();
    // A local peer is told of both directions at once: its writes fail from now on.
    if (family() == AF_UNIX && peer_end_ != nullptr) peer_end_->changed();
}

void virtual_stream::break_off() {
    for (const auto& each : queue_) each->break_off();
    if (state_ == state::connected) end(ECONNRESET);
}

void virtual_stream::reset_peer() {
    const std::shared_ptr<virtual_stream> to = peer_end_;
    const std::shared_ptr<virtual_stream> here = self();
    let_go();
    if (to == nullptr || peer_host_ == nullptr) return;
    virtual_network& network = host().network();
    if (network.is_cut(host(), *peer_host_)) return;
    const duration takes = network.time_of_stream(host(), *peer_host_, 0);
    host().time().after(takes, [to, here] {
        if (!to->host().network().is_cut(here->host(), to->host())) to->on_reset();
    });
}

// RFC 9293 3.10.7.4: whatever is queued is dropped.
void virtual_stream::on_reset() {
    if (state_ != state::connected) return;
    end(end_received_ ? EPIPE : ECONNRESET);
}

void virtual_stream::end(int why) {
    unread_.clear();
    read_ = 0;
    failure_ = why;
    let_go();
    changed();
}

// Nothing passes between the ends any more.
void virtual_stream::let_go() {
    const std::shared_ptr<virtual_stream> here = self();
    state_ = state::over;
    stalled_ = false;
    unsent_.clear();
    under_way_.clear();
    bytes_under_way_ = 0;
    ++epoch_;
    peer_end_.reset();
    host().network().forget(*this);
}

// Questions.

std::uint32_t virtual_stream::ready() const noexcept {
    if (state_ == state::listening) return queue_.empty() ? 0 : POLLIN;
    if (state_ == state::connecting) return 0;
    if (state_ == state::fresh) return POLLOUT | POLLHUP;
    std::uint32_t events = 0;
    const bool over = state_ == state::over;
    if (unread_.size() > read_ || end_received_ || reading_ended_ || over) events |= POLLIN;
    if (over || writing_ended_ || room_to_send() > 0) events |= POLLOUT;
    if (family() == AF_UNIX && peer_end_ != nullptr && peer_end_->closed_) events |= POLLOUT;
    if (end_received_ || over) events |= POLLRDHUP;
    if (over || (end_received_ && writing_ended_)) events |= POLLHUP;
    if (failure_ != 0) events |= POLLERR;
    return events;
}

std::size_t virtual_stream::bytes_held() const noexcept {
    std::size_t sum = unread_.size() - read_ + unsent_.size() + bytes_under_way_;
    for (const auto& each : queue_) sum += each->bytes_held();
    return sum;
}

std::size_t virtual_stream::bytes_untaken() const noexcept {
    const std::size_t unread =
        peer_end_ != nullptr ? peer_end_->unread_.size() - peer_end_->read_ : 0;
    return unsent_.size() + bytes_under_way_ + unread;
}

}  // namespace gyre::test
