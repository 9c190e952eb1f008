// SPDX-License-Identifier: BSL-1.0
//
// In a file of its own, since the kernel's header and the C library's define the same names.
#include <exchange/tests/net/data_segments.hpp>

#include <gyre/base/check.hpp>

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace exchange::testing {

std::uint64_t data_segments_sent(int socket) noexcept {
    tcp_info known{};
    socklen_t size = sizeof known;
    const int failed = ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &known, &size);
    gyre::expects(failed == 0, "a TCP socket that is open");
    return known.tcpi_data_segs_out - known.tcpi_total_retrans;
}

}  // namespace exchange::testing
