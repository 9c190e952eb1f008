// SPDX-License-Identifier: BSL-1.0
//
// Results of a ring that mean something else to us than to the kernel.
//
// A ring also says "canceled" where it has no thread for a request, and "interrupted", or a code that is for
// the kernel's own use, where a signal met the thread that it has. Neither was asked for, and neither is an
// end: docs/decisions/0059-what-a-ring-did-not-do.md has the table. Tests of io_uring; epoll has no such
// results.
#include <gyre/io/acceptor.hpp>
#include <gyre/io/datagram_batch.hpp>
#include <gyre/io/file.hpp>
#include <gyre/io/file_system.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/io_context.hpp>
#include <runtime/scripted_ring.hpp>
#include <support/harness.hpp>
#include <support/refusals.hpp>
#include <support/scratch_directory.hpp>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;

namespace {

// -ECANCELED and -EINTR, and ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK.
constexpr std::array codes{-ECANCELED, -EINTR, -512, -513, -514, -516};

/// What an operation may need, ready for it to succeed.
struct place {
    explicit place(io_context& io) : pair{connected_pair(io)} {
        acceptor = tcp_acceptor::listen(io, {ipv4::loopback(), 0}).take();
        near = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        far = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
        auto [failed, reader, writer] = make_pipe(io);
        REQUIRE_FALSE(failed);
        out = std::move(reader);
        in = std::move(writer);
        directory.put("there", "what is there");
    }

