// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/arrival_log.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <utility>

namespace exchange::bench {

arrival_log::arrival_log(in_sequence first, std::size_t commands_max, const event_shape& shape,
                         const answers& wanted)
    : first_{first}, shape_{shape}, wanted_{wanted}, commands_(commands_max) {
    gyre::expects(shape.measured <= wanted.size());
}

void arrival_log::take(const event_stamp& stamp, answer what, gyre::time_point now) {
    if (stamp.in_seq < first_ || stamp.in_seq - first_ >= commands_.size()) [[unlikely]] {
        return complain("a message of command " + std::to_string(stamp.in_seq) +
                        ", which was not sent");
    }
    record& it = commands_[stamp.in_seq - first_];
    if (stamp.index == 0) it.first = what;
    if (stamp.last_in_event) it.expected = static_cast<std::uint16_t>(stamp.index + 1);
    ++it.seen;
    if (it.expected == 0 || it.seen < it.expected) return;
    if (it.seen > it.expected) [[unlikely]] {
        return complain("command " + std::to_string(stamp.in_seq) + " derived " +
                        std::to_string(it.seen) + " messages, but said that there are " +
                        std::to_string(it.expected));
    }
    it.complete = now;
    ++(precedes(it) ? before_complete_ : measured_complete_);
}

// Whatever precedes an event rests in the book; what is measured then takes it away.
bool arrival_log::precedes(const record& it) const noexcept {
    return shape_.before > 0 && it.first.kind == event_kind::order_entered;
}

std::vector<arrival_log::event_arrival> arrival_log::events() {
    std::vector<event_arrival> found;
    event_arrival current;
    tally before;
    tally measured;
    for (std::uint64_t at = 0; at < commands_.size(); ++at) {
        const record& it = commands_[at];
        if (it.expected == 0 || it.seen != it.expected) complain_of_incomplete(at);
        if (precedes(it)) {
            if (before.add(it) < shape_.before) continue;
            check(before.derived, shape_.derived_before, "what precedes an event");
            before = {};
        } else {
            check_answer(at, wanted_[measured.commands]);
            if (measured.commands == 0) current.first = at;
            current.last = at;
            current.complete = std::max(current.complete, it.complete);
            if (measured.add(it) < shape_.measured) continue;
            check(measured.derived, shape_.derived, "event " + std::to_string(found.size()));
            found.push_back(std::exchange(current, {}));
            measured = {};
        }
    }
    if (found.size() * shape_.inbound() != commands_.size())
        complain("there were " + std::to_string(found.size()) + " events instead of " +
                 std::to_string(commands_.size() / shape_.inbound()));
    if (!fault_.empty()) return {};
    return found;
}

void arrival_log::check_answer(std::uint64_t at, const answer& wanted) {
    const answer& it = commands_[at].first;
    if (it == wanted || wanted.kind == event_kind{}) return;
    const auto text = [](const answer& one) {
        return "event kind " + std::to_string(number(one.kind)) + ", reason " +
               std::to_string(one.reason);
    };
    complain("command " + std::to_string(first_ + at) + " was answered by " + text(it) +
             " instead of " + text(wanted));
}

void arrival_log::check(std::uint32_t derived, std::uint32_t wanted, const std::string& what) {
    if (derived == wanted) return;
    complain(what + " derived " + std::to_string(derived) + " messages instead of " +
             std::to_string(wanted));
}

void arrival_log::complain_of_incomplete(std::uint64_t at) {
    const record& it = commands_[at];
    complain("command " + std::to_string(first_ + at) +
             " is incomplete: " + std::to_string(it.seen) + " messages of " +
             (it.expected == 0 ? std::string{"more"} : std::to_string(it.expected)));
}

void arrival_log::complain(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
}

}  // namespace exchange::bench
