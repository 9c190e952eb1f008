// SPDX-License-Identifier: BSL-1.0
#include <tls/fuzz/fuzzed.hpp>

#include <gyre/base/check.hpp>
#include <gyre/tls/engine.hpp>

#include <support/certificates.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::testing {

namespace {

using bytes = std::vector<std::byte>;

constexpr std::size_t output_max = std::size_t{54} * 1024;
constexpr std::size_t text_size = 20'000;

// Of the byte of settings.
constexpr unsigned of_1_2 = 1;
constexpr unsigned asks_clients = 2;
constexpr unsigned small_steps = 4;

unsigned number_of(std::byte each) noexcept { return std::to_integer<unsigned>(each); }

struct parties {
    explicit parties(unsigned settings) {
        certificate_wish wish{"localhost"};
        wish.hosts = {"DNS:localhost"};
        tls::server_options at_server;
        at_server.identities = {root.issue(wish)};
        at_server.protocols = {"h2", "http/1.1"};
        tls::client_options at_client;
        at_client.system_authorities = false;
        at_client.authorities = root.certificate();
        at_client.judged_at = certificate_day;
        at_client.protocols = {"http/1.1"};
        if ((settings & of_1_2) != 0) at_client.newest = tls::version::tls_1_2;
        if ((settings & asks_clients) != 0) {
            at_server.clients = tls::client_check::if_given;
            at_server.authorities = root.certificate();
            at_server.judged_at = certificate_day;
            at_client.identities = {root.issue(certificate_wish{"a client"})};
        }
        server = tls::context::server(at_server).take();
        client = tls::context::client(at_client).take();
    }

    [[nodiscard]] static const parties& with(unsigned settings) {
        static const parties all[] = {parties{0}, parties{1}, parties{2}, parties{3}};
        return all[settings % 4];
    }

    test_authority root{"Test Root"};
    tls::context server;
    tls::context client;
};

tls::engine client_of(const parties& those) {
    return tls::engine::client(those.client, "localhost").take();
}

tls::engine server_of(const parties& those) { return tls::engine::server(those.server).take(); }

bytes take_output(tls::engine& of) {
    const const_buffer output = of.output();
    ensures(output.size() <= output_max, "output is bounded");
    bytes taken{output.begin(), output.end()};
    of.sent(taken.size());
    return taken;
}

// Returns what there was no room for.
const_buffer give(tls::engine& to, const_buffer input) {
    const mutable_buffer space = to.input_space();
    ensures(space.size() <= tls::engine::input_size, "input is bounded");
    ensures(!space.empty() || to.held_up(), "an engine that waits takes input");
    const const_buffer piece = input.first(std::min(input.size(), space.size()));
    std::copy(piece.begin(), piece.end(), space.begin());
    to.received(piece.size());
    return input.subspan(piece.size());
}

// A handshake's step, or a read once that is over: a handshake may end with more of the input left.
io_result<std::size_t> step_of(tls::engine& it, mutable_buffer space) {
    if (it.established()) {
        const io_result<std::size_t> got = it.read(space);
        ensures(got.ok() || got.value() == 0, "no error comes with bytes");
        return got;
    }
    const error ended = it.handshake().error();
    const error again = ended == errc::resource_unavailable ? ended : it.handshake().error();
    ensures(again == ended, "a handshake that has ended stays so");
    return ended ? io_result<std::size_t>{ended} : io_result<std::size_t>{std::size_t{0}};
}

// Plays a peer that sends `input` and then nothing more.
void play(tls::engine it, const_buffer input, std::size_t step) {
    bytes space(1000);
    error ended = errc::resource_unavailable;
    while (ended == errc::resource_unavailable || !ended) {
        const io_result<std::size_t> got = step_of(it, space);
        ended = got.error();
        static_cast<void>(take_output(it));
        if (ended != errc::resource_unavailable || it.held_up()) continue;
        if (input.empty()) break;
        const const_buffer piece = input.first(std::min(step, input.size()));
        const std::size_t left = give(it, piece).size();
        input = input.subspan(piece.size() - left);
    }
    it.input_ended();
    while (ended == errc::resource_unavailable || !ended) {
        ended = step_of(it, space).error();
        static_cast<void>(take_output(it));
        ensures(ended != errc::resource_unavailable || it.held_up(),
                "the end of the input is an end");
    }
    ensures(!it.failure().empty() || ended == errc::eof, "a failure has words");
}

void play_with(const_buffer input, bool served) {
    if (input.empty()) return;
    const unsigned settings = number_of(input[0]);
    const parties& those = parties::with(settings);
    const std::size_t step = (settings & small_steps) != 0 ? 1 + settings / 8 : input.size();
    play(served ? server_of(those) : client_of(those), input.subspan(1), step);
}

// Who is between two ends: at each of its turns one piece passes, changed or not.
class interloper {
public:
    explicit interloper(const_buffer orders) : orders_{orders} {}

