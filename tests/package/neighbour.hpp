// SPDX-License-Identifier: BSL-1.0
//
// What the stranger's program awaits: coroutines that another compiler may have built.
#pragma once

#include <gyre/gyre.hpp>

/// Yields `value` after a sleep.
gyre::task<int> waits_and_yields(int value);

/// Yields `value` without having suspended.
gyre::task<int> yields_at_once(int value);

gyre::task<gyre::io_result<>> ends_at_once();
