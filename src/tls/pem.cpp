// SPDX-License-Identifier: BSL-1.0
#include "tls/pem.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace gyre::tls {
namespace {

owned_bio over(std::string_view text) {
    if (text.size() > INT_MAX) return nullptr;
    return owned_bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

// Without one OpenSSL would ask the terminal.
int give_password(char* into, int size, int, void* password) noexcept {
    const auto& text = *static_cast<const std::string*>(password);
    if (text.empty() || text.size() > static_cast<std::size_t>(size)) return -1;
    std::memcpy(into, text.data(), text.size());
    return static_cast<int>(text.size());
}

// Reading ends with the text, or at something that is damaged.
bool ended_with_text() noexcept {
    const unsigned long why = ERR_peek_last_error();
    const bool ended =
        ERR_GET_LIB(why) == ERR_LIB_PEM && ERR_GET_REASON(why) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return ended;
}

template <class Owned, class Read>
io_result<std::vector<Owned>> read_all(std::string_view text, const Read& read) {
    const owned_bio from = over(text);
    std::vector<Owned> all;
    std::string no_password;
    ERR_clear_error();
    while (from != nullptr) {
        Owned one{read(from.get(), nullptr, &give_password, &no_password)};
        if (one == nullptr) break;
        all.push_back(std::move(one));
    }
    const bool whole = ended_with_text();
    if (!whole || all.empty()) return error{errc::certificate_unreadable, activity::configure};
    return all;
}

}  // namespace

io_result<std::vector<owned_certificate>> read_certificates(std::string_view text) {
    return read_all<owned_certificate>(text, &PEM_read_bio_X509);
}

io_result<std::vector<owned_revocations>> read_revocations(std::string_view text) {
    return read_all<owned_revocations>(text, &PEM_read_bio_X509_CRL);
}

io_result<owned_key> read_key(std::string_view text, const std::string& password) {
    const owned_bio from = over(text);
    std::string given = password;
    owned_key key{from == nullptr
                      ? nullptr
                      : PEM_read_bio_PrivateKey(from.get(), nullptr, &give_password, &given)};
    OPENSSL_cleanse(given.data(), given.size());
    ERR_clear_error();
    if (key == nullptr) return error{errc::key_unreadable, activity::configure};
    return key;
}

}  // namespace gyre::tls
