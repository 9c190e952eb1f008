// SPDX-License-Identifier: BSL-1.0
//
// Programs, interfaces, and who knows whom: see exchange_check.hpp.
#include <exchange/management/exchange_check.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <net/if.h>
#include <unistd.h>

namespace exchange {
namespace {

using found_faults = std::vector<config_error>;

// ---------------------------------------------------------------------------------------------
// The machine
// ---------------------------------------------------------------------------------------------

[[nodiscard]] std::string interfaces_here() {
    std::string made;
    if (struct if_nameindex* const all = ::if_nameindex()) {
        for (const struct if_nameindex* each = all; each->if_name != nullptr; ++each)
            made.append(made.empty() ? "" : ", ").append(each->if_name);
        ::if_freenameindex(all);
    }
    return made;
}

void check_interface(const char* key, const std::string& name, found_faults& to) {
    if (name.empty() || ::if_nametoindex(name.c_str()) != 0) return;
    to.push_back({key, "expected a network interface of this machine (" + interfaces_here() +
                           "), but found \"" + name + '"'});
}

[[nodiscard]] std::optional<std::string> why_not_executed(const std::string& path) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed))
        return "expected a program, but there is no file " + path;
    if (::access(path.c_str(), X_OK) != 0)
        return "expected a program, but " + path + " may not be executed: give it the permission";
    return std::nullopt;
}

// ---------------------------------------------------------------------------------------------
// Children
// ---------------------------------------------------------------------------------------------

/// A child whose configuration is known here.
struct known_child {
    std::size_t number;                  // Among all of them.
    std::string file;                    // As its arguments have it.
    std::string secrets;                 // The name of its file of credentials.
    std::vector<gyre::endpoint> places;  // Where its clients come.
    std::variant<std::monostate, config, gateway_config, distributor_config> what;
};

/// The argument that is no option and no option's value; empty if there is none.
[[nodiscard]] std::string configuration_among(const std::vector<std::string>& arguments) {
    for (auto each = arguments.begin(); each != arguments.end(); ++each) {
        if (!each->starts_with("-")) return *each;
        if (*each == "--backend" && ++each == arguments.end()) break;
    }
    return {};
}

/// Does who connects to `asked` reach who listens at `listening`?
[[nodiscard]] bool is_reached(const gyre::endpoint& asked, const gyre::endpoint& listening) {
    using family = gyre::endpoint::family;
    if (asked == listening) return asked.kind() == family::local || asked.port() != 0;
    const bool addresses = asked.kind() == listening.kind() &&
                           (asked.kind() == family::v4 || asked.kind() == family::v6);
    return addresses && asked.port() == listening.port() && listening.address().is_unspecified();
}

[[nodiscard]] std::string but_found(const gyre::endpoint& it) {
    return ", but found \"" + it.to_string() + '"';
}

class children_check {
public:
    children_check(const supervisor_config& of, const std::string& programs)
        : of_{of}, programs_{programs} {}

    [[nodiscard]] found_faults run() {
        for (std::size_t each = 0; each < of_.children.size(); ++each) look_at(each);
        for (const known_child& each : known_) {
            check_listeners(each);
            if (const auto* const it = std::get_if<gateway_config>(&each.what)) check(each, *it);
            if (const auto* const it = std::get_if<distributor_config>(&each.what))
                check(each, *it);
        }
        return std::move(faults_);
    }

private:
    [[nodiscard]] static std::string key_of(std::size_t child, const char* key) {
        return "children[" + std::to_string(child) + "]." + key;
    }
    void fault(const std::string& file, const std::string& key, std::string what) {
        faults_.push_back({file + ": " + key, std::move(what)});
    }

    void look_at(std::size_t number) {
        const supervised_child& it = of_.children[number];
        const bool is_path = it.program.find('/') != std::string::npos;
        const std::filesystem::path folder = is_path ? of_.folder : programs_;
        if (const auto why = why_not_executed(folder / it.program))
            faults_.push_back({key_of(number, "program"), *why});
        const std::string program = std::filesystem::path{it.program}.filename().string();
        if (program == "matching_facility") read(number, load_facility_config);
        if (program == "order_entry_gateway") read(number, load_gateway_config);
        if (program == "market_data_distributor") read(number, load_distributor_config);
    }

    template <class Reading>
    void read(std::size_t number, Reading (*load)(const std::string&)) {
        known_child made{number, configuration_among(of_.children[number].arguments), {}, {}, {}};
        if (made.file.empty()) {
            faults_.push_back(
                {key_of(number, "arguments"), "expected the name of its configuration"});
            return;
        }
        Reading reading = load(std::filesystem::path{of_.folder} / made.file);
        if (reading.errors.empty()) reading.errors = check_interfaces(reading.value);
        for (config_error& each : reading.errors)
            faults_.push_back({each.where.empty() ? made.file : made.file + ": " + each.where,
                               std::move(each.what)});
        if (!reading.errors.empty()) return;  // What others expect of it is not known.
        made.secrets = std::filesystem::path{reading.value.credentials_file}.filename().string();
        made.places = places_of(reading.value);
        made.what = std::move(reading.value);
        known_.push_back(std::move(made));
    }

    [[nodiscard]] static std::vector<gyre::endpoint> places_of(const config& it) {
        return {it.facility.order_entry, it.facility.websocket, it.facility.gateways.at};
    }
    [[nodiscard]] static std::vector<gyre::endpoint> places_of(const gateway_config& it) {
        return {it.gateway.clients.tcp, it.gateway.clients.websocket};
    }
    [[nodiscard]] static std::vector<gyre::endpoint> places_of(const distributor_config& it) {
        return {it.distributor.clients.tcp, it.distributor.clients.websocket};
    }

