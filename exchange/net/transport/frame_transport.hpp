// SPDX-License-Identifier: BSL-1.0
//
// What carries the packets of a session: whole frames in, gathered batches out.
//
// A session (session/order_entry_session.hpp, codec/soup_client.hpp) is a machine that takes packets and
// says what is to be written. How packets lie on a wire is no matter of it: over TCP each has its length
// in front, in a WebSocket each is a message, binary or text. Here stands what the one loop that drives a
// session (session/order_entry_connection.hpp, order_entry_client.hpp) asks of whatever carries it;
// transport_laws.hpp in exchange/tests/net judges all models by it.
// docs/decisions/0042-frame-transports.md has the reasons, also for why the feed, which is datagrams, is
// none.
//
// # The contract
//
// A transport stands on one connection of either side of the seam (executor_traits.hpp), and serves one
// after the other. What "yields" is to be awaited at once, in the expression that makes it; all the rest
// is done on the spot. One coroutine reads, and one writes at a time.
//
// ## What it is
//   reliable         Nothing is lost but by the end of the connection.
//   ordered          Packets come in the order in which they were sent.
//   can_be_secured   Does it take the `security` of its options (channel_security.hpp)? Then a connection
//                    that is not secured yet owes words of the handshake, and takes no output; `ended` and
//                    `refused` (there is no use in another connection) tell what became of it. No coroutine
//                    is added.
//   frame_bytes_max()   The longest packet's payload that it takes from a peer.
//
// ## A connection
//   open(socket, which_end)   Takes charge of it. Takes memory, which serves until `release`.
//   cut()            Ends both directions now: not even what is being written leaves any more. Waits end.
//   close()          Behind the last wait.
//   release()        Gives the memory back.
//   peer(), is_open()
//   opened()         Is its handshake over, if it has one, with an agreement? Until then no packet passes.
//   name()           What it is, for people: "soup". Static storage.
//
// ## Frames in
//   receive()        yields io_result<size_t>: some bytes, or an error, which is the end of the connection.
//                    Give the number to `received`.
//   next()           A whole packet, borrowed until the next call of `next` or `receive`; or why there will
//                    be none, for good; or neither, then receive more. Never waits.
//   ended()          The peer has said, between frames, that nothing follows: so with a close frame. What is
//                    owed for that is to be written, then closed. (Over TCP `receive` tells.)
//
// ## Batches out
//   owes()           Has it something to write that is no packet of the session's: a handshake, an answer
//                    to a ping? To be asked behind `received` and `finish`.
//   ready(output)    Is there anything to write, of its own or of `output`? While a handshake lasts,
//                    nothing of the latter is.
//   send(output)     yields io_result<size_t>: writes some of what is `ready`; at least a byte, or an
//                    error. The number goes to `sent`. `output` is borrowed until then.
//   sent(size)       How many bytes of that output are taken, whole packets or parts of them as the
//                    transport is: they need not be kept, nor offered again. Those that are not written
//                    yet it `owes`.
//   finish(ending)   No packet follows; the peer is told so and, if the transport has words for it, why.
//                    Write what it owes, then `discard` until that ends.
//   discard()        As `receive`, but for bytes to be ignored; the number goes to `discarded`.
//
// # Costs
// No allocation between `open` and `release`; over TCP, no coroutine and no copy either.
#pragma once

#include <exchange/codec/soup_connection.hpp>
#include <exchange/codec/soup_framer.hpp>
#include <exchange/net/executor_traits.hpp>
#include <exchange/net/transport/transport_options.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

namespace exchange {

/// See the contract above. Threads: that of the context.
template <class Transport, class X>
concept frame_transport =
    executor_traits<X> && std::constructible_from<Transport, const transport_options&> &&
    requires(Transport& it, const Transport& same, typename X::stream_socket socket,
             const soup_output& output, std::size_t size, soup_end which, soup_ending why) {
        requires std::same_as<decltype(Transport::reliable), const bool>;
        requires std::same_as<decltype(Transport::ordered), const bool>;
        requires std::same_as<decltype(Transport::can_be_secured), const bool>;
        { same.frame_bytes_max() } -> std::same_as<std::size_t>;
        it.open(std::move(socket), which);
        it.cut();
        it.close();
        it.release();
        { same.peer() } -> std::same_as<gyre::endpoint>;
        { same.is_open() } -> std::same_as<bool>;
        { same.opened() } -> std::same_as<bool>;
        { same.name() } -> std::same_as<std::string_view>;
        { it.receive() } -> yields<X, gyre::io_result<std::size_t>>;
        it.received(size);
        { it.next() } -> std::same_as<soup_framed>;
        { same.ended() } -> std::same_as<bool>;
        { same.owes() } -> std::same_as<bool>;
        { same.ready(output) } -> std::same_as<bool>;
        { it.send(output) } -> yields<X, gyre::io_result<std::size_t>>;
        { it.sent(size) } -> std::same_as<std::size_t>;
        it.finish(why);
        { it.discard() } -> yields<X, gyre::io_result<std::size_t>>;
        it.discarded(size);
    };

}  // namespace exchange
