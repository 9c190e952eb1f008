// SPDX-License-Identifier: BSL-1.0
//
// There are no streams of protocols in this build: see ../with_tls.
#pragma once

namespace gyre::testing {

template <template <class...> class Kinds, class... Others>
using with_protocols = Kinds<Others...>;

}  // namespace gyre::testing
