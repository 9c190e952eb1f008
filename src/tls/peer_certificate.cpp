// SPDX-License-Identifier: BSL-1.0
#include "tls/peer_certificate.hpp"

#include "tls/failure.hpp"

#include <gyre/base/buffer.hpp>

#include <openssl/err.h>

#include <charconv>
#include <ctime>
#include <span>
#include <string>

namespace gyre::tls {
namespace {

using owned_number = std::unique_ptr<BIGNUM, freed_by<&BN_free>>;
using owned_names = std::unique_ptr<GENERAL_NAMES, freed_by<&GENERAL_NAMES_free>>;

std::string text_of_number(const ASN1_INTEGER* number) {
    const owned_number value{ASN1_INTEGER_to_BN(number, nullptr)};
    char* const digits = value != nullptr ? BN_bn2hex(value.get()) : nullptr;
    if (digits == nullptr) return {};
    std::string text{digits};
    OPENSSL_free(digits);
    const std::size_t first = text.find_first_not_of('0');
    return first == std::string::npos ? "0" : text.substr(first);
}

std::chrono::system_clock::time_point moment_of(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
    return std::chrono::system_clock::from_time_t(timegm(&parts));
}

std::span<const unsigned char> bytes_in(const ASN1_STRING* text) noexcept {
    return {ASN1_STRING_get0_data(text), static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string text_of_address(std::span<const unsigned char> bytes) {
    std::string text;
    if (bytes.size() == 4) {
        for (const unsigned char each : bytes) {
            if (!text.empty()) text += '.';
            text += std::to_string(each);
        }
        return text;
    }
    if (bytes.size() != 16) return {};
    for (std::size_t at = 0; at < bytes.size(); at += 2) {
        char digits[4];
        const unsigned group = unsigned{bytes[at]} << 8 | bytes[at + 1];
        char* const end = std::to_chars(std::begin(digits), std::end(digits), group, 16).ptr;
        if (at > 0) text += ':';
        text.append(std::begin(digits), end);
    }
    return text;
}

std::vector<std::string> names_in(const X509& whole) {
    const owned_names all{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(&whole, NID_subject_alt_name, nullptr, nullptr))};
    std::vector<std::string> hosts;
    std::vector<std::string> addresses;
    const int count = all != nullptr ? sk_GENERAL_NAME_num(all.get()) : 0;
    for (int at = 0; at < count; ++at) {
        const GENERAL_NAME& each = *sk_GENERAL_NAME_value(all.get(), at);
        if (each.type == GEN_DNS)
            hosts.emplace_back(text_of(std::as_bytes(bytes_in(each.d.dNSName))));
        if (each.type == GEN_IPADD)
            addresses.push_back(text_of_address(bytes_in(each.d.iPAddress)));
    }
    hosts.insert(hosts.end(), addresses.begin(), addresses.end());
    return hosts;
}

}  // namespace

certificate take_apart(const X509& whole) {
    certificate it;
    it.subject = text_of_name(X509_get_subject_name(&whole));
    it.issuer = text_of_name(X509_get_issuer_name(&whole));
    it.serial = text_of_number(X509_get0_serialNumber(&whole));
    it.names = names_in(whole);
    it.not_before = moment_of(X509_get0_notBefore(&whole));
    it.not_after = moment_of(X509_get0_notAfter(&whole));
    X509_digest(&whole, EVP_sha256(), reinterpret_cast<unsigned char*>(it.sha256.data()), nullptr);
    if (const int size = i2d_X509(&whole, nullptr); size > 0) {
        it.der.resize(static_cast<std::size_t>(size));
        auto* into = reinterpret_cast<unsigned char*>(it.der.data());
        i2d_X509(&whole, &into);
    }
    ERR_clear_error();
    return it;
}

}  // namespace gyre::tls
