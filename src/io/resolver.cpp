// SPDX-License-Identifier: BSL-1.0
//
// What is asked of whom, in which order: see include/gyre/io/resolver.hpp.
#include <gyre/io/resolver.hpp>

#include <gyre/io/destinations.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/dns_query.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/when_all.hpp>
#include <io/hosts_table.hpp>
#include <io/service_table.hpp>
#include <io/settings_lines.hpp>
#include <runtime/candidate_names.hpp>
#include <runtime/name_order.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <random>
#include <system_error>
#include <utility>

namespace gyre {
namespace {

constexpr std::size_t addresses_max = 64;

constexpr error failure(errc code) noexcept { return {code, activity::resolve}; }

bool is_wanted(const ip_address& it, endpoint::family family) noexcept {
    return family == endpoint::family::none || it.is_v6() == (family == endpoint::family::v6);
}

// Whether `name` is `domain` or below it.
bool is_below(std::string_view name, std::string_view domain) noexcept {
    if (!name.ends_with(domain)) return false;
    name.remove_suffix(domain.size());
    return name.empty() || name.back() == '.';
}

bool is_a_number(std::string_view text) noexcept {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// As the hosts file has it.
std::string plain_name(std::string_view host) {
    std::string name = in_small_letters(host);
    if (name.ends_with('.')) name.pop_back();
    return name;
}

// What looks like an address and is none must not be asked for: "127.1" means loopback to some programs,
// and no name ends in digits alone (RFC 3696 2).
bool is_a_name(std::string_view text) noexcept {
    constexpr std::string_view never_in_names{":%/ \t\r\n\0", 8};
    if (text.empty() || text.find_first_of(never_in_names) != std::string_view::npos) return false;
    if (text.size() > 1 && text.ends_with('.')) text.remove_suffix(1);
    return !is_a_number(text.substr(text.rfind('.') + 1));  // All of it where there is no dot.
}

// RFC 2782: of equal priority, each time one is drawn by its weight from those that are left.
void order_services(std::vector<dns_service>& all, std::mt19937_64& dice) {
    std::ranges::sort(all, [](const dns_service& left, const dns_service& right) {
        return std::pair{left.priority, left.weight} < std::pair{right.priority, right.weight};
    });
    for (auto next = all.begin(); next != all.end(); ++next) {
        const auto end = std::find_if(next, all.end(), [&](const dns_service& each) {
            return each.priority != next->priority;
        });
        std::uint64_t sum = 0;
        for (auto each = next; each != end; ++each) sum += each->weight;
        std::uint64_t drawn = dice() % (sum + 1);
        auto chosen = next;
        while (drawn > chosen->weight) drawn -= (chosen++)->weight;
        std::rotate(next, chosen, std::next(chosen));
    }
}

// The name that PTR records of an address have: RFC 1035 3.5, RFC 3596 2.5.
std::string reverse_name_of(const ip_address& it) {
    std::string made;
    if (it.is_v4()) {
        const std::array<std::uint8_t, 4> bytes = it.v4().bytes;
        for (auto each = bytes.rbegin(); each != bytes.rend(); ++each) {
            made += std::to_string(*each) + '.';
        }
        return made + "in-addr.arpa";
    }
    const std::array<std::uint8_t, 16>& bytes = it.v6().bytes;
    for (auto each = bytes.rbegin(); each != bytes.rend(); ++each) {
        for (const int digit : {*each & 0xf, *each >> 4}) {
            made += "0123456789abcdef"[digit];
            made += '.';
        }
    }
    return made + "ip6.arpa";
}

// "fe80::1%eth0": the zone's number, which only this machine knows.
io_result<ip_address> parse_with_interface(io_context& on, std::string_view text) noexcept {
    const std::size_t percent = text.find('%');
    if (percent == std::string_view::npos) return failure(errc::malformed);
    const io_result<ipv6> plain = ipv6::parse(text.substr(0, percent));
    const std::string_view zone = text.substr(percent + 1);
    if (!plain.ok() || zone.empty() || zone.find('\0') != std::string_view::npos)
        return failure(errc::malformed);
    io_result<udp_socket> asked = udp_socket::bind(on, endpoint{ipv6::any(), 0});
    if (!asked.ok()) return asked.error();
    const io_result<network_interface> found = asked.take().find_interface(zone);
    if (!found.ok()) return found.error();
    ipv6 address = plain.value();
    address.zone = found.value().index;
    return ip_address{address};
}

// Of the two families of one name.
name_verdict worse(name_verdict left, name_verdict right) noexcept {
    return weight_of(left.failed) >= weight_of(right.failed) ? left : right;
}

name_status status_of(error it) noexcept {
    if (!it) return name_status::success;
    return weight_of(it) < 2 ? name_status::not_found : name_status::unavailable;
}

class collected final : public found_addresses {
public:
    void add(std::vector<endpoint> some) override {
        all.insert(all.end(), some.begin(), some.end());
    }

    std::vector<endpoint> all;
};

}  // namespace

class resolver::state {
public:
    explicit state(resolver_options options) : options_{std::move(options)} {}

