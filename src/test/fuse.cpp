// SPDX-License-Identifier: BSL-1.0
//
// Faults, and the runs that meet them: see include/gyre/test/fuse.hpp.
#include <gyre/test/fuse.hpp>

#include <gyre/coro/frame_allocator.hpp>

#include <malloc.h>

#include <array>
#include <utility>

namespace gyre::test {
namespace {

constexpr std::array receiving{errc::connection_reset, errc::connection_timed_out,
                               errc::host_unreachable};
constexpr std::array sending{errc::broken_pipe, errc::connection_reset, errc::no_buffer_space};
constexpr std::array datagram_sending{errc::no_buffer_space, errc::network_unreachable,
                                      errc::operation_not_permitted};
constexpr std::array datagram_receiving{errc::connection_refused};
constexpr std::array opening{errc::process_descriptors_exhausted,
                             errc::system_descriptors_exhausted, errc::not_enough_memory};
constexpr std::array accepting{errc::connection_aborted, errc::process_descriptors_exhausted,
                               errc::no_buffer_space};
constexpr std::array connecting{errc::connection_refused, errc::connection_timed_out,
                                errc::network_unreachable, errc::address_not_available};
constexpr std::array binding{errc::address_in_use, errc::address_not_available,
                             errc::permission_denied};
constexpr std::array listening{errc::address_in_use};
constexpr std::array setting{errc::no_buffer_space};
constexpr std::array shutting{errc::not_connected};
constexpr std::array file_writing{errc::no_space_on_device, errc::input_output};
constexpr std::array file_reading{errc::input_output};
constexpr std::array naming{errc::permission_denied, errc::no_such_file, errc::input_output};
constexpr std::array starting{errc::resource_unavailable, errc::not_enough_memory};

// What the program holds of malloc's memory, without what is kept for the next frames.
std::size_t memory_in_use() noexcept {
    frame_cache::trim();
    frame_cache::trim_central_cache();
    return ::mallinfo2().uordblks;
}

struct one_run {
    std::string wrong;
    std::size_t left = 0;  // Bytes of memory.
};

one_run run_once(const std::function<std::string(fuse&)>& scenario, fuse& fault) {
    const std::size_t before = memory_in_use();
    one_run it;
    {
        const std::string said = scenario(fault);
        if (!said.empty()) it.wrong = said;
    }
    // Its own text is no leak.
    const std::size_t after = it.wrong.empty() ? memory_in_use() : before;
    if (after > before) it.left = after - before;
    return it;
}

}  // namespace

std::span<const errc> errors_of(opcode code) noexcept {
    switch (code) {
        case opcode::receive:
        case opcode::receive_lease:
        case opcode::wait_ready: return receiving;
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
    if (errors.empty() || ++counted_ != nth_) return 0;
    blown_ = true;
    more_errors_ = error_ + 1 < errors.size();
    fault_ = error{errors[error_ % errors.size()], activity_of(op.code)};
    return -static_cast<int>(fault_.code());
}

std::string fuse::text() const {
    if (!blown_) return {};
    return "operation " + std::to_string(nth_) + ", " + fault_.message();
}

fuse_report fail_each(const std::function<std::string(fuse&)>& scenario,
                      std::size_t operations_max) {
    fuse_report report;
    fuse none;
    if (const one_run first = run_once(scenario, none); !first.wrong.empty()) {
        report.text_ = "without a fault: " + first.wrong + "\n";
        return report;
    }
    for (std::size_t nth = 1;; ++nth) {
        if (nth > operations_max) {
            report.text_ += "more than " + std::to_string(operations_max) + " operations\n";
            return report;
        }
        bool more = true;
        for (std::size_t which = 0; more; ++which) {
            fuse fault{nth, which};
            one_run it = run_once(scenario, fault);
            if (!fault.blown()) return report;
            // What is made once for the whole program shows but once, and what malloc keeps of freed
            // pieces (as in use, it says) is bounded.
            constexpr int repetitions = 8;
            for (int again = 0; again < repetitions && it.left > 0; ++again) {
                fuse same{nth, which};
                it = run_once(scenario, same);
            }
            if (it.left > 0) it.wrong = std::to_string(it.left) + " bytes of memory are left";
            if (!it.wrong.empty()) report.text_ += fault.text() + ": " + it.wrong + "\n";
            ++report.faults_;
            report.operations_ = nth;
            more = fault.has_more_errors();
        }
    }
}

}  // namespace gyre::test
