// SPDX-License-Identifier: BSL-1.0
//
// c-ares, driven by a loop: see include/gyre/runtime/dns_query.hpp.
#include <gyre/runtime/dns_query.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/timer.hpp>
#include <gyre/runtime/handle.hpp>
#include <runtime/dns_records.hpp>
#include <runtime/resolv_conf.hpp>
#include <runtime/system_host.hpp>

#include <ares.h>
#include <arpa/nameser.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <optional>
#include <utility>

namespace gyre {
namespace {

constexpr unsigned short edns_size = 1'200;  // As glibc: what passes everywhere in one piece.

/// True if it says nothing of the name, so that the next server is to be asked.
bool may_another_know(int status) noexcept {
    const error it = error_of_status(status);
    return it == errc::server_failure || it == errc::timed_out;
}

bool has_port(const socket_address& it) noexcept {
    sockaddr head{};
    std::memcpy(&head, it.data, sizeof head);
    return head.sa_family == AF_INET || head.sa_family == AF_INET6;
}

/// @pre  `has_port(server)`.
ares_addr_port_node node_of(const socket_address& server) noexcept {
    ares_addr_port_node made{};
    sockaddr_in v4{};
    std::memcpy(&v4, server.data, sizeof v4);
    made.family = v4.sin_family;
    made.udp_port = made.tcp_port = ntohs(v4.sin_port);  // At the same place in both families.
    if (v4.sin_family == AF_INET) {
        made.addr.addr4 = v4.sin_addr;
    } else {
        sockaddr_in6 v6{};
        std::memcpy(&v6, server.data, sizeof v6);
        static_assert(sizeof made.addr.addr6 == sizeof v6.sin6_addr);
        std::memcpy(&made.addr.addr6, &v6.sin6_addr, sizeof v6.sin6_addr);
    }
    return made;
}

/// Why c-ares will not work at all, if it will not.
int library_status() noexcept {
    static const int status = ::ares_library_init(ARES_LIB_INIT_ALL);
    return status;
}

}  // namespace

dns_settings::dns_settings(std::unique_ptr<const resolv_conf> said) noexcept
    : said_{std::move(said)} {}
dns_settings::~dns_settings() = default;

const std::vector<std::string>& dns_settings::search() const noexcept { return said_->search; }
int dns_settings::dots_min() const noexcept { return said_->dots_min; }
bool dns_settings::no_aaaa() const noexcept { return said_->no_aaaa; }
bool dns_settings::one_at_a_time() const noexcept { return said_->one_at_a_time; }
bool dns_settings::no_top_level_names() const noexcept { return said_->no_top_level_names; }
bool dns_settings::read_once() const noexcept { return said_->read_once; }

io_result<std::shared_ptr<const dns_settings>> dns_settings::read(const dns_options& options) {
    return read(options, system_host::instance());
}

io_result<std::shared_ptr<const dns_settings>> dns_settings::read(const dns_options& options,
                                                                  host& from) {
    constexpr duration timeout_max = std::chrono::hours{1};
    constexpr int tries_max = 100;
    if (options.timeout < duration::zero() || options.timeout > timeout_max || options.tries < 0 ||
        options.tries > tries_max) {
        return error{errc::invalid_argument, activity::resolve};
    }
    if (const error failed = error_of_status(library_status())) return failed;

    std::string text;
    const int failed = from.read_settings(options.settings_file.c_str(), text);
    const bool is_missing = failed == -ENOENT || failed == -ENOTDIR || failed == -EISDIR;
    if (failed < 0 && !is_missing) return error::from_errno(-failed, activity::resolve);
    resolv_surroundings around;
    if (from.has_signals()) {  // Else the environment is another machine's.
        around.local_domain = ::secure_getenv("LOCALDOMAIN");
        around.options = ::secure_getenv("RES_OPTIONS");
    }
    static_cast<void>(from.read_settings("/proc/sys/kernel/hostname", around.host_name));
    around.host_name.resize(std::min(around.host_name.find('\n'), around.host_name.size()));
    auto said = std::make_unique<resolv_conf>(text, around);
    if (options.timeout > duration::zero()) said->timeout = options.timeout;
    if (options.tries > 0) said->tries = options.tries;
    if (!options.servers.empty()) said->servers.clear();
    for (const socket_address& each : options.servers) {
        if (!has_port(each)) return error{errc::address_family_not_supported, activity::resolve};
        said->servers.push_back(with_name_server_port(each));
    }
    return std::shared_ptr<const dns_settings>{new dns_settings{std::move(said)}};
}

/// What is said to one of the servers: a channel of c-ares that knows no other, and its sockets.
/// Does not move.
class dns_query::dialogue {
public:
    dialogue(conversation& of, io_context& on, const socket_address& server) noexcept
        : of_{of}, on_{on}, server_{server} {}
    dialogue(const dialogue&) = delete;
    dialogue& operator=(const dialogue&) = delete;
    ~dialogue() {
        if (channel_ != nullptr) ::ares_destroy(channel_);
    }

