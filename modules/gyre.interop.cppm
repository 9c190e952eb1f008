// SPDX-License-Identifier: BSL-1.0
//
// Written by tools/module.py --fix: what the reference lists.
module;
#include <gyre/interop/callbacks.hpp>
#include <gyre/interop/future.hpp>
#include <gyre/interop/springboard.hpp>

export module gyre.interop;
import gyre;

export namespace gyre {
using gyre::callback;
using gyre::from_callback;
using gyre::to_future;
using gyre::springboard;
}  // namespace gyre
