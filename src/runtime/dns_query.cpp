// SPDX-License-Identifier: BSL-1.0
//
// c-ares, driven by a loop: see include/gyre/runtime/dns_query.hpp.
#include <gyre/runtime/dns_query.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/timer.hpp>
#include <gyre/runtime/handle.hpp>

#include <ares.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <list>
#include <optional>
#include <utility>

namespace gyre {
namespace {

// Servers that cannot be reached, that fail and that refuse are one to c-ares 1.18, which goes on to the next
// in each case.
error error_of_status(int status) noexcept {
    const auto during = [](errc code) { return error{code, activity::resolve}; };
    switch (status) {
        case ARES_SUCCESS: return {};
        case ARES_ENODATA: return during(errc::no_data);
        case ARES_ENOTFOUND: return during(errc::host_not_found);
        case ARES_ETIMEOUT: return during(errc::timed_out);
        case ARES_ECONNREFUSED:
        case ARES_EREFUSED:
        case ARES_EFORMERR:
        case ARES_ENOTIMP:
        case ARES_ESERVFAIL: return during(errc::server_failure);
        case ARES_ENOMEM: return during(errc::not_enough_memory);
        case ARES_EFILE: return during(errc::permission_denied);
        case ARES_ECANCELLED:
        case ARES_EDESTRUCTION: return during(errc::canceled);
        default: return during(errc::malformed);
    }
}

socket_address address_of(int family, const char* bytes) noexcept {
    socket_address made;
    if (family == AF_INET6) {
        sockaddr_in6 it{};
        it.sin6_family = AF_INET6;
        std::memcpy(&it.sin6_addr, bytes, sizeof it.sin6_addr);
        std::memcpy(made.data, &it, sizeof it);
        made.size = sizeof it;
    } else {
        sockaddr_in it{};
        it.sin_family = AF_INET;
        std::memcpy(&it.sin_addr, bytes, sizeof it.sin_addr);
        std::memcpy(made.data, &it, sizeof it);
        made.size = sizeof it;
    }
    return made;
}

/// What c-ares allocated for an answer to A, AAAA or PTR.
class host_entry {
public:
    host_entry() noexcept = default;
    host_entry(const host_entry&) = delete;
    host_entry& operator=(const host_entry&) = delete;
    ~host_entry() {
        if (it_ != nullptr) ::ares_free_hostent(it_);
    }

    [[nodiscard]] hostent** into() noexcept { return &it_; }

    void add_addresses(std::vector<socket_address>& to) const {
        for (char** each = it_->h_addr_list; *each != nullptr; ++each) {
            to.push_back(address_of(it_->h_addrtype, *each));
        }
    }
    // Of several names c-ares lists all as aliases, and one of them again as the name.
    void add_names(std::vector<std::string>& to) const {
        for (char** each = it_->h_aliases; *each != nullptr; ++each) to.emplace_back(*each);
        const std::string name = it_->h_name == nullptr ? "" : it_->h_name;
        if (!name.empty() && std::ranges::find(to, name) == to.end()) to.push_back(name);
    }

private:
    hostent* it_ = nullptr;
};

int read_services(const unsigned char* answer, int size, std::vector<dns_service>& into) {
    ares_srv_reply* first = nullptr;
    const int status = ::ares_parse_srv_reply(answer, size, &first);
    if (status != ARES_SUCCESS) return status;
    for (const ares_srv_reply* each = first; each != nullptr; each = each->next) {
        dns_service one;
        one.priority = each->priority;
        one.weight = each->weight;
        one.port = each->port;
        one.target = each->host;
        into.push_back(std::move(one));
    }
    ::ares_free_data(first);
    return ARES_SUCCESS;
}

int read_answer(dns_record what, const unsigned char* answer, int size, dns_answer& into) {
    host_entry found;
    int status = ARES_SUCCESS;
    switch (what) {
        case dns_record::a:
            status = ::ares_parse_a_reply(answer, size, found.into(), nullptr, nullptr);
            if (status == ARES_SUCCESS) found.add_addresses(into.addresses);
            return status;
        case dns_record::aaaa:
            status = ::ares_parse_aaaa_reply(answer, size, found.into(), nullptr, nullptr);
            if (status == ARES_SUCCESS) found.add_addresses(into.addresses);
            return status;
        case dns_record::srv: return read_services(answer, size, into.services);
        case dns_record::ptr:
            status = ::ares_parse_ptr_reply(answer, size, nullptr, 0, AF_INET, found.into());
            if (status == ARES_SUCCESS) found.add_names(into.names);
            return status;
    }
    return ARES_EBADRESP;
}

bool is_empty(const dns_answer& it) noexcept {
    return it.addresses.empty() && it.services.empty() && it.names.empty();
}

int type_of(dns_record what) noexcept {
    switch (what) {
        case dns_record::a: return ns_t_a;
        case dns_record::aaaa: return ns_t_aaaa;
        case dns_record::srv: return ns_t_srv;
        case dns_record::ptr: return ns_t_ptr;
    }
    return ns_t_invalid;
}

/// Why c-ares will not work at all, if it will not.
int library_status() noexcept {
    static const int status = ::ares_library_init(ARES_LIB_INIT_ALL);
    return status;
}

}  // namespace

// A channel keeps its own copy of all of it.
struct dns_settings::storage {
    storage() noexcept = default;
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    ~storage() { ::ares_destroy_options(&options); }

