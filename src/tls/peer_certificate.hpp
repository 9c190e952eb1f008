// SPDX-License-Identifier: BSL-1.0
//
// OpenSSL's certificate as the plain values of gyre/tls/certificate.hpp.
#pragma once

#include "tls/owned.hpp"

#include <gyre/tls/certificate.hpp>

namespace gyre::tls {

[[nodiscard]] certificate take_apart(const X509& whole);

}  // namespace gyre::tls