    bytes pass(bytes these) {
        if (these.empty() || orders_.size() < 3) return these;
        const unsigned what = number_of(orders_[0]);
        const std::size_t at = (number_of(orders_[1]) * 256 + number_of(orders_[2])) % these.size();
        orders_ = orders_.subspan(3);
        const auto place = these.begin() + static_cast<std::ptrdiff_t>(at);
        switch (what % 8) {
            case 0: *place ^= static_cast<std::byte>(1U << (what / 8 % 8)); break;
            case 1: these.erase(place); break;
            case 2: these.insert(place, static_cast<std::byte>(what)); break;
            case 3: these.insert(these.end(), kept_.begin(), kept_.end()); break;
            case 4: kept_ = these; break;
            case 5: these.resize(at); break;
            default: break;  // As it is.
        }
        return these;
    }

private:
    const_buffer orders_;
    bytes kept_;
};

struct end {
    explicit end(tls::engine its) : it{std::move(its)} {}

    void turn(std::string_view text) {
        bytes space(3000);
        if (it.established() && written < text.size())
            written += it.write(bytes_of(text.substr(written))).value();
        for (io_result<std::size_t> got; got.ok();) {
            got = step_of(it, space);
            received += text_of(const_buffer{space}.first(got.value()));
            if (!got.ok()) over = got.error() != errc::resource_unavailable;
        }
        if (written == text.size() && it.established()) static_cast<void>(it.end_writing());
    }

    tls::engine it;
    std::size_t written = 0;
    std::string received;
    bytes unread;
    bool over = false;
};

void carry_over(end& from, end& to, interloper& by) {
    const bytes passed = by.pass(take_output(from.it));
    to.unread.insert(to.unread.end(), passed.begin(), passed.end());
    if (to.over || to.unread.empty()) return;
    const std::size_t left = give(to.it, to.unread).size();
    to.unread.erase(to.unread.begin(), to.unread.end() - static_cast<std::ptrdiff_t>(left));
}

void check_same_keys(const tls::engine& one, const tls::engine& other) {
    const tls::exported_key what{"EXPERIMENTAL fuzz", {}, 32};
    const auto its = one.export_key(what);
    const auto others = other.export_key(what);
    ensures(its.ok() && others.ok() && its.value() == others.value(), "two that agree share keys");
}

}  // namespace

void fuzz_server(const_buffer input) { play_with(input, true); }
void fuzz_client(const_buffer input) { play_with(input, false); }

void fuzz_between(const_buffer input) {
    if (input.empty()) return;
    const parties& those = parties::with(number_of(input[0]));
    interloper by{input.subspan(1)};
    end client{client_of(those)};
    end server{server_of(those)};
    const std::string asks(text_size, 'a');
    const std::string answers(text_size, 'b');
    // Who has lost bytes waits for ever; nobody has more than so many turns' work to do.
    constexpr int turns_max = 100;
    for (int turn = 0; turn < turns_max && !(client.over && server.over); ++turn) {
        client.turn(asks);
        carry_over(client, server, by);
        server.turn(answers);
        carry_over(server, client, by);
    }
    ensures(asks.starts_with(server.received), "a server reads what its client has sent");
    ensures(answers.starts_with(client.received), "a client reads what its server has sent");
    if (client.it.established() && server.it.established()) check_same_keys(client.it, server.it);
    ensures(input.size() > 3 || (server.received == asks && client.received == answers),
            "all of it arrives if nobody has changed it");
}

bytes proper_server(std::byte settings) {
    tls::engine client = client_of(parties::with(number_of(settings)));
    static_cast<void>(client.handshake());
    bytes made = take_output(client);
    made.insert(made.begin(), settings);
    return made;
}

bytes proper_client(std::byte settings) {
    const parties& those = parties::with(number_of(settings));
    tls::engine client = client_of(those);
    tls::engine server = server_of(those);
    static_cast<void>(client.handshake());
    static_cast<void>(give(server, take_output(client)));
    static_cast<void>(server.handshake());
    bytes made = take_output(server);
    made.insert(made.begin(), settings);
    return made;
}

bytes proper_between(std::byte settings) {
    const auto each = [](unsigned what) { return static_cast<std::byte>(what); };
    return {settings, each(7), each(0), each(9), each(4),
            each(1),  each(1), each(3), each(0), each(0)};
}

}  // namespace gyre::testing