    /// Sends a query, however many are on their way already. It may have failed when this returns.
    void ask(const std::string& name, dns_record what, const resolv_conf& how) noexcept;

    /// Waits for whatever c-ares wants of its sockets.
    void wait() noexcept {
        for (watched& each : sockets_) {
            if (each.armed && each.armed->events == each.wanted) continue;
            disarm(each);
            if (each.wanted == 0) continue;
            each.armed.emplace(each.wanted, each, *this);
            if (on_.submit(*each.armed)) on_.post(*each.armed);
        }
    }

private:
    struct watched;

    struct readiness_wait final : wait_ready_operation {
        readiness_wait(std::uint32_t wanted, watched& on, dialogue& in) noexcept
            : wait_ready_operation{wanted}, socket{on}, of{in} {
            target = &on.socket.slot();
            run = [](work& item) noexcept {
                auto& self = static_cast<readiness_wait&>(static_cast<operation&>(item));
                self.of.is_ready(self.socket, self.result);
            };
        }

        watched& socket;
        dialogue& of;
    };

    struct watched {
        explicit watched(handle open) noexcept : socket{std::move(open)} {}

        handle socket;
        std::uint32_t wanted = 0;             // poll(2) bits that c-ares is interested in.
        std::optional<readiness_wait> armed;  // From submission until it has run.
    };

    [[nodiscard]] int open_channel(const resolv_conf& how) noexcept;
    void is_ready(watched& socket, std::int32_t events) noexcept;
    void disarm(watched& it) noexcept {
        if (!it.armed) return;
        on_.reap(*it.armed);
        it.armed.reset();
    }

    static void answered(void* self, int status, int, unsigned char* answer, int size) noexcept;

    // What c-ares does with sockets. Each returns -1 and sets errno, as the system calls do.

    template <class Result>
    [[nodiscard]] static Result as_a_call_returns(int result) noexcept {
        if (result >= 0) return result;
        errno = -result;
        return -1;
    }

    [[nodiscard]] static watched& find(void* self, ares_socket_t number) noexcept {
        std::list<watched>& sockets = static_cast<dialogue*>(self)->sockets_;
        const auto found = std::ranges::find_if(
            sockets, [number](const watched& each) { return each.socket.number() == number; });
        expects(found != sockets.end(), "c-ares uses sockets of its own");
        return *found;
    }

    static void interest_changed(void* self, ares_socket_t number, int readable,
                                 int writable) noexcept {
        find(self, number).wanted = static_cast<std::uint32_t>((readable != 0 ? POLLIN : 0) |
                                                               (writable != 0 ? POLLOUT : 0));
    }

    static ares_socket_t open(int family, int type, int, void* self) noexcept;

    static int close(ares_socket_t number, void* self) noexcept {
        auto& it = *static_cast<dialogue*>(self);
        watched& closed = find(self, number);
        it.disarm(closed);
        it.sockets_.remove_if([&closed](const watched& each) { return &each == &closed; });
        return 0;
    }

    // c-ares has no room for the zone of an address (RFC 4007 11), so ours is taken.
    static int connect(ares_socket_t number, const sockaddr*, ares_socklen_t, void* self) noexcept {
        watched& it = find(self, number);
        socket_address peer = static_cast<dialogue*>(self)->server_;
        address_operation op{opcode::set_peer, it.socket.slot(), peer};
        return as_a_call_returns<int>(it.socket.on().perform_now(op));
    }

