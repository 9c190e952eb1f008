// SPDX-License-Identifier: BSL-1.0
//
// How an in-process contender is told what to play: one line of JSON in, one line of JSON out.
//
//   {"do": "about"}                                   -> name, library, version, backend
//   {"do": "count_system_calls"}                      -> {"counting": true} or {"refused": why}
//   {"do": "prepare", "suite": S, "case": record}     -> {"ready": true} or {"cannot_run": why}
//   {"do": "play", "operations": N}                   -> what that slice took
//   {"do": "finish"}                                  -> peak memory, and the latency of all slices
//
// Reading a request and waiting for it lie outside of what is timed. Choosing slices, mixing contenders
// and judging belong to run.py. A mistake of any kind is a line on standard error and the end.
#pragma once

#include <lab/kit/session.hpp>

#include <iosfwd>

namespace lab {

/// Answers requests until there are no more. One process plays one case.
void drive(const contender& who, std::istream& requests, std::ostream& replies);

}  // namespace lab