    scratch_directory directory;
    socket_pair pair;
    tcp_acceptor acceptor;
    udp_socket near;
    udp_socket far;
    readable_pipe out;
    writable_pipe in;
    std::array<std::byte, 16> space{};
    std::array<mutable_buffer, 1> parts{space};
    std::array<const_buffer, 1> given{bytes_of("given")};
};

template <class Result>
io_result<> end_of(const Result& it) {
    return it.error();
}

task<file> open_there(place& in) {
    auto opened = co_await file::open(in.directory / "there", file_options::updating());
    co_return opened.take();
}

struct row {
    const char* name;
    opcode kind;
    task<io_result<>> (*body)(io_context&, place&);
};

const std::vector<row> of_sockets{
    {"receive", opcode::receive,
     [](io_context&, place& in) -> task<io_result<>> {
         put(in.pair.server, "there");
         const auto got = co_await in.pair.client.read_some(in.space);
         co_return end_of(got);
     }},
    {"receive_scatter", opcode::receive_scatter,
     [](io_context&, place& in) -> task<io_result<>> {
         put(in.pair.server, "there");
         const auto got = co_await in.pair.client.read_some(mutable_buffers{in.parts});
         co_return end_of(got);
     }},
    {"receive_lease", opcode::receive_lease,
     [](io_context&, place& in) -> task<io_result<>> {
         put(in.pair.server, "there");
         auto got = co_await in.pair.client.read();
         const error failed = got.error();
         if (!failed) static_cast<void>(got.take());
         co_return failed;
     }},
    {"send", opcode::send,
     [](io_context&, place& in) -> task<io_result<>> {
         const auto sent = co_await in.pair.client.write_some(bytes_of("given"));
         co_return end_of(sent);
     }},
    {"send_gather", opcode::send_gather,
     [](io_context&, place& in) -> task<io_result<>> {
         const auto sent = co_await in.pair.client.write_some(const_buffers{in.given});
         co_return end_of(sent);
     }},
    {"receive_batch", opcode::receive_batch,
     [](io_context&, place& in) -> task<io_result<>> {
         const endpoint there = in.near.local_endpoint().value();
         const auto sent = co_await in.far.send_to(bytes_of("given"), there);
         datagram_batch batch{2, 16};
         if (!sent.ok()) co_return sent.error();
         const auto got = co_await in.near.receive(batch);
         co_return end_of(got);
     }},
    {"send_batch", opcode::send_batch,
     [](io_context&, place& in) -> task<io_result<>> {
         datagram_batch batch{2, 16};
         static_cast<void>(batch.append(bytes_of("given"), in.far.local_endpoint().value()));
         const auto sent = co_await in.near.send(batch);
         co_return end_of(sent);
     }},
    {"accept", opcode::accept,
     [](io_context&, place& in) -> task<io_result<>> {
         const endpoint there = in.acceptor.local_endpoint().value();
         const auto connected = co_await stream_socket::connect(there);
         const auto accepted = co_await in.acceptor.accept();
         co_return connected.ok() ? end_of(accepted) : end_of(connected);
     }},
    {"connect", opcode::connect,
     [](io_context&, place& in) -> task<io_result<>> {
         const endpoint there = in.acceptor.local_endpoint().value();
         const auto connected = co_await stream_socket::connect(there);
         co_return end_of(connected);
     }},
    {"wait_ready", opcode::wait_ready,
     [](io_context&, place& in) -> task<io_result<>> {
         put(in.pair.server, "there");
         const auto waited = co_await in.pair.client.wait(readiness::readable);
         co_return end_of(waited);
     }},
    {"read of a pipe", opcode::read,
     [](io_context&, place& in) -> task<io_result<>> {
         const auto sent = co_await in.in.write_some(bytes_of("given"));
         if (!sent.ok()) co_return sent.error();
         const auto got = co_await in.out.read_some(in.space);
         co_return end_of(got);
     }},
    {"write to a pipe", opcode::write,
     [](io_context&, place& in) -> task<io_result<>> {
         const auto sent = co_await in.in.write_some(bytes_of("given"));
         co_return end_of(sent);
     }},
};

const std::vector<row> of_files{
    {"read", opcode::read,
     [](io_context&, place& in) -> task<io_result<>> {
         file it = co_await open_there(in);
         const auto got = co_await it.read_some_at(0, in.space);
         co_return got.ok() && got.value() == 13 ? io_result<>{} : end_of(got);
     }},
    {"read_scatter", opcode::read_scatter,
     [](io_context&, place& in) -> task<io_result<>> {
         file it = co_await open_there(in);
         const auto got = co_await it.read_some_at(0, mutable_buffers{in.parts});
         co_return end_of(got);
     }},
    {"write", opcode::write,
     [](io_context&, place& in) -> task<io_result<>> {
         file it = co_await open_there(in);
         const auto put = co_await it.write_durably_at(0, bytes_of("given"));
         co_return end_of(put);
     }},
    {"write_gather", opcode::write_gather,
     [](io_context&, place& in) -> task<io_result<>> {
         file it = co_await open_there(in);
         const auto put = co_await it.write_some_at(0, const_buffers{in.given});
         co_return end_of(put);
     }},
    {"synchronize all", opcode::synchronize,
     [](io_context&, place& in) -> task<io_result<>> {
         file it = co_await open_there(in);
         co_return co_await it.sync_all();
     }},
    {"synchronize a range", opcode::synchronize,
     [](io_context&, place& in) -> task<io_result<>> {
         file it = co_await open_there(in);
         co_return co_await it.sync_range(0, 4);
     }},
    {"allocate", opcode::allocate,
     [](io_context&, place& in) -> task<io_result<>> {
         file it = co_await open_there(in);
         co_return co_await it.allocate(0, 4096);
     }},
    {"open_file", opcode::open_file,
     [](io_context&, place& in) -> task<io_result<>> {
         const auto opened = co_await file::open(in.directory / "there");
         co_return end_of(opened);
     }},
    {"file_status", opcode::file_status,
     [](io_context&, place& in) -> task<io_result<>> {
         const auto found = co_await status_of(in.directory / "there");
         co_return end_of(found);
     }},
    {"rename", opcode::rename,
     [](io_context&, place& in) -> task<io_result<>> {
         co_return co_await rename_new(in.directory / "there", in.directory / "elsewhere");
     }},
    {"remove", opcode::remove,
     [](io_context&, place& in) -> task<io_result<>> {
         co_return co_await remove_file(in.directory / "there");
     }},
};

// Runs the row with the script's answers, and yields how it ended.
error end_with(const row& it, backend_choice tier, std::deque<std::int32_t> answers) {
    const int expected = static_cast<int>(answers.size());
    scripted_ring_loop on{tier};
    place in{on.io};
    error ended = errc::broken_promise;
    const auto run = [&]() -> task<> {
        const io_result<> result = co_await it.body(on.io, in);
        ended = result.error();
    };
    on.script->answer(it.kind, std::move(answers));
    launch(on.io, run(), or_terminate{});
    on.io.run_for(patience);
    CHECK(on.script->answered() == expected);
    return ended;
}

error end_after_cancel(const row& it, backend_choice tier, std::int32_t code) {
    scripted_ring_loop on{tier};
    place in{on.io};
    error ended = errc::broken_promise;
    const auto run = [&]() -> task<> {
        const io_result<> result = co_await it.body(on.io, in);
        ended = result.error();
    };
    stop_handle root = launch(on.io, run(), or_terminate{});
    on.script->answer_canceled(it.kind, code, [&root] { root.request_stop(); });
    on.io.run_for(patience);
    CHECK(on.script->answered() == 1);
    return ended;
}

void for_each_row(const std::function<void(const row&, backend_choice)>& body) {
    for (const backend_choice tier : tiers_here()) {
        for (const std::vector<row>* table : {&of_sockets, &of_files}) {
            for (const row& each : *table) {
                INFO(std::string{each.name}, " on ", std::string{describe(tier)});
                body(each, tier);
            }
        }
    }
}

std::vector<backend_choice> tiers_and_epoll() {
    std::vector<backend_choice> all = tiers_here();
    all.push_back(backend_choice::epoll);
    return all;
}

}  // namespace