    [[nodiscard]] bool add(const socket_address& server) {
        ares_addr_port_node node{};
        sockaddr head{};
        std::memcpy(&head, server.data, sizeof head);
        if (head.sa_family == AF_INET) {
            sockaddr_in it{};
            std::memcpy(&it, server.data, sizeof it);
            node.addr.addr4 = it.sin_addr;
            node.udp_port = ntohs(it.sin_port);
        } else if (head.sa_family == AF_INET6) {
            sockaddr_in6 it{};
            std::memcpy(&it, server.data, sizeof it);
            static_assert(sizeof node.addr.addr6 == sizeof it.sin6_addr);
            std::memcpy(&node.addr.addr6, &it.sin6_addr, sizeof it.sin6_addr);
            node.udp_port = ntohs(it.sin6_port);
        } else {
            return false;
        }
        node.family = head.sa_family;
        node.tcp_port = node.udp_port;
        servers.push_back(node);
        return true;
    }

    void link() noexcept {
        for (std::size_t each = 0; each < servers.size(); ++each) {
            servers[each].next = each + 1 < servers.size() ? &servers[each + 1] : nullptr;
        }
    }

    ares_options options{};
    int mask = 0;
    std::vector<ares_addr_port_node> servers;  // A list, too: each points to the next.
};

dns_settings::dns_settings() : storage_{std::make_unique<storage>()} {}
dns_settings::~dns_settings() = default;

io_result<std::shared_ptr<const dns_settings>> dns_settings::read(const dns_options& options) {
    constexpr duration timeout_max = std::chrono::hours{1};
    constexpr int tries_max = 100;
    if (options.timeout < duration::zero() || options.timeout > timeout_max || options.tries < 0 ||
        options.tries > tries_max) {
        return error{errc::invalid_argument, activity::resolve};
    }
    if (const error failed = error_of_status(library_status())) return failed;

    char lookups[] = "b";  // Files are the resolver's business.
    std::string path = options.settings_file;
    ares_options wanted{};
    wanted.lookups = lookups;
    wanted.resolvconf_path = path.data();
    int mask = ARES_OPT_FLAGS | ARES_OPT_LOOKUPS | ARES_OPT_RESOLVCONF;
    if (options.timeout > duration::zero()) {
        const auto wait = std::chrono::ceil<std::chrono::milliseconds>(options.timeout);
        wanted.timeout = static_cast<int>(wait.count());
        mask |= ARES_OPT_TIMEOUTMS;
    }
    if (options.tries > 0) {
        wanted.tries = options.tries;
        mask |= ARES_OPT_TRIES;
    }
    ares_channel channel = nullptr;
    if (const error failed = error_of_status(::ares_init_options(&channel, &wanted, mask)))
        return failed;

    std::shared_ptr<dns_settings> made{new dns_settings};
    storage& kept = *made->storage_;
    ares_addr_port_node* known = nullptr;
    int status = ::ares_save_options(channel, &kept.options, &kept.mask);
    if (status == ARES_SUCCESS) status = ::ares_get_servers_ports(channel, &known);
    ::ares_destroy(channel);
    if (const error failed = error_of_status(status)) return failed;

    for (const ares_addr_port_node* each = known; each != nullptr; each = each->next) {
        kept.servers.push_back(*each);
    }
    ::ares_free_data(known);
    if (!options.servers.empty()) kept.servers.clear();
    for (const socket_address& each : options.servers) {
        if (!kept.add(each)) return error{errc::address_family_not_supported, activity::resolve};
    }
    kept.link();
    made->dots_min_ = kept.options.ndots;
    for (int each = 0; each < kept.options.ndomains; ++each) {
        made->search_.emplace_back(kept.options.domains[each]);
    }
    return std::shared_ptr<const dns_settings>{std::move(made)};
}

/// A channel of c-ares that has one query, its sockets, and what is awaited of them. Does not move.
class dns_query::conversation final : private timer, private work {
public:
    conversation(dns_query& of, io_context& on) noexcept
        : timer{[](timer& it) noexcept { static_cast<conversation&>(it).due(); }},
          work{[](work& it) noexcept { static_cast<conversation&>(it).time_has_passed(); }},
          of_{of},
          on_{on} {}
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;
    ~conversation() {
        over_ = true;  // What c-ares says of the query while it forgets it is no answer.
        if (channel_ != nullptr) ::ares_destroy(channel_);
        on_.disarm(*this);
        if (due_) on_.retract(*this);
    }

