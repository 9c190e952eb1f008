// SPDX-License-Identifier: BSL-1.0
//
// The steps of everything.hpp.
#include <runtime/everything.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/datagram_batch.hpp>
#include <gyre/io/file.hpp>
#include <gyre/io/file_system.hpp>
#include <gyre/io/file_watch.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/process.hpp>
#include <gyre/io/resolver.hpp>
#include <gyre/io/signals.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/runtime/remote_task.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <support/harness.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace gyre::testing {
namespace {

using namespace std::chrono_literals;

constexpr error wrong = errc::foreign;

// What is sent into one end comes out of the other.
template <class From, class To>
task<io_result<>> carry(From& from, To& to, std::size_t size) {
    const std::vector<std::byte> sent(size, std::byte{'x'});
    std::vector<std::byte> got(size);
    for (std::size_t at = 0; at < size;) {
        const auto put = co_await from.write_some(const_buffer{sent}.subspan(at));
        if (!put.ok()) co_return put.error();
        const std::size_t until = at + put.value();
        while (at < until) {
            const auto taken = co_await to.read_some(mutable_buffer{got}.subspan(at, until - at));
            if (!taken.ok()) co_return taken.error();
            at += taken.value();
        }
    }
    co_return got == sent ? io_result<>{} : io_result<>{wrong};
}

task<io_result<>> use_tcp(io_context&, const scratch_directory&) {
    auto listening = co_await tcp_acceptor::listen({ipv4::loopback(), 0});
    if (!listening.ok()) co_return listening.error();
    tcp_acceptor acceptor = listening.take();
    const auto there = acceptor.local_endpoint();
    if (!there.ok()) co_return there.error();
    auto connected = co_await stream_socket::connect(there.value());
    if (!connected.ok()) co_return connected.error();
    auto accepted = co_await acceptor.accept();
    if (!accepted.ok()) co_return accepted.error();
    stream_socket near = connected.take();
    stream_socket far = accepted.take();
    const io_result<> carried = co_await carry(near, far, 40'000);
    if (!carried.ok()) co_return carried.error();
    const auto sent = co_await write_all(far, bytes_of("leased"));
    if (!sent.ok()) co_return sent.error();
    auto leased = co_await near.read();
    if (!leased.ok()) co_return leased.error();
    if (text_of(leased.take().bytes()) != "leased") co_return wrong;
    const io_result<> ended = near.shutdown_send();
    if (!ended.ok()) co_return ended.error();
    std::array<std::byte, 4> space{};
    const auto last = co_await far.read_some(space);
    co_return last.error() == errc::eof ? io_result<>{} : io_result<>{last.error()};
}

task<io_result<>> use_scattered(io_context& io, const scratch_directory&) {
    auto made = stream_socket::connected_pair(io);
    if (!made.ok()) co_return made.error();
    auto [failed, near, far] = std::move(made);
    const std::array<const_buffer, 2> given{bytes_of("two "), bytes_of("parts")};
    const auto sent = co_await near.write_some(const_buffers{given});
    if (!sent.ok()) co_return sent.error();
    std::array<std::byte, 9> space{};
    const std::array<mutable_buffer, 1> into{space};
    const auto got = co_await far.read_some(mutable_buffers{into});
    if (!got.ok()) co_return got.error();
    const io_result<> ready = co_await far.wait(readiness::writable);
    if (!ready.ok()) co_return ready.error();
    co_return text_of(space) == "two parts" ? io_result<>{} : io_result<>{wrong};
}

task<io_result<>> use_udp(io_context&, const scratch_directory&) {
    auto first = co_await udp_socket::bind({ipv4::loopback(), 0});
    auto second = co_await udp_socket::bind({ipv4::loopback(), 0});
    if (!first.ok()) co_return first.error();
    if (!second.ok()) co_return second.error();
    udp_socket near = first.take();
    udp_socket far = second.take();
    const auto there = far.local_endpoint();
    if (!there.ok()) co_return there.error();
    const auto sent = co_await near.send_to(bytes_of("one"), there.value());
    if (!sent.ok()) co_return sent.error();
    std::array<std::byte, 8> space{};
    const auto got = co_await far.receive_from(space);
    if (!got.ok()) co_return got.error();
    datagram_batch batch{4, 16};
    static_cast<void>(batch.append(bytes_of("two"), there.value()));
    static_cast<void>(batch.append(bytes_of("three"), there.value()));
    const auto several = co_await near.send(batch);
    if (!several.ok()) co_return several.error();
    const auto taken = co_await far.receive(batch);
    co_return taken.error();
}

task<io_result<>> use_pipe(io_context& io, const scratch_directory&) {
    auto made = make_pipe(io);
    if (!made.ok()) co_return made.error();
    auto [failed, out, in] = std::move(made);
    co_return co_await carry(in, out, 10'000);
}

task<io_result<>> use_file(io_context&, const scratch_directory& in) {
    auto opened = co_await file::open(in / "file", file_options::updating());
    if (!opened.ok()) co_return opened.error();
    file it = opened.take();
    const io_result<> room = co_await it.allocate(0, 4096);
    if (!room.ok()) co_return room.error();
    const auto put = co_await it.write_durably_at(0, bytes_of("kept, "));
    if (!put.ok()) co_return put.error();
    const auto more = co_await it.write_some_at(put.value(), bytes_of("and more"));
    if (!more.ok()) co_return more.error();
    const io_result<> all = co_await it.sync_all();
    if (!all.ok()) co_return all.error();
    const io_result<> data = co_await it.sync_data();
    if (!data.ok()) co_return data.error();
    const io_result<> range = co_await it.sync_range(0, 4);
    if (!range.ok()) co_return range.error();
    const io_result<> cut = co_await it.resize(14);
    if (!cut.ok()) co_return cut.error();
    std::array<std::byte, 32> space{};
    const auto got = co_await it.read_some_at(0, space);
    if (!got.ok()) co_return got.error();
    if (text_of(std::span{space}.first(got.value())) != "kept, and more") co_return wrong;
    const auto in_order = co_await it.read_some(mutable_buffer{space}.first(4));
    if (!in_order.ok()) co_return in_order.error();
    if (text_of(std::span{space}.first(in_order.value())) != "kept") co_return wrong;
    const auto found = co_await it.status();
    if (!found.ok()) co_return found.error();
    co_return found.value().size == 14 ? io_result<>{} : io_result<>{wrong};
}

task<io_result<>> use_names(io_context&, const scratch_directory& in) {
    in.put("name", "content");
    const io_result<> renamed = co_await rename_file(in / "name", in / "other");
    if (!renamed.ok()) co_return renamed.error();
    const auto found = co_await status_of(in / "other");
    if (!found.ok()) co_return found.error();
    const io_result<> made = co_await make_directory(in / "made");
    if (!made.ok()) co_return made.error();
    auto opened = co_await directory::open(in.path().string());
    if (!opened.ok()) co_return opened.error();
    directory all = opened.take();
    auto beneath = co_await all.open_beneath("other");
    if (!beneath.ok()) co_return beneath.error();
    bool listed = false;
    for (;;) {
        const auto [ended, entry] = co_await all.next();
        if (ended == errc::eof) break;
        if (ended) co_return ended;
        listed |= entry.name == "other";
    }
    const io_result<> gone = co_await remove_directory(in / "made");
    if (!gone.ok()) co_return gone.error();
    const io_result<> removed = co_await remove_file(in / "other");
    if (!removed.ok()) co_return removed.error();
    co_return listed ? io_result<>{} : io_result<>{wrong};
}

task<io_result<>> use_links(io_context&, const scratch_directory& in) {
    in.put("aim", "content");
    ::unlink((in / "link").c_str());  // That a step which was refused has left.
    if (::symlink("./aim", (in / "link").c_str()) != 0)
        co_return error::from_errno(errno, activity::open);
    const auto leads = co_await read_link(in / "link");
    if (!leads.ok()) co_return leads.error();
    if (leads.value() != "./aim") co_return wrong;
    auto opened = co_await directory::open(in.path().string());
    if (!opened.ok()) co_return opened.error();
    directory all = opened.take();
    auto beneath = co_await all.open_beneath("link");
    if (!beneath.ok()) co_return beneath.error();
    const io_result<> renamed = co_await rename_new(in / "link", in / "other link");
    if (!renamed.ok()) co_return renamed.error();
    co_return co_await remove_file(in / "other link");
}

task<io_result<>> use_watch(io_context& io, const scratch_directory& in) {
    auto opened = file_watch::open(io);
    if (!opened.ok()) co_return opened.error();
    file_watch watch = opened.take();
    const auto added = watch.add(in.path().string(), file_event::created);
    if (!added.ok()) co_return added.error();
    static int times = 0;
    const std::string name = in / ("watched " + std::to_string(++times));
    const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (made < 0) co_return error::from_errno(errno, activity::open);
    ::close(made);
    const auto changed = co_await watch.next();
    if (!changed.ok()) co_return changed.error();
    co_return watch.remove(added.value()).error();
}

task<io_result<>> use_worker(io_context&, const scratch_directory&) {
    const auto got = co_await blocking([] { return 7; });
    if (!got.ok()) co_return got.error();
    co_return got.value() == 7 ? io_result<>{} : io_result<>{wrong};
}

// What the program itself is refused is its own affair.
task<io_result<>> use_process(io_context&, const scratch_directory&) {
    process_options how;
    how.output = child_stream::null();
    how.error = child_stream::null();
    auto started = co_await process::start("/bin/true", std::move(how));
    if (!started.ok()) co_return started.error();
    process it = started.take();
    const auto ended = co_await it.wait();
    co_return ended.error();
}

task<io_result<>> use_signals(io_context& io, const scratch_directory&) {
    auto opened = signal_set::open(io, {SIGUSR1});
    if (!opened.ok()) co_return opened.error();
    signal_set set = opened.take();
    ::raise(SIGUSR1);
    const auto came = co_await set.wait();
    if (!came.ok()) co_return came.error();
    co_return came.value() == SIGUSR1 ? io_result<>{} : io_result<>{wrong};
}

task<io_result<>> use_names_of_hosts(io_context&, const scratch_directory&) {
    const resolver names;
    const auto found = co_await names.resolve("localhost", 80);
    co_return found.error();
}

task<int> seven() { co_return 7; }

task<io_result<>> use_pool(io_context& io, const scratch_directory&) {
    io_pool_options how;  // Of as many threads as it finds out.
    how.loop.backend = io.backend().kind;
    io_pool pool{how};
    if (const error failed = pool.status()) co_return failed;
    const int got = co_await on(pool, seven());
    co_return got == 7 ? io_result<>{} : io_result<>{wrong};
}

task<io_result<>> use_time(io_context&, const scratch_directory&) {
    const time_point begin = std::chrono::steady_clock::now();
    const io_result<> slept = co_await sleep_for(2ms);
    if (!slept.ok()) co_return slept.error();
    co_return std::chrono::steady_clock::now() - begin >= 2ms ? io_result<>{} : io_result<>{wrong};
}

}  // namespace

const std::vector<everything_step>& everything() {
    static const std::vector<everything_step> all{
        {"time", use_time},
        {"tcp", use_tcp},
        {"parts", use_scattered},
        {"udp", use_udp},
        {"pipe", use_pipe},
        {"file", use_file},
        {"names", use_names},
        {"links", use_links},
        {"watch", use_watch},
        {"worker", use_worker},
        {"process", use_process},
        {"signals", use_signals},
        {"hosts", use_names_of_hosts},
        {"pool", use_pool},
    };
    return all;
}

}  // namespace gyre::testing
