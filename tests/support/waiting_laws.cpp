// SPDX-License-Identifier: BSL-1.0
//
// The laws of waiting_laws.hpp.
#include <support/waiting_laws.hpp>

namespace gyre::testing {
namespace {

void nothing(task_group&) {}

}  // namespace

void check_wait(const waiting_subject& of, const std::function<void(task_group&)>& before,
                const std::function<void(task_group&, waiting&)>& act, error expected) {
    INFO(std::string{of.name});
    const auto test = [&](io_context& io) -> task<> {
        const std::unique_ptr<waiting> it = of.make(io);
        watched seen;
        const auto body = [&](task_group& group) -> task<> {
            before(group);
            group.spawn(it->watch(seen));
            co_await settle();
            act(group, *it);
            static_cast<void>(co_await shielded(seen.resumed.wait(), patience));
            co_await settle();
            CHECK(seen.resumptions == 1);
            CHECK(seen.outcome == expected);
            seen.may_end.set();
        };
        co_await with_group(body);
        CHECK(seen.resumptions == 1);
    };
    on_every_backend(test);
}

void check_stopped_before_start(const waiting_subject& of) {
    const auto stop = [](task_group& group) { group.request_stop(); };
    check_wait(of, stop, [](task_group&, waiting&) {}, errc::canceled);
}

void check_stopped_while_pending(const waiting_subject& of) {
    const auto stop = [](task_group& group, waiting&) { group.request_stop(); };
    check_wait(of, nothing, stop, errc::canceled);
}

void check_woken_then_stopped(const waiting_subject& of) {
    const auto act = [](task_group& group, waiting& it) {
        it.wake();
        group.request_stop();
    };
    check_wait(of, nothing, act, errc::ok);
}

void check_stopped_then_woken(const waiting_subject& of) {
    const auto act = [](task_group& group, waiting& it) {
        group.request_stop();
        it.wake();
    };
    check_wait(of, nothing, act, errc::canceled);
}

void check_drain_ignored(const waiting_subject& of) {
    const auto drain = [](task_group& group) { group.request_drain(); };
    const auto wake = [](task_group&, waiting& it) { it.wake(); };
    check_wait(of, drain, wake, errc::ok);
    const auto drain_and_wake = [](task_group& group, waiting& it) {
        group.request_drain();
        it.wake();
    };
    check_wait(of, nothing, drain_and_wake, errc::ok);
}

}  // namespace gyre::testing
