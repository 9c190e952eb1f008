// SPDX-License-Identifier: BSL-1.0
//
// gyre's engine as a secure_channel: see tls_security.hpp.
#include <exchange/net/transport/tls_security.hpp>

#include <gyre/base/error.hpp>
#include <gyre/tls/engine.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace exchange {
namespace {

namespace tls = gyre::tls;
using gyre::errc;

/// Reports that nobody is told.
struct failures_of_tls {
    channel_security::failure_report told;

    void note(const gyre::endpoint& peer, std::string_view reason) const {
        if (told) told(peer, reason);
    }
};

constexpr std::size_t tls_record_bytes = std::size_t{16} * 1024;  // RFC 8446, 5.1.

class tls_channel final : public secure_channel {
public:
    tls_channel(gyre::io_result<tls::engine> made, gyre::endpoint peer,
                std::shared_ptr<const failures_of_tls> failures)
        : peer_{peer}, failures_{std::move(failures)} {
        if (made.ok()) {
            engine_ = made.take();
            go_on();
        } else {
            fail(made.error());
        }
    }

    [[nodiscard]] std::span<std::byte> space() noexcept override {
        if (failed_ || ended_) return ignored_;
        const std::span<std::byte> space = engine_.input_space();
        stuck_ = space.empty();
        return stuck_ ? std::span<std::byte>{ignored_} : space;
    }

    void received(std::size_t size) noexcept override {
        if (failed_ || ended_) return;
        if (stuck_) return break_off();
        engine_.received(size);
        if (!engine_.established()) go_on();
    }

    [[nodiscard]] std::size_t read(std::span<std::byte> into) noexcept override {
        if (failed_ || ended_ || !engine_.established()) return 0;
        const auto [error, size] = engine_.read(into);
        if (!error) return size;
        if (error == errc::eof) ended_ = true;
        else if (error != errc::resource_unavailable) fail(error);
        else if (engine_.held_up()) break_off();
        return 0;
    }

    [[nodiscard]] bool open() const noexcept override { return !failed_ && engine_.established(); }
    [[nodiscard]] bool failed() const noexcept override { return failed_; }
    [[nodiscard]] bool refused() const noexcept override { return refused_; }
    [[nodiscard]] bool ended() const noexcept override { return ended_; }

    [[nodiscard]] std::size_t write(
        std::span<const std::span<const std::byte>> parts) noexcept override {
        if (!open() || finished_ || !engine_.output().empty()) return 0;
        std::size_t taken = 0;
        if (parts.size() == 1) return put(parts.front());
        // A packet is short: a record for each would cost more than its bytes.
        std::array<std::byte, tls_record_bytes> joined;
        std::size_t size = 0;
        for (std::span<const std::byte> part : parts) {
            while (!part.empty()) {
                const std::size_t more = std::min(part.size(), joined.size() - size);
                std::memcpy(joined.data() + size, part.data(), more);
                size += more;
                part = part.subspan(more);
                if (size < joined.size()) continue;
                const std::size_t put_now = put(joined);
                taken += put_now;
                if (put_now < size) return taken;
                size = 0;
            }
        }
        return taken + put(std::span{joined}.first(size));
    }

    [[nodiscard]] std::span<const std::byte> output() const noexcept override {
        return engine_.output();
    }

    void sent(std::size_t size) noexcept override {
        engine_.sent(size);
        if (!failed_ && !engine_.established()) go_on();  // It may have waited for that.
    }

    void finish(soup_ending why) noexcept override {
        if (std::exchange(finished_, true) || failed_) return;
        if (engine_.established()) static_cast<void>(engine_.end_writing());
        else if (why == soup_ending::none)
            failures_->note(peer_, "no handshake: the peer has left");
        else failures_->note(peer_, std::string{"no handshake: "}.append(describe(why)));
    }

private:
    void go_on() noexcept {
        const auto [error] = engine_.handshake();
        if (error && error != errc::resource_unavailable) fail(error);
    }

    [[nodiscard]] std::size_t put(std::span<const std::byte> bytes) noexcept {
        if (bytes.empty()) return 0;
        const auto [error, size] = engine_.write(bytes);
        if (error && error != errc::resource_unavailable) fail(error);
        return size;
    }

    /// Its answers to the peer are not read, and would wait without end.
    void break_off() noexcept { fail(errc::limit_exceeded); }

    void fail(const gyre::error& why) noexcept {
        failed_ = true;
        // A connection that was only lost may do better the next time.
        refused_ = !engine_.established() && why != errc::tls_truncated;
        std::string reason{engine_.failure()};
        if (reason.empty()) reason = why.message();
        failures_->note(peer_, reason);
    }

    tls::engine engine_;
    gyre::endpoint peer_;
    std::shared_ptr<const failures_of_tls> failures_;
    std::array<std::byte, 512> ignored_{};  // Where bytes go that mean nothing any more.
    bool stuck_ = false;                    // It cannot take what is being read.
    bool failed_ = false;
    bool refused_ = false;
    bool ended_ = false;
    bool finished_ = false;
};

class tls_security final : public channel_security {
public:
    tls_security(tls::context settings, std::string host, bool client)
        : settings_{std::move(settings)}, host_{std::move(host)}, client_{client} {}

    [[nodiscard]] std::unique_ptr<secure_channel> open(const secure_channel_end& end) override {
        gyre::expects(end.client == client_, "settings for this end");
        return std::make_unique<tls_channel>(
            client_ ? tls::engine::client(settings_, host_of(end)) : tls::engine::server(settings_),
            end.peer, failures_);
    }
    void report_failures(failure_report to) override { failures_->told = std::move(to); }

private:
    [[nodiscard]] std::string host_of(const secure_channel_end& end) const {
        if (!host_.empty()) return host_;
        std::string it = end.peer.to_string();  // With its port.
        it.resize(std::min(it.size(), it.rfind(':')));
        return it.starts_with('[') ? it.substr(1, it.size() - 2) : it;
    }

    tls::context settings_;
    std::string host_;
    bool client_;
    std::shared_ptr<failures_of_tls> failures_ = std::make_shared<failures_of_tls>();
};

}  // namespace

std::shared_ptr<channel_security> serve_with_tls(gyre::tls::context settings) {
    return std::make_shared<tls_security>(std::move(settings), std::string{}, false);
}

std::shared_ptr<channel_security> connect_with_tls(gyre::tls::context settings, std::string host) {
    return std::make_shared<tls_security>(std::move(settings), std::move(host), true);
}

gyre::error check_server_name(const gyre::tls::context& settings, std::string_view host) {
    if (host.empty()) return {};
    return tls::engine::client(settings, host).error();
}

}  // namespace exchange
