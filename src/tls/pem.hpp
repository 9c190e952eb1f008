// SPDX-License-Identifier: BSL-1.0
//
// Certificates, keys and lists of revocations out of PEM text.
#pragma once

#include "tls/owned.hpp"

#include <gyre/base/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gyre::tls {

/// All certificates in `text`, at least one. Errors: `errc::certificate_unreadable`.
[[nodiscard]] io_result<std::vector<owned_certificate>> read_certificates(std::string_view text);

/// All lists in `text`, at least one. Errors: `errc::certificate_unreadable`.
[[nodiscard]] io_result<std::vector<owned_revocations>> read_revocations(std::string_view text);

/// The key in `text`. Errors: `errc::key_unreadable`.
[[nodiscard]] io_result<owned_key> read_key(std::string_view text, const std::string& password);

}  // namespace gyre::tls
