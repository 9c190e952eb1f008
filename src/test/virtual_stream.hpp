// SPDX-License-Identifier: BSL-1.0
//
// A stream socket: listening, or one end of a connection.
//
// What is written stands in a bounded buffer until the peer has room for it, then it is under way, and
// then in the peer's buffer, which is bounded too: a peer that does not read stops the writer.
// Acknowledgements and news of room take no time; whatever else passes between the ends takes what the
// link takes.
//
// Pipes are connections within a machine, of which each end has one direction.
#pragma once

#include <test/virtual_socket.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace gyre::test {

class virtual_stream final : public virtual_socket {
public:
    using virtual_socket::virtual_socket;

    /// Connects two new ones, on one machine, as socketpair(2) does.
    static void join(const std::shared_ptr<virtual_stream>& one,
                     const std::shared_ptr<virtual_stream>& other);

    /// The same, one of which only reads and the other only writes.
    static void join_as_pipe(const std::shared_ptr<virtual_stream>& reader,
                             const std::shared_ptr<virtual_stream>& writer);

    [[nodiscard]] int listen(int backlog) override;
    [[nodiscard]] int accept(std::shared_ptr<virtual_socket>& taken) override;
    [[nodiscard]] int connect(const endpoint& to, bool begun) override;
    [[nodiscard]] received receive(memory_parts into, reading how) override;
    [[nodiscard]] int send(memory_parts from, const endpoint&) override;
    [[nodiscard]] int shutdown(int how) override;
    [[nodiscard]] std::uint32_t ready() const noexcept override;
    [[nodiscard]] bool connected() const noexcept override { return state_ == state::connected; }
    [[nodiscard]] std::size_t bytes_held() const noexcept override;
    [[nodiscard]] std::uint64_t bytes_acknowledged() const noexcept override {
        return acknowledged_;
    }
    [[nodiscard]] std::size_t bytes_untaken() const noexcept override;
    void close() override;
    void break_off() override;
    void forget_peer() noexcept override {
        peer_end_.reset();
        queue_.clear();
    }

private:
    enum class state : std::uint8_t { fresh, listening, connecting, connected, over };

    /// What is on its way to the peer.
    struct segment {
        std::vector<std::byte> bytes;
        bool last = false;  // Nothing follows.
    };

    [[nodiscard]] std::shared_ptr<virtual_stream> self() {
        return std::static_pointer_cast<virtual_stream>(shared_from_this());
    }
    [[nodiscard]] int connect_here(const endpoint& to);
    void knock(int attempt);
    void give_up(int attempt);
    void answer(const std::shared_ptr<virtual_stream>& caller);
    void tell(const std::shared_ptr<virtual_stream>& to, std::function<void()> heard);
    void refused(int why);
    void established(const std::shared_ptr<virtual_stream>& with);
    [[nodiscard]] std::shared_ptr<virtual_stream> find_listener(virtual_host& on,
                                                                const endpoint& to) const;

    [[nodiscard]] std::size_t room_to_send() const noexcept;
    void push();
    void stall();
    void wait_for_link(unsigned stall);
    void arrive();
    void reset_peer();
    void on_reset();
    void end(int why);
    void let_go();

    state state_ = state::fresh;
    std::shared_ptr<virtual_stream> peer_end_;
    virtual_host* peer_host_ = nullptr;

    std::vector<std::byte> unread_;
    std::size_t read_ = 0;  // Of `unread_`, from its front.
    std::vector<std::byte> unsent_;
    std::uint64_t acknowledged_ = 0;
    std::deque<segment> under_way_;  // Each has an event of its own; they arrive in this order.
    std::size_t bytes_under_way_ = 0;
    time_point last_arrival_{};
    unsigned epoch_ = 0;  // Raised where what was under way is lost: it must not arrive.
    bool stalled_ = false;
    unsigned stalls_ = 0;

    bool pipe_ = false;
    bool answered_ = false;       // It was let in, if only it knew.
    bool reading_ended_ = false;  // By us.
    bool writing_ended_ = false;
    bool end_sent_ = false;
    bool end_received_ = false;

    std::size_t backlog_ = 0;
    std::deque<std::shared_ptr<virtual_stream>> queue_;
};

}  // namespace gyre::test
