// SPDX-License-Identifier: BSL-1.0
//
// The words of include/gyre/io/session_list.hpp.
#include <gyre/io/session_list.hpp>

#include <gyre/coro/task_dump.hpp>

#include <chrono>

namespace gyre {

std::string session_report::message() const {
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(age).count();
    std::string text = peer.to_string() + ", for " + std::to_string(milliseconds) + " ms\n";
    for (std::size_t start = 0; start < waits.size();) {
        const std::size_t end = waits.find('\n', start);
        text += "  " + waits.substr(start, end - start) + '\n';
        start = end == std::string::npos ? waits.size() : end + 1;
    }
    return text;
}

std::string straggler_report::message() const {
    std::string text =
        std::to_string(sessions) + (sessions == 1 ? " session has" : " sessions have");
    text += " not ended\n";
    for (const session_report& each : oldest) text += each.message();
    return text;
}

straggler_report session_list::report(loop& on, std::size_t details_max) {
    straggler_report told;
    const time_point now = on.read_clock();
    sessions_.for_each([&](const place& each) {
        if (told.sessions++ >= details_max) return;
        session_report one;
        one.peer = each.peer_;
        one.age = time_left(now, each.began_);
        if (each.chain_ != nullptr) one.waits = dump_tasks(on, *each.chain_);
        told.oldest.push_back(std::move(one));
    });
    return told;
}

}  // namespace gyre
