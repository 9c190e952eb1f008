// SPDX-License-Identifier: BSL-1.0
//
// The server of the suite as a user of Boost.Asio writes it with completion handlers.
//
// A connection owns itself and is freed when its last handler says so. asio_sockets.hpp has the rest of
// the configuration: a context for each thread (see asio_team.hpp), no locks, concrete types. These files
// and contenders/asio_callback.cpp cite the documentation.
#include <lab/baseline/requests.hpp>
#include <lab/baseline/seam.hpp>
#include <lab/contenders/asio_sockets.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;

using asio_lab::stream;
using boost::system::error_code;

class connection {
public:
    connection(stream socket, baseline::workload answers)
        : socket_{std::move(socket)}, answers_{answers} {}

    void receive() {
        socket_.async_read_some(asio::buffer(space_), [this](error_code ended, std::size_t size) {
            if (ended) return end();
            const std::string_view arrived{space_.data(), size};
            const bool asked = answers_ == baseline::workload::http;
            send(asked ? requests_.answer_to(arrived) : arrived);
        });
    }

private:
    void send(std::string_view bytes) {
        if (bytes.empty()) return requests_.closes() ? end() : receive();
        socket_.async_write_some(asio::buffer(bytes),
                                 [this, bytes](error_code failed, std::size_t size) {
                                     if (failed) return end();
                                     send(bytes.substr(size));
                                 });
    }

    void end() { delete this; }

    stream socket_;
    baseline::workload answers_;
    baseline::request_scanner requests_;
    std::array<char, 4096> space_;
};

void accept_all(asio_lab::acceptor& from, baseline::workload answers) {
    from.async_accept([&from, answers](error_code failed, stream accepted) {
        if (!failed) (new connection{std::move(accepted), answers})->receive();
        accept_all(from, answers);
    });
}

void serve(const baseline::job& wanted, lab::descriptor listener) {
    asio::io_context context{asio_lab::single_threaded};
    asio_lab::acceptor from = asio_lab::adopt_listener(context, std::move(listener));
    accept_all(from, wanted.what);
    context.run();
}

}  // namespace

int main(int count, char** arguments) {
    const baseline::identity about{"Boost.Asio", asio_lab::version(), {LAB_ASIO_BACKEND}};
    return baseline::run(count, arguments, about, serve);
}
