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
                  0x35c4af1049b6c86c},
    golden_stream{bench::scenario_name::place_and_cancel, bench::book_state::filled,
                  0x20b1f6c2b0e80131},
    golden_stream{bench::scenario_name::ioc_without_execution, bench::book_state::empty,
                  0x13628006a61b92ba},
    golden_stream{bench::scenario_name::ioc_without_execution, bench::book_state::filled,
                  0x1b5ecbba376b1983},
    golden_stream{bench::scenario_name::fok_without_execution, bench::book_state::filled,
                  0x75f80f80bebf8bfb},
    golden_stream{bench::scenario_name::amend_quantity, bench::book_state::empty,
                  0x64971c62e66ea706},
    golden_stream{bench::scenario_name::amend_quantity, bench::book_state::filled,
                  0xdaf6ef185e750283},
    golden_stream{bench::scenario_name::trade, bench::book_state::empty, 0x7b40cc4a6a331407},
    golden_stream{bench::scenario_name::trade, bench::book_state::filled, 0xd3ed5d2ae6c6019c},
    golden_stream{bench::scenario_name::sweep_one_level, bench::book_state::empty,
                  0x2dc175c080e0ee25},
    golden_stream{bench::scenario_name::sweep_one_level, bench::book_state::filled,
                  0x89add4ef38aafa0c},
    golden_stream{bench::scenario_name::sweep_adjacent_levels, bench::book_state::empty,
                  0x6fc1b28cccebab85},
    golden_stream{bench::scenario_name::sweep_adjacent_levels, bench::book_state::filled,
                  0x5a220a31bca6da63},
    golden_stream{bench::scenario_name::sweep_sparse_levels, bench::book_state::empty,
                  0xa132d7fbc59bf3f3},
    golden_stream{bench::scenario_name::sweep_sparse_levels, bench::book_state::filled,
                  0xf97c851bc202e8c9},
    golden_stream{bench::scenario_name::mass_cancel, bench::book_state::empty, 0x3bae4354e2c48898},
    golden_stream{bench::scenario_name::mass_cancel, bench::book_state::filled, 0x3db2ddf67551e7fe},
};

}  // namespace exchange::testing
