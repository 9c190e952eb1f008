// SPDX-License-Identifier: BSL-1.0
//
// Machines and runs: see include/gyre/test/world.hpp.
#include <gyre/test/world.hpp>

#include <gyre/io/acceptor.hpp>
#include <test/virtual_host.hpp>
#include <test/virtual_network.hpp>
#include <test/virtual_time.hpp>

#include <sys/socket.h>

#include <algorithm>

namespace gyre::test {
namespace {

void check_time(duration it) { expects(it >= duration::zero(), "a time is no less than none"); }

void check_chance(double it) { expects(it >= 0 && it <= 1, "a chance is from 0 to 1"); }

void check(const machine_options& it) {
    expects(it.descriptors_max >= 0, "a machine has room for descriptors, or for none");
    expects(it.send_buffer > 0 && it.receive_buffer > 0, "a socket has room for bytes");
    expects(it.backlog_connections_max >= 0, "a backlog is no less than none");
    check_time(it.connect_limit);
    check_time(it.silence_limit);
}

void check(const link_options& it) {
    for (const duration each : {it.latency, it.jitter, it.reordering_delay}) check_time(each);
    for (const double each : {it.loss, it.duplication, it.reordering}) check_chance(each);
}

}  // namespace

// Machines.

machine::machine(virtual_time& in, std::string name, unsigned number,
                 const machine_options& options)
    : host_{std::make_unique<virtual_host>(in, std::move(name), number, options)},
      loop_{std::make_unique<io_context>(host_->make_backend(), host_->fused())} {}

machine::~machine() = default;

const std::string& machine::name() const noexcept { return host_->name(); }
io_context& machine::io() noexcept { return *loop_; }
ipv4 machine::v4() const noexcept { return host_->v4(); }
ipv6 machine::v6() const noexcept { return host_->v6(); }
std::size_t machine::open_descriptors() const noexcept { return host_->open_descriptors(); }
void machine::set_fuse(fuse* it) noexcept { host_->fused().set_fuse(it); }
void machine::break_connections() noexcept { host_->break_connections(); }

void machine::set_settings(std::string path, std::string text) {
    host_->set_settings(std::move(path), std::move(text));
}

// Nothing here takes time, so each step is over when it has begun.
std::pair<stream_socket, stream_socket> machine::connected_pair() noexcept {
    fuse* const kept = host_->fused().set_fuse(nullptr);  // It is the test that connects.
    const endpoint any{ipv4::loopback(), 0};
    stream_acceptor listening = stream_acceptor::listen(*loop_, any).take();
    const endpoint there = listening.local_endpoint().value();
    open_socket_operation open{AF_INET, SOCK_STREAM};
    stream_socket client = stream_socket::adopt(*loop_, host_->perform(open));
    const socket_address raw = there.raw();
    const auto slot_of = [this](int number) -> descriptor_slot& { return host_->slot(number); };
    connect_operation connect;
    connect.target = &slot_of(client.native_handle());
    connect.peer = &raw;
    ensures(host_->perform(connect) == 0, "a connection within a machine");
    accept_operation accept;
    accept.target = &slot_of(listening.native_handle());
    stream_socket server = stream_socket::adopt(*loop_, host_->perform(accept));
    host_->fused().set_fuse(kept);
    return {std::move(client), std::move(server)};
}

// The world.

world::world(const world_options& options) : time_{std::make_unique<virtual_time>(options)} {}

// Loops first: as they end, what is on its way may still arrive anywhere.
world::~world() {
    for (const auto& each : machines_) each->loop_.reset();
    for (const auto& each : machines_) {
        expects(!each->host_->is_in_use(), "what was opened in a world is closed before it ends");
    }
}

machine& world::add(std::string name, const machine_options& options) {
    const auto number = static_cast<unsigned>(machines_.size()) + 1;
    expects(number < 65'536, "a machine more than there are addresses");
    check(options);
    machines_.push_back(
        std::unique_ptr<machine>{new machine{*time_, std::move(name), number, options}});
    return *machines_.back();
}

machine& world::at(std::size_t index) noexcept {
    expects(index < machines_.size(), "a machine of the world");
    return *machines_[index];
}

std::size_t world::machines() const noexcept { return machines_.size(); }

virtual_host& world::own(const machine& it) const noexcept {
    expects(&it.host_->time() == time_.get(), "a machine of this world");
    return *it.host_;
}

void world::set_link(const machine& one, const machine& other, const link_options& options) {
    set_one_way(one, other, options);
    set_one_way(other, one, options);
}

void world::set_links(const link_options& options) {
    check(options);
    time_->network().set_all(options);
}

void world::set_one_way(const machine& from, const machine& to, const link_options& options) {
    check(options);
    time_->network().set(own(from), own(to), options);
}

void world::partition(const machine& one, const machine& other) {
    time_->network().cut(own(one), own(other), true);
    time_->network().cut(own(other), own(one), true);
}

void world::heal(const machine& one, const machine& other) {
    time_->network().cut(own(one), own(other), false);
    time_->network().cut(own(other), own(one), false);
}

io_context& world::loop_of(machine& it) const noexcept {
    static_cast<void>(own(it));
    return it.io();
}

stop_handle world::start(machine& on, task<> work) {
    return launch(loop_of(on), std::move(work), or_terminate{});
}

stop_handle world::start(machine& on, task<io_result<>> work) {
    return launch(loop_of(on), std::move(work), or_terminate{});
}

bool world::step() {
    expects(!loop::any_runs_here(), "a world is not run by what runs in it");
    if (time_->run_ready()) return true;
    const time_point next = time_->next_moment();
    if (next == never) return false;
    time_->advance_to(next);
    time_->run_events();
    return true;
}

run_outcome world::run(duration limit) {
    const auto all_ended = [this] {
        return std::ranges::none_of(machines_,
                                    [](const auto& each) { return each->io().has_work(); });
    };
    return run_until(all_ended, limit);
}

run_outcome world::run_for(duration length) {
    const time_point until = deadline_after(now(), length);
    run_outcome outcome = run_until([] { return false; }, length);
    if (outcome.how() == ending::spun || outcome.how() == ending::endless) return outcome;
    if (until != never) time_->advance_to(until);
    return {};
}

run_outcome world::run_until(const std::function<bool()>& happened, duration limit) {
    expects(!loop::any_runs_here(), "a world is not run by what runs in it");
    const time_point until = deadline_after(now(), limit);
    time_->forgive_spinning();
    for (std::size_t steps = 0;; ++steps) {
        if (happened()) return {};
        if (steps > time_->options().steps_of_a_run_max) return report(ending::endless);
        if (time_->run_ready()) {
            if (time_->spins()) return report(ending::spun);
            continue;
        }
        const time_point next = time_->next_moment();
        if (next == never) {
            if (time_->hear_from_threads()) continue;
            return report(ending::hung);
        }
        if (next > until) {
            time_->advance_to(until);
            return report(ending::time_is_up);
        }
        time_->advance_to(next);
        time_->run_events();
    }
}

run_outcome world::report(ending how) {
    return {how, std::string{describe(how)} + "; GYRE_TEST_SEED=" + std::to_string(seed()) + "\n" +
                     dump()};
}

time_point world::now() const noexcept { return time_->now(); }
std::uint64_t world::seed() const noexcept { return time_->options().seed; }
std::string world::dump() { return time_->dump(); }
const std::string& world::hang() const noexcept { return time_->hang; }

std::size_t world::open_descriptors() const noexcept {
    std::size_t sum = 0;
    for (const auto& each : machines_) sum += each->open_descriptors();
    return sum;
}

std::size_t world::bytes_held() const noexcept {
    std::size_t sum = 0;
    for (const auto& each : machines_) sum += each->host_->bytes_held();
    return sum;
}

}  // namespace gyre::test