    /// Reads the files unless that was done a moment ago. What is wrong with them is told by
    /// `settings_error`.
    void refresh(io_context& on) {
        const time_point now = on.read_clock();
        if (read_ && now < deadline_after(read_at_, options_.files_kept)) return;
        if (!read_) dice_.seed(on.host().entropy());
        read_ = true;
        read_at_ = now;
        hosts_ = hosts_table{text_of(on, options_.hosts_file)};
        services_ = service_table{text_of(on, options_.services_file)};
        order_ = read_name_order(text_of(on, options_.order_file));
        if (settings_ != nullptr && settings_->read_once()) return;
        dns_options wanted;
        for (const endpoint& each : options_.servers) wanted.servers.push_back(each.raw());
        wanted.settings_file = options_.settings_file;
        wanted.timeout = options_.timeout;
        wanted.tries = options_.tries;
        io_result<std::shared_ptr<const dns_settings>> settings =
            dns_settings::read(wanted, on.host());
        settings_error_ = settings.error();
        settings_ = settings.take();
    }

    [[nodiscard]] const hosts_table& hosts() const noexcept { return hosts_; }
    [[nodiscard]] error settings_error() const noexcept { return settings_error_; }
    [[nodiscard]] std::mt19937_64& dice() noexcept { return dice_; }

    /// @pre  no `settings_error`.
    [[nodiscard]] dns_query query(const std::string& name, dns_record what) const {
        return dns_query{settings_, name, what};
    }

    [[nodiscard]] io_result<std::uint16_t> port_of(const std::string& service, transport by) const {
        std::uint16_t port = 0;
        const char* end = service.data() + service.size();
        const auto [rest, wrong] = std::from_chars(service.data(), end, port);
        if (wrong == std::errc{} && rest == end) return port;
        if (is_a_number(service)) return failure(errc::malformed);
        const auto found = services_.port_of(service, by == transport::tcp ? "tcp" : "udp");
        if (!found) return failure(errc::host_not_found);
        return *found;
    }

    /// Asks name servers for the candidates of `host` in turn. @pre  no `settings_error`.
    task<name_verdict> ask_for(std::string host, std::uint16_t port, endpoint::family family,
                               found_addresses& to) const;

    [[nodiscard]] const std::vector<name_source>& order() const noexcept { return order_; }
    /// @pre  no `settings_error`.
    [[nodiscard]] const dns_settings& settings() const noexcept { return *settings_; }
    /// @pre  no `settings_error`.
    [[nodiscard]] candidate_names candidates(const std::string& name) const {
        return candidate_names{name, options_.search ? *options_.search : settings_->search(),
                               options_.dots_min.value_or(settings_->dots_min()),
                               settings_->no_top_level_names()};
    }

private:
    [[nodiscard]] static std::string text_of(io_context& on, const std::string& path) {
        std::string text;
        // One that cannot be read is an empty one: others can be asked.
        if (!path.empty() && on.host().read_settings(path.c_str(), text) < 0) text.clear();
        return text;
    }