    void check_listeners(const known_child& it) {
        for (const gyre::endpoint& each : of_.children[it.number].listen)
            if (std::ranges::count(it.places, each) == 0)
                faults_.push_back({key_of(it.number, "listen"),
                                   "expected places where " + it.file +
                                       " lets clients come: change one of both" + but_found(each)});
    }

    /// The facility that listens at `asked`, at the place that `at` tells of it. If there is none, that is
    /// said; if there is no facility at all, it is elsewhere.
    template <class Place>
    [[nodiscard]] const known_child* find_facility(const known_child& who, const char* key,
                                                   const gyre::endpoint& asked,
                                                   const char* place_key, const Place& at) {
        std::string there;
        bool any = false;
        for (const known_child& each : known_) {
            const auto* const facility = std::get_if<config>(&each.what);
            if (facility == nullptr) continue;
            any = true;
            const gyre::endpoint& place = at(*facility);
            if (is_reached(asked, place)) return &each;
            const bool listens = place.kind() != gyre::endpoint::family::none;
            there += (there.empty() ? "" : "; ") + each.file + ": " + place_key +
                     (listens ? " is " + place.to_string() : std::string{" is missing"});
        }
        if (any)
            fault(who.file, key,
                  "expected a place where a facility listens (" + there + "): change one of both" +
                      but_found(asked));
        return nullptr;
    }

    void check(const known_child& it, const gateway_config& gateway) {
        const known_child* const at =
            find_facility(it, "facility.at", gateway.gateway.facility, "gateways.at",
                          [](const config& facility) -> const gyre::endpoint& {
                              return facility.facility.gateways.at;
                          });
        if (at == nullptr) return;
        const order_entry_host_options& host = std::get<config>(at->what).host;
        const auto known =
            std::ranges::find(host.gateways, gateway.host.name, &known_gateway::name);
        const std::string name{gateway.host.name.view()};
        if (known == host.gateways.end())
            return fault(it.file, "facility.name",
                         "the facility knows no such gateway: add it to \"gateways\" in " +
                             at->secrets + ", but found \"" + name + '"');
        if (!host.passwords(gateway.host.password.view(), known->secret))
            fault(it.secrets, "link_password",
                  "is not the one whose hash " + at->secrets + " has of gateway \"" + name + '"');
        for (const gateway_user& each : gateway.host.users.users) {
            const std::string user{each.username.view()};
            if (!is_participant(host, each.username))
                fault(it.secrets, "users",
                      '"' + user +
                          "\" is no participant of the facility: add it to "
                          "\"participants\" in " +
                          at->secrets + ", or remove it here");
            else if (!known->may_speak_for(user))
                fault(it.secrets, "users",
                      '"' + user + "\" may not come through gateway \"" + name +
                          "\": add it to its "
                          "\"users\" in " +
                          at->secrets + ", or remove it here");
        }
    }

    void check(const known_child& it, const distributor_config& distributor) {
        const order_entry_client_options& as = distributor.distributor.exchange;
        const feed_listener_options& source = distributor.distributor.feed.source;
        const known_child* const at =
            find_facility(it, "exchange.at", as.exchange, "order_entry.at",
                          [](const config& facility) -> const gyre::endpoint& {
                              return facility.facility.order_entry;
                          });
        if (at == nullptr) return;
        const config& facility = std::get<config>(at->what);
        if (source.group != facility.facility.feed)
            fault(it.file, "feed.from",
                  "expected where the feed goes (" + at->file + ": feed.to is " +
                      facility.facility.feed.to_string() + ")" + but_found(source.group));
        if (!is_reached(source.requests, facility.facility.feed_requests))
            fault(it.file, "feed.requests",
                  "expected where requests are heard (" + at->file + ": feed.requests is " +
                      facility.facility.feed_requests.to_string() + ")" +
                      but_found(source.requests));
        const auto known = std::ranges::find(facility.host.participants, as.login.username,
                                             &credentials::username);
        const std::string name{as.login.username.view()};
        if (known == facility.host.participants.end())
            return fault(it.file, "exchange.username",
                         "expected a participant of the facility: add it to \"participants\" in " +
                             at->secrets + ", but found \"" + name + '"');
        if (!facility.host.passwords(as.login.password.view(), known->secret))
            fault(it.secrets, "exchange_password",
                  "is not the one whose hash " + at->secrets + " has of \"" + name + '"');
    }

    [[nodiscard]] static bool is_participant(const order_entry_host_options& of,
                                             const soup_username& name) {
        return std::ranges::count(of.participants, name, &credentials::username) > 0;
    }

    const supervisor_config& of_;
    const std::string& programs_;
    std::vector<known_child> known_;
    found_faults faults_;
};

}  // namespace

std::vector<config_error> check_interfaces(const config& it) {
    found_faults made;
    check_interface("feed.interface", it.facility.feed_interface, made);
    return made;
}

std::vector<config_error> check_interfaces(const gateway_config&) { return {}; }

std::vector<config_error> check_interfaces(const distributor_config& it) {
    found_faults made;
    check_interface("feed.interface", it.distributor.feed.source.interface, made);
    check_interface("redistribution.interface", it.distributor.feed.interface, made);
    return made;
}

std::vector<config_error> check_children(const supervisor_config& of, const std::string& programs) {
    return children_check{of, programs}.run();
}

}  // namespace exchange