    /// False if it is over already; then `outcome()` tells what came of it.
    [[nodiscard]] bool begin() noexcept {
        if (const error failed = open_channel()) {
            outcome_ = failed;
            return false;
        }
        ::ares_query(channel_, of_.name_.c_str(), ns_c_in, type_of(of_.what_), &answered, this);
        if (over_) return false;
        wait();
        return true;
    }

    [[nodiscard]] io_result<dns_answer> outcome() noexcept { return std::move(outcome_); }

private:
    struct watched;

    struct readiness_wait final : wait_ready_operation {
        readiness_wait(std::uint32_t wanted, watched& on, conversation& in) noexcept
            : wait_ready_operation{wanted}, socket{on}, of{in} {
            target = &on.socket.slot();
            run = [](work& item) noexcept {
                auto& self = static_cast<readiness_wait&>(static_cast<operation&>(item));
                self.of.is_ready(self.socket, self.result);
            };
        }

        watched& socket;
        conversation& of;
    };

    struct watched {
        explicit watched(handle open) noexcept : socket{std::move(open)} {}

        handle socket;
        std::uint32_t wanted = 0;             // poll(2) bits that c-ares is interested in.
        std::optional<readiness_wait> armed;  // From submission until it has run.
    };

    [[nodiscard]] error open_channel() noexcept {
        const dns_settings::storage& settings = *of_.how_->storage_;
        ares_options options = settings.options;
        options.sock_state_cb = &interest_changed;
        options.sock_state_cb_data = this;
        const int mask = settings.mask | ARES_OPT_SOCK_STATE_CB;
        int status = ::ares_init_options(&channel_, &options, mask);
        if (status == ARES_SUCCESS) {
            // Only read, though not declared so.
            auto* servers = const_cast<ares_addr_port_node*>(settings.servers.data());
            status =
                ::ares_set_servers_ports(channel_, settings.servers.empty() ? nullptr : servers);
        }
        if (status != ARES_SUCCESS) return error_of_status(status);
        static constexpr ares_socket_functions calls{&open, &close, &connect, &receive, &send};
        ::ares_set_socket_functions(channel_, &calls, this);
        return {};
    }

    static void answered(void* self, int status, int, unsigned char* answer, int size) noexcept {
        auto& it = *static_cast<conversation*>(self);
        if (it.over_) return;
        it.over_ = true;
        dns_answer read;
        if (status == ARES_SUCCESS) status = read_answer(it.of_.what_, answer, size, read);
        if (status == ARES_SUCCESS && is_empty(read)) status = ARES_ENODATA;
        if (const error failed = error_of_status(status)) {
            it.outcome_ = failed;
        } else {
            it.outcome_ = std::move(read);
        }
    }

    // An item of the loop: c-ares has something to do.

