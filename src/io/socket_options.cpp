// SPDX-License-Identifier: BSL-1.0
//
// The kernel's numbers for include/gyre/io/socket_options.hpp.
#include <gyre/io/socket_options.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace gyre {

int no_delay::level() noexcept { return IPPROTO_TCP; }
int no_delay::name() noexcept { return TCP_NODELAY; }

int keep_alive::level() noexcept { return SOL_SOCKET; }
int keep_alive::name() noexcept { return SO_KEEPALIVE; }

int reuse_address::level() noexcept { return SOL_SOCKET; }
int reuse_address::name() noexcept { return SO_REUSEADDR; }

int reuse_port::level() noexcept { return SOL_SOCKET; }
int reuse_port::name() noexcept { return SO_REUSEPORT; }

int v6_only::level() noexcept { return IPPROTO_IPV6; }
int v6_only::name() noexcept { return IPV6_V6ONLY; }

int receive_buffer::level() noexcept { return SOL_SOCKET; }
int receive_buffer::name() noexcept { return SO_RCVBUF; }

int send_buffer::level() noexcept { return SOL_SOCKET; }
int send_buffer::name() noexcept { return SO_SNDBUF; }

static_assert(sizeof(reset_on_close::representation) == sizeof(linger));

int reset_on_close::level() noexcept { return SOL_SOCKET; }
int reset_on_close::name() noexcept { return SO_LINGER; }

int user_timeout::level() noexcept { return IPPROTO_TCP; }
int user_timeout::name() noexcept { return TCP_USER_TIMEOUT; }

int late_port::level() noexcept { return IPPROTO_IP; }
int late_port::name() noexcept { return IP_BIND_ADDRESS_NO_PORT; }

int bind_to_device::level() noexcept { return SOL_SOCKET; }
int bind_to_device::name() noexcept { return SO_BINDTODEVICE; }

}  // namespace gyre
