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
                  0x557e08db3a7ccf04},
    golden_stream{bench::scenario_name::place_and_cancel, bench::book_state::filled,
                  0x96fccd1ea771fda1},
    golden_stream{bench::scenario_name::ioc_without_execution, bench::book_state::empty,
                  0x266ad8624237990a},
    golden_stream{bench::scenario_name::ioc_without_execution, bench::book_state::filled,
                  0x091d43a8f7bbf1b5},
    golden_stream{bench::scenario_name::fok_without_execution, bench::book_state::filled,
                  0xfa4bc5b79d0cbbab},
    golden_stream{bench::scenario_name::amend_quantity, bench::book_state::empty,
                  0xf26eb36a6c44b40d},
    golden_stream{bench::scenario_name::amend_quantity, bench::book_state::filled,
                  0x94c9713c6d55823b},
    golden_stream{bench::scenario_name::trade, bench::book_state::empty, 0x1e1ee2b503d3d908},
    golden_stream{bench::scenario_name::trade, bench::book_state::filled, 0xa051502191580101},
    golden_stream{bench::scenario_name::sweep_one_level, bench::book_state::empty,
                  0x90daf0fcd7025eaf},
    golden_stream{bench::scenario_name::sweep_one_level, bench::book_state::filled,
                  0xffd7d45f9c5eb83e},
    golden_stream{bench::scenario_name::sweep_adjacent_levels, bench::book_state::empty,
                  0x818d212e0978f676},
    golden_stream{bench::scenario_name::sweep_adjacent_levels, bench::book_state::filled,
                  0x85a48393eaf011ea},
    golden_stream{bench::scenario_name::sweep_sparse_levels, bench::book_state::empty,
                  0xb5d0919ddf44a830},
    golden_stream{bench::scenario_name::sweep_sparse_levels, bench::book_state::filled,
                  0x0d97125610cdeb24},
    golden_stream{bench::scenario_name::mass_cancel, bench::book_state::empty, 0x0fed264b1d69cc07},
    golden_stream{bench::scenario_name::mass_cancel, bench::book_state::filled, 0xd41bda84b9298d8d},
};

}  // namespace exchange::testing
