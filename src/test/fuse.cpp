// SPDX-License-Identifier: BSL-1.0
//
// Faults, and the runs that meet them: see include/gyre/test/fuse.hpp.
#include <gyre/test/fuse.hpp>

#include <gyre/coro/frame_allocator.hpp>

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace gyre::test {
namespace {

// What transfers and has to wait is canceled where another coroutine closes its descriptor.
constexpr std::array receiving{errc::connection_reset, errc::connection_timed_out,
                               errc::host_unreachable, errc::canceled};
constexpr std::array waiting{errc::not_enough_memory};
constexpr std::array sending{errc::broken_pipe, errc::connection_reset, errc::no_buffer_space,
                             errc::canceled};
constexpr std::array datagram_sending{errc::no_buffer_space, errc::network_unreachable,
                                      errc::operation_not_permitted, errc::canceled};
constexpr std::array datagram_receiving{errc::connection_refused, errc::canceled};
constexpr std::array opening{errc::process_descriptors_exhausted,
                             errc::system_descriptors_exhausted, errc::not_enough_memory};
constexpr std::array accepting{errc::connection_aborted, errc::process_descriptors_exhausted,
                               errc::no_buffer_space, errc::canceled};
constexpr std::array connecting{errc::connection_refused, errc::connection_timed_out,
                                errc::network_unreachable, errc::address_not_available,
                                errc::canceled};
constexpr std::array binding{errc::address_in_use, errc::address_not_available,
                             errc::permission_denied};
constexpr std::array listening{errc::address_in_use};
constexpr std::array setting{errc::no_buffer_space};
constexpr std::array shutting{errc::not_connected};
constexpr std::array file_writing{errc::no_space_on_device, errc::input_output, errc::canceled};
constexpr std::array file_reading{errc::input_output, errc::canceled};
constexpr std::array naming{errc::permission_denied, errc::no_such_file, errc::input_output};
// What a watch of a path waits for would not come: there is a link, and it may be read.
constexpr std::array link_reading{errc::input_output};
constexpr std::array starting{errc::resource_unavailable, errc::not_enough_memory};

// What the program holds of malloc's memory, without what is kept for the next frames.
std::size_t memory_in_use() noexcept {
    frame_cache::trim();
    frame_cache::trim_central_cache();
    return ::mallinfo2().uordblks;
}

// The numbers that the process has open.
std::size_t descriptors_open() {
    std::error_code failed;
    const std::filesystem::directory_iterator all{"/proc/self/fd", failed};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct one_run {
    std::string wrong;
    std::size_t memory_left = 0;  // Bytes.
    std::size_t descriptors_left = 0;

    [[nodiscard]] bool left_something() const noexcept {
        return memory_left > 0 || descriptors_left > 0;
    }
};

one_run run_once(const std::function<std::string(fuse&)>& scenario, fuse& fault) {
    const std::size_t open_before = descriptors_open();
    const std::size_t before = memory_in_use();
    one_run it;
    {
        const std::string said = scenario(fault);
        if (!said.empty()) it.wrong = said;
    }
    if (!it.wrong.empty()) return it;  // Its own text is no leak.
    const std::size_t after = memory_in_use();
    const std::size_t open_after = descriptors_open();
    if (after > before) it.memory_left = after - before;
    if (open_after > open_before) it.descriptors_left = open_after - open_before;
    return it;
}

// What is made once for the whole program shows but once, and what malloc keeps of freed pieces (as in use,
// it says) is bounded: only what is left each time is wrong.
void look_again(one_run& it, const std::function<std::string(fuse&)>& scenario, std::size_t nth,
                std::size_t which) {
    constexpr int repetitions = 64;
    for (int again = 0; again < repetitions && it.left_something(); ++again) {
        fuse same{nth, which};
        it = run_once(scenario, same);
    }
    if (it.memory_left > 0) it.wrong = std::to_string(it.memory_left) + " bytes of memory are left";
    if (it.descriptors_left > 0)
        it.wrong = std::to_string(it.descriptors_left) + " descriptors are left open";
}

}  // namespace

std::span<const errc> errors_of(opcode code) noexcept {
    switch (code) {
        case opcode::receive:
        case opcode::receive_lease: return receiving;
        case opcode::wait_ready: return waiting;
        case opcode::receive_scatter:
        case opcode::receive_batch: return datagram_receiving;
        case opcode::send: return sending;
        case opcode::send_gather:
        case opcode::send_batch: return datagram_sending;
        case opcode::accept: return accepting;
        case opcode::connect: return connecting;
        case opcode::open_socket:
        case opcode::make_socket_pair:
        case opcode::make_pipe:
        case opcode::duplicate:
        case opcode::open_watch: return opening;
        case opcode::bind:
        case opcode::remove_stale_path: return binding;
        case opcode::listen: return listening;
        case opcode::shutdown: return shutting;
        case opcode::set_option:
        case opcode::get_option:
        case opcode::set_peer:
        case opcode::local_address:
        case opcode::remote_address:
        case opcode::add_watch: return setting;
        case opcode::write:
        case opcode::write_gather:
        case opcode::synchronize:
        case opcode::allocate:
        case opcode::resize: return file_writing;
        case opcode::read:
        case opcode::read_scatter: return file_reading;
        case opcode::open_file:
        case opcode::file_status:
        case opcode::rename:
        case opcode::remove:
        case opcode::make_directory:
        case opcode::list_directory: return naming;
        case opcode::read_link: return link_reading;
        case opcode::spawn_process: return starting;
        case opcode::find_interface:
        case opcode::learn_timestamping:
        case opcode::learn_kind:
        case opcode::reap_process:
        case opcode::signal_process:
        case opcode::disown_process:
        case opcode::remove_watch:
        case opcode::call: return {};
    }
    return {};
}

int fuse::burn(const operation& op) noexcept {
    const std::span<const errc> errors = errors_of(op.code);
    if (errors.empty() || counted_.fetch_add(1, std::memory_order_relaxed) + 1 != nth_) return 0;
    if (instead_) {
        blown_.store(true, std::memory_order_release);
        instead_();
        return 0;
    }
    more_errors_ = error_ + 1 < errors.size();
    fault_ = error{errors[error_ % errors.size()], activity_of(op.code)};
    blown_.store(true, std::memory_order_release);
    return fault_ == errc::canceled ? -ECANCELED : -static_cast<int>(fault_.code());
}

std::string fuse::text() const {
    if (!blown()) return {};
    const std::string which = "operation " + std::to_string(nth_);
    return fault_ ? which + ", " + fault_.message() : which;
}

fuse_report fail_each(const std::function<std::string(fuse&)>& scenario,
                      std::size_t operations_max) {
    fuse_report report;
    std::size_t operations = 0;  // At most, of the runs so far.
    const auto went_wrong = [&report](const one_run& it) {
        if (!it.wrong.empty()) report.text_ += "without a fault: " + it.wrong + "\n";
        return !it.wrong.empty();
    };
    fuse none;
    if (went_wrong(run_once(scenario, none))) return report;
    operations = none.counted();
    for (std::size_t nth = 1;; ++nth) {
        if (nth > operations_max) {
            report.text_ += "more than " + std::to_string(operations_max) + " operations\n";
            return report;
        }
        bool more = true;
        for (std::size_t which = 0; more; ++which) {
            fuse fault{nth, which};
            one_run it = run_once(scenario, fault);
            operations = std::max(operations, fault.counted());
            if (!fault.blown()) {
                if (went_wrong(it) || nth > operations) return report;
                break;
            }
            look_again(it, scenario, nth, which);
            if (!it.wrong.empty()) report.text_ += fault.text() + ": " + it.wrong + "\n";
            ++report.faults_;
            report.operations_ = nth;
            more = fault.has_more_errors();
        }
    }
}

}  // namespace gyre::test
