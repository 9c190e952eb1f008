// SPDX-License-Identifier: BSL-1.0
//
// What ten events of each scenario put on the wire: one hash each, the same for every library, backend,
// compiler and build. golden_law.hpp says what is hashed.
#pragma once

#include <exchange/tests/net/golden_law.hpp>

#include <array>

namespace exchange::testing {

inline constexpr std::array golden_streams{
    golden_stream{bench::scenario_name::place_and_cancel, bench::book_state::empty,
                  0xb5fbdc6a9728dcd2},
    golden_stream{bench::scenario_name::place_and_cancel, bench::book_state::filled,
                  0x0eb7eba553e0346d},
    golden_stream{bench::scenario_name::ioc_without_execution, bench::book_state::empty,
                  0x56cb7309d6d93baa},
    golden_stream{bench::scenario_name::ioc_without_execution, bench::book_state::filled,
                  0xd67c9dda5f3201a5},
    golden_stream{bench::scenario_name::fok_without_execution, bench::book_state::filled,
                  0xce178aae4db0a70b},
    golden_stream{bench::scenario_name::amend_quantity, bench::book_state::empty,
                  0x3fa8593bf8b2894c},
    golden_stream{bench::scenario_name::amend_quantity, bench::book_state::filled,
                  0xaf81321491647319},
    golden_stream{bench::scenario_name::trade, bench::book_state::empty, 0x60580e7361a92d6d},
    golden_stream{bench::scenario_name::trade, bench::book_state::filled, 0xce1e177422d855de},
    golden_stream{bench::scenario_name::sweep_one_level, bench::book_state::empty,
                  0x9f78867e3ad91307},
    golden_stream{bench::scenario_name::sweep_one_level, bench::book_state::filled,
                  0xdd3bb06a5899502e},
    golden_stream{bench::scenario_name::sweep_adjacent_levels, bench::book_state::empty,
                  0x71ad00de9a8c791f},
    golden_stream{bench::scenario_name::sweep_adjacent_levels, bench::book_state::filled,
                  0x2eeb2489c8052c63},
    golden_stream{bench::scenario_name::sweep_sparse_levels, bench::book_state::empty,
                  0xdf78428f2fb99a0d},
    golden_stream{bench::scenario_name::sweep_sparse_levels, bench::book_state::filled,
                  0x4e36ac1b0755a699},
    golden_stream{bench::scenario_name::mass_cancel, bench::book_state::empty, 0xb62a834c4d826f40},
    golden_stream{bench::scenario_name::mass_cancel, bench::book_state::filled, 0x6a90481da422825a},
};

}  // namespace exchange::testing
