// SPDX-License-Identifier: BSL-1.0
//
// A client's connection on completion handlers of Boost.Asio: session/order_entry_connection.hpp without
// coroutines.
//
// The order of things is the same: the reader of a batch of packets carries all of it out, sends
// the feed, writes its own answers, and lets others write what it caused for them. What is a line
// of a coroutine there is a function here, and what is a local variable there is a member that says
// what goes on.
#pragma once

#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/asio/callback/handler_memory.hpp>
#include <exchange/net/asio/callback/shared_state.hpp>
#include <exchange/net/asio/stream_socket.hpp>
#include <exchange/net/session/order_entry_session.hpp>

#include <gyre/base/intrusive.hpp>

#include <optional>

namespace exchange {

/// Threads:  that of its loop.
/// Cost:     Serves one client after the other; the buffers are taken for each anew, and nothing
///           else. Outlives its handlers.
class callback_connection final : public session_link,
                                  public feed_waiter,
                                  public gyre::list_link<>,
                                  public gyre::list_link<awaits_host> {
public:
    /// @param  shared  Borrowed; outlives this.
    explicit callback_connection(callback_shared_state& shared);
    callback_connection(const callback_connection&) = delete;
    callback_connection& operator=(const callback_connection&) = delete;

    /// Takes charge of a client and serves it, until it or the exchange has had enough. Then its owner is
    /// told.
    void open(asio_stream_socket socket);

    /// Is there a client?
    [[nodiscard]] bool serving() const noexcept { return session_.has_value(); }
    [[nodiscard]] bool logged_in() const noexcept { return session_->logged_in(); }
    [[nodiscard]] bool was_logged_in() const noexcept { return session_->was_logged_in(); }
    [[nodiscard]] gyre::time_point accepted_at() const noexcept { return accepted_at_; }

    /// Ends it now.
    void hang_up() noexcept;

    /// Does what is due.
    void on_timer(gyre::time_point now) noexcept;

    void has_output() noexcept override;
    void cut() noexcept override { static_cast<void>(socket_.shutdown(gyre::shutdown_side::both)); }
    [[nodiscard]] gyre::endpoint peer() const noexcept override;
    [[nodiscard]] std::string_view transport() const noexcept override { return "soup"; }
    void feed_sent() override;

    /// For the facility: writes what others caused.
    void write_announced();

    /// For the facility: the host is not busy any more.
    void host_is_idle() {
        if (hung_up_) leave();
        else carry_on();
    }

private:
    // The reader's side. Each function goes on as far as it can, and leaves the rest to a handler.
    void read();
    void on_read(const boost::system::error_code& failure, std::size_t size);
    void carry_on();
    void await_login() noexcept { awaits_login_ = true; }
    void login_decided();
    [[nodiscard]] bool take_packets() noexcept;
    [[nodiscard]] bool write_out_all();
    [[nodiscard]] bool write_own();
    void reader_goes_on();

    // The end.
    void leave();
    void let_it_read_the_end();
    void discard();
    void gone();
    void close();

    // The writer's side: false if a handler will go on.
    [[nodiscard]] bool write_out();
    [[nodiscard]] bool write_rest();
    [[nodiscard]] bool write_at_once();
    void begin_write();
    void on_written(const boost::system::error_code& failure, std::size_t size);
    void note_sent(const boost::system::error_code& failure, std::size_t size) noexcept;
    void note_clean() noexcept;

    callback_shared_state& shared_;
    asio_stream_socket socket_;
    std::optional<soup_framer> framer_;  // While there is a client.
    std::optional<order_entry_session> session_;
    handler_memory read_memory_;
    handler_memory write_memory_;
    const soup_output* output_ = nullptr;  // What is being written.
    gyre::time_point accepted_at_{};
    gyre::time_point over_since_ = gyre::never;
    std::size_t own_left_ = 0;   // Of what the reader waits for.
    bool carrying_out_ = false;  // Inside take_packets: its own output is written right behind.
    bool writing_ = false;       // From the first attempt on, until nothing is left.
    bool reader_awaits_write_ = false;
    bool awaits_login_ = false;  // The reader: nothing is being read.
    bool hung_up_ = false;
    bool broken_ = false;     // No byte leaves any more.
    bool unwritten_ = false;  // Counted in the shared state.
    bool leaving_ = false;    // Nothing more is carried out.
    bool finished_ = false;   // The reader is done; closed as soon as the writer is.
};

}  // namespace exchange