    static ares_ssize_t receive(ares_socket_t number, void* into, size_t size, int, sockaddr* from,
                                ares_socklen_t* from_size, void* self) noexcept {
        // c-ares reads a socket until it is empty; a server that sends faster has to wait its turn.
        constexpr int per_item_max = 16;
        if (++static_cast<dialogue*>(self)->received_ > per_item_max)
            return as_a_call_returns<ares_ssize_t>(-EAGAIN);
        iovec part{into, size};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        const int result = transfer(opcode::receive_scatter, find(self, number), message, size);
        // The socket is connected, so no other peer is heard. The kernel may call the server by another
        // address than we do: 0.0.0.0 is 127.0.0.1 to it.
        if (from != nullptr && from_size != nullptr) {
            const socket_address& server = static_cast<dialogue*>(self)->server_;
            *from_size = std::min<ares_socklen_t>(*from_size, server.size);
            std::memcpy(from, server.data, *from_size);
        }
        return as_a_call_returns<ares_ssize_t>(result);
    }

    static ares_ssize_t send(ares_socket_t number, const iovec* parts, int count,
                             void* self) noexcept {
        std::size_t size = 0;
        for (int each = 0; each < count; ++each) size += parts[each].iov_len;
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(parts);  // sendmsg(2) does not write through it.
        message.msg_iovlen = static_cast<std::size_t>(count);
        return as_a_call_returns<ares_ssize_t>(
            transfer(opcode::send_gather, find(self, number), message, size));
    }

    [[nodiscard]] static int transfer(opcode what, watched& on, msghdr& message,
                                      std::size_t size) noexcept {
        message_operation op{what};
        op.target = &on.socket.slot();
        op.message = &message;
        op.size = size;
        return on.socket.on().perform_now(op);
    }

    conversation& of_;
    io_context& on_;
    const socket_address& server_;
    ares_channel channel_ = nullptr;
    std::list<watched> sockets_;  // Where they are while they are waited for.
    int received_ = 0;            // By calls of this item.
};

/// Asks the servers in turn, each for its time, until one of them answers. Does not move.
class dns_query::conversation final : private timer, private work {
public:
    conversation(dns_query& of, io_context& on) noexcept
        : timer{[](timer& it) noexcept { static_cast<conversation&>(it).due(); }},
          work{[](work& it) noexcept { static_cast<conversation&>(it).time_has_passed(); }},
          of_{of},
          on_{on},
          dialogues_(how().servers.size()) {
        if (how().rotate) first_ = on.host().entropy() % dialogues_.size();
    }
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;
    ~conversation() {
        over_ = true;  // What c-ares says of the query while it forgets it is no answer.
        dialogues_.clear();
        end_wait();
    }

    /// False if it is over already; then `outcome()` tells what came of it.
    [[nodiscard]] bool begin() noexcept {
        ask_next();
        if (over_) return false;
        wait();
        return true;
    }

    [[nodiscard]] io_result<dns_answer> outcome() noexcept { return std::move(outcome_); }

    // From c-ares, by a dialogue.

    void answered(dialogue& by, int status, const unsigned char* answer, int size) noexcept {
        if (over_) return;
        if (status == ARES_SUCCESS) status = status_of_code(answer[3] & 0xf);
        heard_ = heard_ || status != ARES_ECONNREFUSED;
        if (may_another_know(status)) {
            if (failed_ != errc::timed_out) failed_ = error_of_status(status);
            turn_over_ = turn_over_ || &by == turn_;
            return;
        }
        dns_answer read;
        if (status == ARES_SUCCESS) status = read_answer(of_.what_, answer, size, read);
        over_ = true;
        if (const error failed = error_of_status(status)) {
            outcome_ = failed;
        } else {
            outcome_ = std::move(read);
        }
    }

    /// The server `by` has its time from now on, if it is its turn: it says more over TCP.
    void wait_anew_for(dialogue& by) noexcept {
        if (&by == turn_) begin_wait();
    }