TEST_CASE("what a ring breaks off without having been asked to is carried out all the same") {
    for_each_row([](const row& each, backend_choice tier) {
        for (const std::int32_t code : codes) {
            INFO("code ", code);
            CHECK(end_with(each, tier, {code}).message() == error{}.message());
        }
    });
}

TEST_CASE("what was asked to end and is broken off has been canceled, whatever the code") {
    for_each_row([](const row& each, backend_choice tier) {
        for (const std::int32_t code : codes) {
            INFO("code ", code);
            CHECK(end_after_cancel(each, tier, code) == errc::canceled);
        }
        CHECK(end_after_cancel(each, tier, -EAGAIN) == errc::canceled);
    });
}

TEST_CASE("what a ring breaks off again and again is short of resources, and not canceled") {
    for (const backend_choice tier : tiers_here()) {
        for (const row& each : of_sockets) {
            INFO(std::string{each.name}, " on ", std::string{describe(tier)});
            CHECK(end_with(each, tier, {-ECANCELED, -ECANCELED}) == errc::resource_unavailable);
        }
    }
}

TEST_CASE("a system call that says canceled has failed, and has not been canceled") {
    for (const backend_choice each : tiers_and_epoll()) {
        INFO("backend ", std::string{describe(each)});
        check_in_child([each](child_process& me) {
            io_context io{require(each)};
            place in{io};
            const auto use = [&]() -> task<> {
                const auto got = co_await in.out.read_some(in.space);
                const auto put = co_await in.in.write_some(bytes_of("given"));
                const io_result<> made = co_await make_directory(in.directory / "made");
                for (const error end : {got.error(), put.error(), made.error()})
                    me.check(end == errc::input_output, "not \"" + end.message() + '"');
            };
            constexpr std::array<unsigned, 3> calls{SYS_preadv2, SYS_pwritev2, SYS_mkdirat};
            forbid(calls, ECANCELED);
            static_cast<void>(!::write(in.in.native_handle(), "x", 1));

            run_to_end(me, io, use());
        });
    }
}
