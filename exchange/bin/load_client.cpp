// SPDX-License-Identifier: BSL-1.0
//
// Preparing, fencing, sending: see load_client.hpp.
#include <exchange/bin/load_client.hpp>

#include <exchange/management/words.hpp>

#include <array>
#include <chrono>
#include <variant>

namespace exchange {
namespace {

using gyre::task;

constexpr std::uint64_t numbers_skipped = 1u << 16;
constexpr auto again_after = std::chrono::milliseconds{200};

/// Finds the refusal of one message.
struct refusal_reader {
    std::uint64_t of;
    reject_reason found = reject_reason::none;

    void operator()(const event_stamp&, const order_rejected& it) {
        if (number(it.client_seq) == of) found = it.reason;
    }
    void operator()(const event_stamp&, const auto&) {}
    void operator()(const message_rejected&) {}
};

}  // namespace

steady_ns load_client::now() noexcept {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<steady_ns>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

task<> load_client::run() {
    co_await client_.run();
    over_ = true;
    changed_.set();
    progress_.set();
}

void load_client::heard(std::uint64_t, std::span<const std::byte> message) noexcept {
    if (fence_ != 0) {
        refusal_reader reader{fence_};
        static_cast<void>(decode_private_event(message, reader));
        if (reader.found != reject_reason::none) {
            fence_ = 0;
            fenced_ = reader.found;
            changed_.set();
            return;
        }
    }
    if (trading_) view_.hear(message, now());
    changed_.set();
    progress_.set();
}

void load_client::disconnected(soup_ending why) noexcept {
    const bool was_in = why != soup_ending::rejected && why != soup_ending::life_ended;
    if (!leaving_ && was_in) ++losses_;
    view_.lost_connection();
    changed_.set();
    progress_.set();
}

/// Numbers begin anew, and a fence that we wait for is put up again: as the first of them, since what
/// trades comes behind it.
next_life load_client::life_ended(const soup_session&, const soup_session&) noexcept {
    view_.begin_life();
    ++lives_;
    next_ = 1;
    if (fence_ != 0) fence_ = next_++;
    return next_life::join;
}

std::string load_client::why_not() const {
    const soup_client& machine = client_.machine();
    if (machine.rejected() == soup_reject::not_authorized) return "wrong name or password";
    if (machine.rejected() != soup_reject::none) return "there is no such session";
    if (over_) return std::string{describe(machine.ending())};
    return machine.logged_in() ? "no answer in time" : "cannot be reached";
}

template <command_record Command>
bool load_client::send(const Command& what) {
    std::array<std::byte, message_bytes_of<Command>> bytes;
    encode(what, bytes);
    return client_.send(bytes);
}

task<std::string> load_client::fence(gyre::time_point deadline) {
    fence_ = next_++;
    gyre::time_point say_at = gyre::time_point::min();
    while (fence_ != 0) {
        const gyre::time_point moment = std::chrono::steady_clock::now();
        if (over_ || moment >= deadline) co_return why_not();
        // Once more if it may be lost with a connection: the second is refused as a duplicate, which is
        // as good an answer.
        if (moment >= say_at) {
            const order_reference nothing{};
            static_cast<void>(
                send(cancel_order{session_id::none, client_sequence{fence_}, nothing}));
            say_at = moment + again_after;
        }
        changed_.reset();
        static_cast<void>(
            co_await gyre::with_deadline(std::min(deadline, say_at), changed_.wait()));
    }
    co_return "";
}

task<std::string> load_client::prepare(gyre::time_point deadline) {
    for (;;) {
        const std::string failure = co_await fence(deadline);
        if (!failure.empty()) co_return failure;
        if (fenced_ != reject_reason::duplicate_client_sequence) break;
        next_ += numbers_skipped;
    }
    if (fenced_ != reject_reason::unknown_order) co_return "refused: " + word_for(fenced_);
    const bool sent = cancel_all();
    if (!sent) co_return "the connection is lost";
    const std::string failure = co_await fence(deadline);
    if (!failure.empty()) co_return failure;
    trading_ = true;
    co_return "";
}

bool load_client::cancel_all() {
    cancel_orders all{};
    all.client_seq = client_sequence{next_};
    all.account = account_;
    if (!send(all)) return false;
    if (trading_) view_.asks(all, now());  // As below.
    ++next_;
    return true;
}

bool load_client::trade(order_mix& mix) {
    if (!client_.machine().logged_in()) return false;
    const order_mix_command chosen = mix.next(view_, client_sequence{next_});
    return std::visit(
        [this](const auto& it) {
            if (!send(it)) return false;
            view_.asks(it, now());  // Nothing is heard before we wait.
            ++next_;
            return true;
        },
        chosen);
}

task<std::string> load_client::settle(gyre::time_point deadline) {
    const std::string failure = co_await fence(deadline);
    if (failure.empty()) view_.settle();
    co_return failure;
}

}  // namespace exchange
