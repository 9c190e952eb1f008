// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/hub.hpp>

#include <gyre/base/check.hpp>
#include <gyre/sync/timeout.hpp>

#include <algorithm>
#include <utility>

namespace gyre::websocket {

namespace {

outbox_options outbox_of(const hub_options& options) noexcept {
    outbox_options made;
    made.bytes_max = options.bytes_max;
    made.messages_max = options.messages_max;
    switch (options.when_full) {
        case slow_member::wait: made.when_full = slow_consumer::wait; break;
        case slow_member::drop_oldest:
        case slow_member::conflate: made.when_full = slow_consumer::drop_oldest; break;
        case slow_member::disconnect: made.when_full = slow_consumer::disconnect; break;
    }
    return made;
}

void add(hub_counters& to, const outbox& of) noexcept {
    const outbox_counters& counted = of.counters();
    to.delivered += counted.written;
    to.dropped += counted.dropped;
    to.conflated += counted.conflated;
    to.queued_bytes_max = std::max(to.queued_bytes_max, counted.queued_bytes_max);
}

}  // namespace

// One who is served, in the frame of its `serve`.
class hub::member : public list_link<>, public list_link<late_tag> {
public:
    member(hub& of, const connection& to)
        : box{outbox_of(of.options_)}, agreed{to.agreement().deflate}, of_{of} {
        of_.members_.push_back(*this);
        ++of_.count_;
    }
    member(const member&) = delete;
    member& operator=(const member&) = delete;
    ~member() {
        list_link<>::unlink();
        list_link<late_tag>::unlink();
        if (of_.waited_for_ == this) of_.waited_for_ = nullptr;
        --of_.count_;
        if (box.failure() == errc::limit_exceeded) ++of_.counters_.disconnected;
        add(of_.counters_, box);
        box.close();  // A sender that waits for room goes on without it.
    }

    outbox box;
    std::optional<deflate_agreement> agreed;

private:
    hub& of_;
};

hub::hub(const hub_options& options) : options_{options}, compressor_{options.deflate} {
    expects(options.members_max > 0, "a hub has room for a member");
}

hub::~hub() { expects(count_ == 0, "a hub outlives its members"); }

task<io_result<>> hub::serve(connection& to) {
    if (closed_) co_return error{errc::closed, activity::write};
    if (count_ == options_.members_max) co_return error{errc::limit_exceeded};
    member it{*this, to};
    const io_result<> ended = co_await to.send_from(it.box);
    co_return ended;
}

error hub::refusal(const prepared_message& message) const noexcept {
    if (closed_) return {errc::closed, activity::write};
    if (message.plain().size() > options_.bytes_max) return {errc::message_size, activity::write};
    return {};
}

// What is refused by a member, its own `serve` tells.
void hub::offer(prepared_message& message, std::optional<key> of) {
    ++counters_.messages;
    if (options_.when_full == slow_member::conflate) of = of.value_or(key{});
    else of.reset();
    members_.for_each([&](member& each) {
        const io_result<> sent = each.box.try_send(compressor_.frame_of(message, each.agreed), of);
        if (sent.error() == errc::resource_unavailable) late_.push_back(each);
    });
}

io_result<> hub::send_now(prepared_message message, std::optional<key> of) {
    expects(options_.when_full != slow_member::wait, "a hub that may wait is sent to by `send`");
    if (const error refused = refusal(message)) return refused;
    if (!message.empty()) offer(message, of);
    return {};
}

task<io_result<>> hub::send(prepared_message message, std::optional<key> of) {
    if (const error refused = refusal(message)) co_return refused;
    io_result<mutex::guard> turn = co_await sending_.lock();
    if (!turn.ok()) co_return turn.error();
    const mutex::guard held = turn.take();
    if (const error refused = refusal(message)) co_return refused;
    if (message.empty()) co_return io_result<>{};
    offer(message, of);
    const error waited = co_await wait_for_late(message);
    co_return waited;
}

// Any of them may leave meanwhile, the one that is waited for included.
task<error> hub::wait_for_late(prepared_message& message) {
    while (!late_.empty()) {
        member& each = late_.pop_front();
        waited_for_ = &each;
        const shared_bytes& frame = compressor_.frame_of(message, each.agreed);
        const io_result<> sent = co_await with_timeout(options_.wait_max, each.box.send(frame));
        member* const there = std::exchange(waited_for_, nullptr);
        if (sent.error() == errc::canceled) {
            forget_late();
            co_return sent.error();
        }
        if (sent.error() == errc::timed_out && there != nullptr) {
            there->box.fail({errc::limit_exceeded, activity::write});
        }
    }
    co_return error{};
}

void hub::forget_late() noexcept {
    while (!late_.empty()) late_.pop_front();
}

void hub::close() noexcept {
    closed_ = true;
    members_.for_each([](member& each) { each.box.close(); });
}

hub_counters hub::counters() {
    hub_counters all = counters_;
    members_.for_each([&all](member& each) { add(all, each.box); });
    return all;
}

}  // namespace gyre::websocket