    /// c-ares has done what there was to do.
    void go_on() noexcept {
        if (!over_ && turn_over_) ask_next();
        if (over_) {
            of_.end(std::move(outcome_));  // Destroys this.
        } else {
            wait();
        }
    }

    void end(error failed) noexcept { of_.end(failed); }  // Destroys this.

private:
    [[nodiscard]] const resolv_conf& how() const noexcept { return *of_.how_->said_; }

    // Asks the next server that can be asked, or is over.
    void ask_next() noexcept {
        const std::size_t turns = dialogues_.size() * static_cast<std::size_t>(how().tries);
        for (turn_over_ = true; turn_over_ && !over_ && turns_ < turns; ++turns_) {
            const std::size_t number = (first_ + turns_) % dialogues_.size();
            std::unique_ptr<dialogue>& next = dialogues_[number];
            if (next == nullptr)
                next = std::make_unique<dialogue>(*this, on_, how().servers[number]);
            turn_ = next.get();
            turn_over_ = false;
            begin_wait();
            next->ask(of_.name_, of_.what_, how());
        }
        if (over_ || !turn_over_) return;
        over_ = true;
        of_.unreached_ = !heard_;
        outcome_ = failed_;
    }

    void wait() noexcept {
        for (const std::unique_ptr<dialogue>& each : dialogues_) {
            if (each != nullptr) each->wait();
        }
    }

    void begin_wait() noexcept {
        end_wait();
        on_.arm(*this, deadline_after(on_.read_clock(), how().timeout));
    }
    void end_wait() noexcept {
        on_.disarm(*this);
        if (std::exchange(due_, false)) on_.retract(*this);
    }
    void due() noexcept {
        due_ = true;
        on_.post(static_cast<work&>(*this));
    }
    void time_has_passed() noexcept {
        due_ = false;
        heard_ = turn_over_ = true;
        failed_ = error{errc::timed_out, activity::resolve};
        go_on();
    }

