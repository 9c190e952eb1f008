// SPDX-License-Identifier: BSL-1.0
//
// Reading what c-ares says: see dns_records.hpp.
#include <runtime/dns_records.hpp>

#include <ares.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gyre {
namespace {

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

int read_records(dns_record what, const unsigned char* answer, int size, dns_answer& into) {
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

}  // namespace

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

// RFC 1035 4.1.1.
int status_of_code(int response_code) noexcept {
    switch (response_code) {
        case ns_r_noerror: return ARES_SUCCESS;
        case ns_r_formerr: return ARES_EFORMERR;
        case ns_r_nxdomain: return ARES_ENOTFOUND;
        case ns_r_notimpl: return ARES_ENOTIMP;
        case ns_r_refused: return ARES_EREFUSED;
        default: return ARES_ESERVFAIL;
    }
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

int read_answer(dns_record what, const unsigned char* answer, int size, dns_answer& into) {
    const int status = read_records(what, answer, size, into);
    return status == ARES_SUCCESS && is_empty(into) ? ARES_ENODATA : status;
}

}  // namespace gyre
