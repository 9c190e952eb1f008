// SPDX-License-Identifier: BSL-1.0
//
// Boost.Asio with coroutines that have a stack of their own: `boost::asio::spawn`, on Boost.Context.
//
// What libraries of the kind of libco offer, of which no registry has one. The completion token that takes an
// error code spares the exception at the end of a connection; the rest is as in asio_coroutine.cpp. See
// https://www.boost.org/doc/libs/1_81_0/doc/html/boost_asio/overview/composition/spawn.html
#include <lab/contenders/asio_sockets.hpp>
#include <lab/contenders/asio_team.hpp>

#include <lab/contender.hpp>
#include <lab/fail.hpp>
#include <lab/load.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/spawn.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;

using asio_lab::buffer_of;
using asio_lab::executor;
using asio_lab::stream;

using yield = asio::basic_yield_context<executor>;

void echo(stream socket, std::size_t buffer_bytes, const yield& here) {
    std::vector<std::byte> space(buffer_bytes);
    boost::system::error_code error;
    for (;;) {
        const std::size_t size = socket.async_read_some(buffer_of(std::span{space}), here[error]);
        if (error) return;
        for (std::span<const std::byte> rest = std::span{space}.first(size); !rest.empty();) {
            const std::size_t sent = socket.async_write_some(buffer_of(rest), here[error]);
            lab::require(!error, "asio: write");
            rest = rest.subspan(sent);
        }
    }
}

class asio_spawn : public lab::contender {
public:
    lab::identity about() const override {
        return {"asio_spawn", "Boost.Asio", asio_lab::version(), LAB_ASIO_BACKEND};
    }

    std::string refusal_to_echo(const lab::echo_case&) const override { return ""; }

    void echo(const lab::echo_case& work, lab::descriptor listener) override {
        asio_lab::serve_on_threads(work, listener, [&](stream accepted) {
            const executor on = accepted.get_executor();
            asio::spawn(
                on,
                [socket = std::move(accepted), size = work.buffer_bytes](yield here) mutable {
                    ::echo(std::move(socket), size, here);
                },
                asio::detached);
        });
    }
};

}  // namespace

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    require(backend.empty(), "asio_spawn has no backends to choose from");
    return std::make_unique<asio_spawn>();
}
