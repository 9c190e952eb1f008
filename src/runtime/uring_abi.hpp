// SPDX-License-Identifier: BSL-1.0
//
// Definitions of io_uring that are newer than Debian 12's headers.
//
// The kernel's numbers are its stable interface, so each is given here with the release it came in,
// and every feature is probed at run time; nothing depends on the headers of the build machine.
// Source: include/uapi/linux/io_uring.h of Linux 6.18.
#pragma once

#include <linux/io_uring.h>
#include <linux/time_types.h>

#include <cstdint>

namespace gyre::uring_abi {

inline constexpr std::uint32_t enter_no_iowait = 1U << 7;     // Linux 6.15
inline constexpr std::uint32_t feature_no_iowait = 1U << 17;  // Linux 6.15

/// The third meaning of io_uring_enter's last argument (IORING_ENTER_EXT_ARG, Linux 5.11).
struct getevents_argument {
    std::uint64_t signal_mask = 0;
    std::uint32_t signal_mask_size = 0;
    std::uint32_t min_wait_us = 0;  // Linux 6.12
    std::uint64_t timeout = 0;      // Address of a __kernel_timespec.
};

static_assert(sizeof(getevents_argument) == sizeof(io_uring_getevents_arg));

}  // namespace gyre::uring_abi
