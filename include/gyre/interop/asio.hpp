// SPDX-License-Identifier: BSL-1.0
//
// Everything between gyre and Boost.Asio; the only header of the library that needs Boost.
//
// | to                                            | use                                      |
// |-----------------------------------------------|------------------------------------------|
// | await an Asio operation in a gyre task        | `use_io_result`, asio_operation.hpp      |
// | run gyre tasks on the thread of an Asio loop  | `asio_guest`, asio_guest.hpp             |
// | run a gyre task as an Asio operation          | `async_run`, asio_run.hpp                |
// | run Asio's handlers on a gyre loop            | `asio_context`, asio_context.hpp         |
// | tell one side's errors to the other           | `from_asio_error`, `to_asio_error`       |
//
// The host of a guest is an `asio::io_context` that one thread runs: a program that stands on a thread pool
// or on strands has none, and runs its gyre loop on a thread beside them (docs/decisions/0013-interop.md).
//
// docs/guide/porting_from_asio.md shows them at work.
#pragma once

#include <gyre/interop/asio_context.hpp>
#include <gyre/interop/asio_error.hpp>
#include <gyre/interop/asio_guest.hpp>
#include <gyre/interop/asio_operation.hpp>
#include <gyre/interop/asio_run.hpp>