    void is_ready(watched& socket, std::int32_t events) noexcept {
        const ares_socket_t number = socket.socket.number();
        socket.armed.reset();
        if (events < 0) {  // The loop waits for nothing more.
            of_.end(error::from_errno(-events, activity::resolve));
            return;
        }
        const auto any_of = [events](int wanted) { return (events & wanted) != 0; };
        go_on(any_of(POLLIN | POLLERR | POLLHUP) ? number : ARES_SOCKET_BAD,
              any_of(POLLOUT | POLLERR | POLLHUP) ? number : ARES_SOCKET_BAD);
    }
    void due() noexcept {
        due_ = true;
        on_.post(static_cast<work&>(*this));
    }
    void time_has_passed() noexcept {
        due_ = false;
        go_on(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    }
    void go_on(ares_socket_t readable, ares_socket_t writable) noexcept {
        received_ = 0;
        ::ares_process_fd(channel_, readable, writable);
        if (over_) {
            of_.end(std::move(outcome_));  // Destroys this.
        } else {
            wait();
        }
    }

    void wait() noexcept {
        for (watched& each : sockets_) {
            if (each.armed && each.armed->events == each.wanted) continue;
            disarm(each);
            if (each.wanted == 0) continue;
            each.armed.emplace(each.wanted, each, *this);
            if (on_.submit(*each.armed)) on_.post(*each.armed);
        }
        timeval left{};
        if (::ares_timeout(channel_, nullptr, &left) == nullptr) return;
        const duration wait =
            std::chrono::seconds{left.tv_sec} + std::chrono::microseconds{left.tv_usec};
        if (!due_) on_.arm(*this, deadline_after(on_.read_clock(), wait));
    }
    void disarm(watched& it) noexcept {
        if (!it.armed) return;
        on_.reap(*it.armed);
        it.armed.reset();
    }

    // What c-ares does with sockets. Each returns -1 and sets errno, as the system calls do.

    template <class Result>
    [[nodiscard]] static Result as_a_call_returns(int result) noexcept {
        if (result >= 0) return result;
        errno = -result;
        return -1;
    }

    [[nodiscard]] static watched& find(void* self, ares_socket_t number) noexcept {
        std::list<watched>& sockets = static_cast<conversation*>(self)->sockets_;
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

    static ares_socket_t open(int family, int type, int, void* self) noexcept {
        auto& it = *static_cast<conversation*>(self);
        open_socket_operation op{family, type | SOCK_NONBLOCK};
        const int number = it.on_.host().perform_now(op);
        if (number < 0) return as_a_call_returns<ares_socket_t>(number);
        watched& made = it.sockets_.emplace_back(handle{it.on_.host(), number});
        made.socket.slot().nonblocking = true;
        made.socket.slot().datagrams = type == SOCK_DGRAM;
        made.socket.slot().family = static_cast<std::uint16_t>(family);
        return number;
    }

    static int close(ares_socket_t number, void* self) noexcept {
        auto& it = *static_cast<conversation*>(self);
        watched& closed = find(self, number);
        it.disarm(closed);
        it.sockets_.remove_if([&closed](const watched& each) { return &each == &closed; });
        return 0;
    }

    static int connect(ares_socket_t number, const sockaddr* to, ares_socklen_t size,
                       void* self) noexcept {
        socket_address peer;
        peer.size = size;
        std::memcpy(peer.data, to, size);
        watched& it = find(self, number);
        address_operation op{opcode::set_peer, it.socket.slot(), peer};
        return as_a_call_returns<int>(it.socket.on().perform_now(op));
    }

    static ares_ssize_t receive(ares_socket_t number, void* into, size_t size, int, sockaddr* from,
                                ares_socklen_t* from_size, void* self) noexcept {
        // c-ares reads a socket until it is empty; a server that sends faster has to wait its turn.
        constexpr int per_item_max = 16;
        auto& conversation_of_it = *static_cast<conversation*>(self);
        if (++conversation_of_it.received_ > per_item_max)
            return as_a_call_returns<ares_ssize_t>(-EAGAIN);
        iovec part{into, size};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_name = from;
        message.msg_namelen = from_size != nullptr ? *from_size : 0;
        const int result = transfer(opcode::receive_scatter, find(self, number), message, size);
        if (from_size != nullptr) *from_size = message.msg_namelen;
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

    dns_query& of_;
    io_context& on_;
    ares_channel channel_ = nullptr;
    std::list<watched> sockets_;  // Where they are while they are waited for.
    io_result<dns_answer> outcome_;
    int received_ = 0;   // By calls of this item.
    bool over_ = false;  // There is an outcome, or none is wanted any more.
    bool due_ = false;   // The timer has fired, and its item is on its way.
};

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