    resolver_options options_;
    hosts_table hosts_;
    service_table services_;
    std::vector<name_source> order_;
    std::shared_ptr<const dns_settings> settings_;  // Null with an error.
    error settings_error_;
    std::mt19937_64 dice_;
    time_point read_at_{};
    bool read_ = false;
};

namespace {

task<name_verdict> ask_for_addresses(dns_query query, std::uint16_t port, found_addresses& to) {
    io_result<dns_answer> answered = co_await query;
    if (!answered.ok()) co_return name_verdict{answered.error(), query.is_unreached()};
    std::vector<socket_address> raw = answered.take().addresses;
    if (raw.size() > addresses_max) raw.resize(addresses_max);
    std::vector<endpoint> some;
    some.reserve(raw.size());
    for (const socket_address& each : raw) some.emplace_back(endpoint{each}.address(), port);
    to.add(std::move(some));
    co_return name_verdict{};
}

// "no-aaaa": A is asked for, so that a name that does not exist is known not to.
task<name_verdict> ask_whether_it_is(dns_query query) {
    const io_result<dns_answer> answered = co_await query;
    if (answered.ok()) co_return name_verdict{failure(errc::no_data)};
    co_return name_verdict{answered.error(), query.is_unreached()};
}

// The addresses of one name: one domain's IPv6 and another's IPv4 would be two hosts.
task<name_verdict> ask_for_both(dns_query v6, dns_query v4, bool one_at_a_time, std::uint16_t port,
                                found_addresses& to) {
    name_verdict of_v6;
    name_verdict of_v4;
    if (one_at_a_time) {
        of_v4 = co_await ask_for_addresses(std::move(v4), port, to);
        of_v6 = co_await ask_for_addresses(std::move(v6), port, to);
    } else {
        auto [first, second] = co_await when_all(ask_for_addresses(std::move(v6), port, to),
                                                 ask_for_addresses(std::move(v4), port, to));
        of_v6 = first;
        of_v4 = second;
    }
    if (!of_v6.failed || !of_v4.failed) co_return name_verdict{};
    co_return worse(of_v6, of_v4);
}

// What is known without files and servers. True if that is all there is to say of `host`.
bool find_special(io_context& on, const hosts_table& hosts, const std::string& host,
                  std::vector<ip_address>& into, error& outcome) {
    io_result<ip_address> number = ip_address::parse(host);
    if (!number.ok()) number = parse_with_interface(on, host);
    outcome = failure(errc::no_data);
    if (number.ok()) {
        into.push_back(number.value());
        return true;
    }
    if (!is_a_name(host)) {
        outcome =
            number.error().code() == errc::malformed ? failure(errc::malformed) : number.error();
        return true;
    }
    const std::string name = plain_name(host);
    if (is_below(name, "localhost")) {
        into = hosts.addresses_of(name);
        if (into.empty()) into = {ipv6::loopback(), ipv4::loopback()};
        return true;
    }
    outcome = failure(errc::host_not_found);
    if (!is_below(name, "invalid") && !is_below(name, "onion")) return false;
    into = hosts.addresses_of(name);
    return true;
}

std::vector<endpoint> wanted_of(const std::vector<ip_address>& all, endpoint::family family,
                                std::uint16_t port) {
    std::vector<endpoint> made;
    for (const ip_address& each : all) {
        if (is_wanted(each, family)) made.emplace_back(each, port);
    }
    return made;
}

}  // namespace

task<name_verdict> resolver::state::ask_for(std::string host, std::uint16_t port,
                                            endpoint::family family, found_addresses& to) const {
    const std::shared_ptr<const dns_settings> how = settings_;
    candidate_names names = candidates(host);
    while (const std::string* name = names.next()) {
        name_verdict found;
        if (family == endpoint::family::v4 ||
            (family == endpoint::family::none && how->no_aaaa())) {
            found = co_await ask_for_addresses(dns_query{how, *name, dns_record::a}, port, to);
        } else if (family == endpoint::family::none) {
            found = co_await ask_for_both(dns_query{how, *name, dns_record::aaaa},
                                          dns_query{how, *name, dns_record::a},
                                          how->one_at_a_time(), port, to);
        } else if (how->no_aaaa()) {
            found = co_await ask_whether_it_is(dns_query{how, *name, dns_record::a});
        } else {
            found = co_await ask_for_addresses(dns_query{how, *name, dns_record::aaaa}, port, to);
        }
        if (!found.failed) co_return found;
        names.note(found);
    }
    co_return names.outcome();
}

resolver::resolver() : resolver{resolver_options{}} {}
resolver::resolver(resolver_options options)
    : state_{std::make_shared<state>(std::move(options))} {}

namespace {

name_status take_from_files(std::vector<endpoint> some, const name_source& by,
                            found_addresses& to) {
    if (some.empty()) return name_status::not_found;
    if (by.ends_after(name_status::success)) to.add(std::move(some));
    return name_status::success;
}

}  // namespace

task<io_result<>> resolver::find_by(std::shared_ptr<state> self, std::string host,
                                    std::string service, resolve_options options,
                                    found_addresses& to) {
    io_context& on = *io_context::current();
    self->refresh(on);
    const io_result<std::uint16_t> port = self->port_of(service, options.carrier);
    if (!port.ok()) co_return port.error();

    std::vector<ip_address> known;
    error outcome;
    if (find_special(on, self->hosts(), host, known, outcome)) {
        std::vector<endpoint> some = wanted_of(known, options.family, port.value());
        if (some.empty()) co_return outcome;
        to.add(std::move(some));
        co_return io_result<>{};
    }
    const std::vector<name_source> order = self->order();
    for (const name_source& each : order) {
        name_status ended = name_status::unavailable;
        if (each.from == name_source::kind::files) {
            std::vector<endpoint> some = wanted_of(self->hosts().addresses_of(plain_name(host)),
                                                   options.family, port.value());
            ended = take_from_files(std::move(some), each, to);
        } else if (each.from == name_source::kind::dns) {
            if (self->settings_error()) co_return self->settings_error();
            const name_verdict found =
                co_await self->ask_for(host, port.value(), options.family, to);
            if (found.failed && weight_of(found.failed) >= weight_of(outcome))
                outcome = found.failed;
            ended = status_of(found.failed);
        }
        if (ended == name_status::success && each.ends_after(ended)) co_return io_result<>{};
        if (outcome == errc::canceled || each.ends_after(ended)) break;
    }
    co_return outcome;
}

task<io_result<std::vector<endpoint>>> resolver::resolve_by(std::shared_ptr<state> self,
                                                            std::string host, std::string service,
                                                            resolve_options options) {
    collected found;
    const io_result<> outcome =
        co_await find_by(std::move(self), std::move(host), std::move(service), options, found);
    if (!outcome.ok()) co_return outcome.error();
    co_return in_order_of_preference(*io_context::current(), found.all);
}

task<io_result<std::vector<service_target>>> resolver::resolve_service_by(
    std::shared_ptr<state> self, std::string name) {
    self->refresh(*io_context::current());
    if (!is_a_name(name)) co_return failure(errc::malformed);
    if (self->settings_error()) co_return self->settings_error();

    candidate_names names = self->candidates(name);
    while (const std::string* each = names.next()) {
        dns_query query = self->query(*each, dns_record::srv);
        io_result<dns_answer> answered = co_await query;
        if (answered.ok()) {
            std::vector<dns_service> found = answered.take().services;
            order_services(found, self->dice());
            std::vector<service_target> targets;
            for (dns_service& one : found) {
                // "." means: decidedly not here.
                if (one.target.empty() || one.target == ".") continue;
                service_target made;
                made.host = std::move(one.target);
                made.port = one.port;
                made.priority = one.priority;
                made.weight = one.weight;
                targets.push_back(std::move(made));
            }
            if (targets.empty()) co_return failure(errc::no_data);
            co_return io_result<std::vector<service_target>>{std::move(targets)};
        }
        names.note({answered.error(), query.is_unreached()});
    }
    co_return names.outcome().failed;
}

task<io_result<std::vector<std::string>>> resolver::reverse_by(std::shared_ptr<state> self,
                                                               ip_address address) {
    self->refresh(*io_context::current());
    error outcome = failure(errc::host_not_found);
    const std::vector<name_source> order = self->order();
    for (const name_source& each : order) {
        name_status ended = name_status::unavailable;
        if (each.from == name_source::kind::files) {
            std::vector<std::string> known = self->hosts().names_of(address.unmapped());
            if (!known.empty()) co_return io_result<std::vector<std::string>>{std::move(known)};
            ended = name_status::not_found;
        } else if (each.from == name_source::kind::dns) {
            if (self->settings_error()) co_return self->settings_error();
            io_result<dns_answer> answered =
                co_await self->query(reverse_name_of(address.unmapped()), dns_record::ptr);
            if (answered.ok()) co_return io_result<std::vector<std::string>>{answered.take().names};
            if (weight_of(answered.error()) >= weight_of(outcome)) outcome = answered.error();
            ended = status_of(answered.error());
        }
        if (outcome == errc::canceled || each.ends_after(ended)) break;
    }
    co_return outcome;
}

task<io_result<>> resolver::find(std::string host, std::string service, resolve_options options,
                                 found_addresses& to) const {
    return find_by(state_, std::move(host), std::move(service), options, to);
}

task<io_result<std::vector<endpoint>>> resolver::resolve(std::string host, std::string service,
                                                         resolve_options options) const {
    return resolve_by(state_, std::move(host), std::move(service), options);
}

task<io_result<std::vector<endpoint>>> resolver::resolve(std::string host, std::uint16_t port,
                                                         resolve_options options) const {
    return resolve_by(state_, std::move(host), std::to_string(port), options);
}

task<io_result<std::vector<service_target>>> resolver::resolve_service(std::string name) const {
    return resolve_service_by(state_, std::move(name));
}

task<io_result<std::vector<std::string>>> resolver::reverse(ip_address address) const {
    return reverse_by(state_, address);
}

task<io_result<std::vector<std::string>>> resolver::reverse(endpoint of) const {
    return reverse_by(state_, of.address());
}

}  // namespace gyre