    dns_query& of_;
    io_context& on_;
    std::vector<std::unique_ptr<dialogue>>
        dialogues_;                   // One for each server; null until it is asked.
    std::size_t first_ = 0;           // The server to begin with.
    std::size_t turns_ = 0;           // So many have been begun.
    const dialogue* turn_ = nullptr;  // Whose turn it is.
    error failed_;                    // Of those who were asked.
    io_result<dns_answer> outcome_;
    bool turn_over_ = false;  // The server whose turn it is cannot answer.
    bool heard_ = false;      // A server may have had the question.
    bool over_ = false;       // There is an outcome, or none is wanted any more.
    bool due_ = false;        // The timer has fired, and its item is on its way.
};

int dns_query::dialogue::open_channel(const resolv_conf& how) noexcept {
    char lookups[] = "b";                // Files are the resolver's business.
    char settings_file[] = "/dev/null";  // Read by resolv_conf.cpp.
    in_addr placeholder{};
    ares_options options{};
    options.flags = ARES_FLAG_NOCHECKRESP | ARES_FLAG_NOSEARCH;  // Each answer is ours to judge.
    if (how.over_tcp) options.flags |= ARES_FLAG_USEVC;
    if (how.edns) options.flags |= ARES_FLAG_EDNS;
    options.timeout = std::numeric_limits<int>::max();  // Turns are the conversation's.
    options.tries = 1;
    options.servers = &placeholder;
    options.nservers = 1;
    options.lookups = lookups;
    options.resolvconf_path = settings_file;
    options.ednspsz = edns_size;
    options.sock_state_cb = &interest_changed;
    options.sock_state_cb_data = this;
    // Whatever has a value is not looked for in files and in the environment.
    const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS |
                     ARES_OPT_SERVERS | ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS | ARES_OPT_SORTLIST |
                     ARES_OPT_RESOLVCONF | ARES_OPT_EDNSPSZ | ARES_OPT_SOCK_STATE_CB;
    const int status = ::ares_init_options(&channel_, &options, mask);
    if (status != ARES_SUCCESS) {
        channel_ = nullptr;
        return status;
    }
    static constexpr ares_socket_functions calls{&open, &close, &connect, &receive, &send};
    ::ares_set_socket_functions(channel_, &calls, this);
    ares_addr_port_node node = node_of(server_);
    return ::ares_set_servers_ports(channel_, &node);
}

void dns_query::dialogue::ask(const std::string& name, dns_record what,
                              const resolv_conf& how) noexcept {
    int status = channel_ == nullptr ? open_channel(how) : ARES_SUCCESS;
    unsigned char* query = nullptr;
    int size = 0;
    if (status == ARES_SUCCESS) {
        const auto id = static_cast<unsigned short>(on_.host().entropy());
        status = ::ares_create_query(name.c_str(), ns_c_in, type_of(what), id, 1, &query, &size,
                                     how.edns ? edns_size : 0);
    }
    if (status != ARES_SUCCESS) return of_.answered(*this, status, nullptr, 0);
    constexpr unsigned char authentic_data = 0x20;  // RFC 6840 5.7: answers may say so.
    if (how.trust_ad) query[3] |= authentic_data;
    ::ares_send(channel_, query, size, &answered, this);
    ::ares_free_string(query);
}

void dns_query::dialogue::answered(void* self, int status, int, unsigned char* answer,
                                   int size) noexcept {
    auto& it = *static_cast<dialogue*>(self);
    it.of_.answered(it, status, answer, size);
}

ares_socket_t dns_query::dialogue::open(int family, int type, int, void* self) noexcept {
    auto& it = *static_cast<dialogue*>(self);
    open_socket_operation op{family, type | SOCK_NONBLOCK};
    const int number = it.on_.host().perform_now(op);
    if (number < 0) return as_a_call_returns<ares_socket_t>(number);
    watched& made = it.sockets_.emplace_back(handle{it.on_.host(), number});
    made.socket.slot().nonblocking = true;
    made.socket.slot().datagrams = type == SOCK_DGRAM;
    made.socket.slot().family = static_cast<std::uint16_t>(family);
    if (type == SOCK_STREAM) it.of_.wait_anew_for(it);
    return number;
}

// An item of the loop: c-ares has something to do.
void dns_query::dialogue::is_ready(watched& socket, std::int32_t events) noexcept {
    const ares_socket_t number = socket.socket.number();
    socket.armed.reset();
    // The loop waits for nothing more.
    if (events < 0) return of_.end(error::from_errno(-events, activity::resolve));
    const auto any_of = [events](int wanted) { return (events & wanted) != 0; };
    received_ = 0;
    ::ares_process_fd(channel_, any_of(POLLIN | POLLERR | POLLHUP) ? number : ARES_SOCKET_BAD,
                      any_of(POLLOUT | POLLERR | POLLHUP) ? number : ARES_SOCKET_BAD);
    of_.go_on();
}

dns_query::dns_query(std::shared_ptr<const dns_settings> how, std::string name,
                     dns_record what) noexcept
    : how_{std::move(how)}, name_{std::move(name)}, what_{what} {
    expects(how_ != nullptr, "settings to ask by");
}

dns_query::dns_query(dns_query&& other) noexcept
    : how_{std::move(other.how_)}, name_{std::move(other.name_)}, what_{other.what_} {}

dns_query::~dns_query() {
    if (with_ != nullptr) back_.env().chain->leave();
}

bool dns_query::await_suspend(std::coroutine_handle<> waiter, const environment* given) noexcept {
    back_.begin(waiter, *given);
    if (given->chain->stopping()) {
        outcome_ = error{errc::canceled, activity::resolve};
    } else if (name_.find('\0') != std::string::npos) {
        outcome_ = error{errc::malformed, activity::resolve};
    } else {
        with_ = std::make_unique<conversation>(*this, context_of(*given));
        if (with_->begin()) {
            given->chain->enter(*this);
            return true;
        }
        outcome_ = with_->outcome();
        with_.reset();
    }
    if (given->loop->spend()) return false;
    back_.post();
    return true;
}

void dns_query::request(stop_level level) noexcept {
    if (level >= stop_level::stop) end(error{errc::canceled, activity::resolve});
}

void dns_query::end(io_result<dns_answer> outcome) noexcept {
    outcome_ = std::move(outcome);
    with_.reset();
    back_.env().chain->leave();
    back_.post();
}

}  // namespace gyre
