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
                  0xc159d592fdf30acc},
    golden_stream{bench::scenario_name::place_and_cancel, bench::book_state::filled,
                  0xd6d930f802c91421},
    golden_stream{bench::scenario_name::ioc_without_execution, bench::book_state::empty,
                  0x4e4045183fd5cefa},
    golden_stream{bench::scenario_name::ioc_without_execution, bench::book_state::filled,
                  0xfad8b6851fd70a83},
    golden_stream{bench::scenario_name::fok_without_execution, bench::book_state::filled,
                  0xc2c43897acf5ae93},
    golden_stream{bench::scenario_name::amend_quantity, bench::book_state::empty,
                  0x4e64c5f622b5fb84},
    golden_stream{bench::scenario_name::amend_quantity, bench::book_state::filled,
                  0xe4471b669a6e5a75},
    golden_stream{bench::scenario_name::trade, bench::book_state::empty, 0x1c0b1e597bc7ce57},
    golden_stream{bench::scenario_name::trade, bench::book_state::filled, 0x3dfbedb16338566c},
    golden_stream{bench::scenario_name::sweep_one_level, bench::book_state::empty,
                  0x91e8778ebbcb2705},
    golden_stream{bench::scenario_name::sweep_one_level, bench::book_state::filled,
                  0xe57fecacd52f33dc},
    golden_stream{bench::scenario_name::sweep_adjacent_levels, bench::book_state::empty,
                  0xf69c8daa409b8a4d},
    golden_stream{bench::scenario_name::sweep_adjacent_levels, bench::book_state::filled,
                  0x70094edd7a2c995b},
    golden_stream{bench::scenario_name::sweep_sparse_levels, bench::book_state::empty,
                  0x26c0b77c776f7d7b},
    golden_stream{bench::scenario_name::sweep_sparse_levels, bench::book_state::filled,
                  0xb1a4c5b748d94041},
    golden_stream{bench::scenario_name::mass_cancel, bench::book_state::empty, 0x2d4284e3a5bcb45c},
    golden_stream{bench::scenario_name::mass_cancel, bench::book_state::filled, 0x8b6b0ec1e0a4d926},
};

}  // namespace exchange::testing
