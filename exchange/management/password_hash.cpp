// SPDX-License-Identifier: BSL-1.0
//
// What crypt is asked: see password_hash.hpp.
#include <exchange/management/password_hash.hpp>

#include <exchange/net/application/password_check.hpp>

#include <crypt.h>

#include <charconv>
#include <memory>
#include <random>

namespace exchange {
namespace {

constexpr std::string_view default_setting = "$5$rounds=1000$";
constexpr std::size_t salt_characters = 16;
constexpr unsigned rounds_max = 10'000;  // A few milliseconds.

/// What crypt makes of a password; empty if it cannot.
std::string run_crypt(std::string_view password, const std::string& setting) {
    static thread_local const auto room = std::make_unique<crypt_data>();  // 32 KiB.
    const std::string text{password};
    const char* const made = ::crypt_r(text.c_str(), setting.c_str(), room.get());
    return made == nullptr || made[0] == '*' ? std::string{} : std::string{made};
}

/// "$5$rounds=1000$..." and "$6$...", whose cost can be told from the text: at most so many rounds.
bool is_cheap(std::string_view hash) {
    if (hash.starts_with("$1$")) return true;
    if (!hash.starts_with("$5$") && !hash.starts_with("$6$")) return false;
    constexpr std::string_view rounds = "rounds=";
    hash.remove_prefix(3);
    if (!hash.starts_with(rounds)) return true;  // 5,000.
    hash.remove_prefix(rounds.size());
    unsigned count = 0;
    const auto read = std::from_chars(hash.data(), hash.data() + hash.size(), count);
    return read.ec == std::errc{} && count <= rounds_max;
}

}  // namespace

hash_fault find_fault(const std::string& hash) {
    const int verdict =
        hash.starts_with('$') ? ::crypt_checksalt(hash.c_str()) : CRYPT_SALT_INVALID;
    if (verdict == CRYPT_SALT_INVALID || verdict == CRYPT_SALT_METHOD_DISABLED)
        return hash_fault::unknown_method;
    if (!is_cheap(hash)) return hash_fault::costly;
    return run_crypt("", hash).size() == hash.size() ? hash_fault::none : hash_fault::incomplete;
}

bool is_hashed_password(std::string_view password, const std::string& hash) noexcept {
    std::string made = run_crypt(password, hash);
    if (made.empty()) {
        static_cast<void>(run_crypt(password, dummy_hash()));
        return false;
    }
    return is_same_text(made, hash);
}

const std::string& dummy_hash() {
    static const std::string made = std::string{default_setting} + "nobody$" + std::string(43, '.');
    return made;
}

std::string hash_password(std::string_view password) {
    static constexpr std::string_view letters =
        "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    std::random_device chance;
    std::string setting{default_setting};
    for (std::size_t each = 0; each < salt_characters; ++each)
        setting += letters[chance() % letters.size()];
    return run_crypt(password, setting);
}

}  // namespace exchange
