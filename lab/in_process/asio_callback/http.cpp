// SPDX-License-Identifier: BSL-1.0
//
// Requests and responses with handlers. Handlers of one chain follow each other, so connections need no
// strand even where any thread may run any handler.
#include <lab/in_process/asio_callback/chains.hpp>
#include <lab/in_process/sessions.hpp>

#include <cstdint>
#include <optional>

namespace {

using asio_lab::receive_message;
using asio_lab::send_all;

class http_connection {
public:
    explicit http_connection(boost::asio::io_context& context)
        : sockets_{context, lab::transport::tcp} {}

    void begin(std::uint64_t requests, lab::histogram& latency) {
        timer_.emplace(latency);
        to_ask_ = requests;
        to_answer_ = requests;
        answer();
        ask();
    }

private:
    void ask() {
        if (to_ask_-- == 0) return;
        send_all(sockets_.client, lab::bytes_of(lab::http_request), [this] {
            receive_message(sockets_.client, responses_, [this] {
                timer_->lap();
                ask();
            });
        });
    }

    void answer() {
        if (to_answer_-- == 0) return;
        receive_message(sockets_.server, requests_, [this] {
            send_all(sockets_.server, lab::bytes_of(lab::http_response), [this] { answer(); });
        });
    }

    asio_lab::library::stream_pair sockets_;
    lab::http_inbox requests_{lab::http_request};
    lab::http_inbox responses_{lab::http_response};
    std::optional<lab::lap_timer> timer_;
    std::uint64_t to_ask_ = 0;
    std::uint64_t to_answer_ = 0;
};

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::http_case& work) {
    return lab::prepared<lab::rounds_session<library, http_connection>>(how, work.connections);
}

lab::preparation asio_lab::prepare(layout how, const lab::threads_http_case& work) {
    return lab::prepared<lab::threads_rounds_session<library, http_connection>>(how, work.threads,
                                                                                work.connections);
}
