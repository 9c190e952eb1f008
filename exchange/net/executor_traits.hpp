// SPDX-License-Identifier: BSL-1.0
//
// The seam: what the exchange wants of the library that carries out its I/O, so that it is written
// once.
//
// Transports, sessions and applications are templates over `X`, which is `gyre_traits` (gyre/traits.hpp)
// or `asio_traits` (asio/traits.hpp).
// Here stands what they may count on; stream_laws.hpp, datagram_laws.hpp and waiting_laws.hpp in
// exchange/tests/net judge both by it. gyre's own vocabulary is used throughout (endpoints, options, errors,
// time), and its sockets are the seam's as they are, so one side costs nothing; docs/decisions/0016-seam.md
// tells what the other one costs.
//
// # The contract
//
// X makes, what was made has members. Whatever "yields" something is to be awaited, at once and in the
// expression that makes it, by a `task` that runs on the context; all the rest is done on the spot.
//
// ## context: a loop for one thread
//   run()              Runs until no task is left and nothing is ready, or `stop`.
//   stop()             Makes `run` return soon, with everything kept as it is. Any thread.
//   restart()          Allows running again.
//   post(function)     Runs `function()` on the loop; it must not throw. Any thread.
// Everything else belongs to the thread that runs it. It is made from `context_options`. The
// program that ends a context ends its tasks first: what still waits is ended by gyre with
// `errc::canceled`, and destroyed where it stands by Asio.
//
// ## X itself
//   launch(context&, task<>)     Begins it when the loop next runs, unawaited. An exception that
//                                leaves it ends the process.
//   now(context&)                The time, as old as the turn of the loop at most.
//   listen(context&, endpoint, listen_options)  -> io_result<acceptor>
//   adopt_listener(context&, number)            -> acceptor, which owns that listening socket.
//   connect(context&, endpoint)  yields io_result<stream_socket>, with `no_delay` set.
//   bind(context&, endpoint, udp_options)       -> io_result<udp_socket>
//   open_signals(context&, {SIGTERM, ...})      -> io_result<signal_set>
//
// ## Sockets: stream_socket, acceptor, udp_socket
// Made by X or by default, which is a closed one. They move, but not while something is pending on them.
//   close()            What is pending ends with `errc::canceled`. `errc::closed` if it was closed already.
//                      Destroying one closes it.
//   is_open(), local_endpoint(), set_option(option), native_handle()   As gyre::basic_socket has them.
// An operation that waits is begun on an open socket only: code that has waited since asks
// `is_open`. Buffers, lists of buffers and batches are borrowed until the operation has ended.
//
//   acceptor.accept()            yields io_result<stream_socket>, with `no_delay` set.
//   stream.read_some(bytes)      yields io_result<size_t>: at least one byte, or an error (`errc::eof`).
//   stream.write_some(bytes), stream.write_some(list of bytes)   yield io_result<size_t>; of a list at
//                      most gyre::buffers_per_call_max entries are looked at. One write at a time.
//   stream.shutdown(side), stream.remote_endpoint()
//   udp.connect(endpoint), join, leave, find_interface, set_multicast_interface, set_multicast_loopback,
//   set_multicast_hops           As gyre::udp_socket has them.
//   udp.receive(bytes)           yields io_result<received_datagram>, which says whether it was cut.
//   udp.receive_from(bytes)      yields io_result<received_datagram, endpoint>.
//   udp.send(list), udp.send_to(list, endpoint)   yield io_result<>: at most udp_socket::buffers_max
//                      parts (else `errc::invalid_argument`) as one datagram.
//   udp.send(batch)              yields io_result<size_t>: how many went out, from the front; an error is
//                      that of the first that did not, if it was the first of all. Call until empty.
//
// ## connector{context}: what `connect` does, for who may have to give up; one connect at a time
//   connect(endpoint)  yields io_result<stream_socket>, with `no_delay` set.
//   cancel()           Ends it with `errc::canceled`, if there is one, and its socket is closed. One that has
//                      succeeded already may end either way.
//
// ## datagram_batch(capacity, datagram_size_max): datagrams to be sent
//   append(bytes or list, endpoint)   Copies each byte once. False if it is full or too long.
//   drop_first()       Forgets the first one, which cannot be sent.
//   size(), empty(), full(), capacity(), clear()
//
// ## timer{context}: one deadline that moves; one coroutine waits for it
//   expire_at(moment)  Sets it, or moves it: a waiter goes on waiting, for the new one. Moving to
//                      later costs a store, more or less. `gyre::never` waits for a move or a cancel.
//   wait(), wait_until(moment)   yield io_result<> once it has passed.
//   cancel()           Ends the wait with `errc::canceled`, if there is one. One whose moment has come
//                      already may end either way.
//
// ## event: a flag to wait for, as gyre::event
//   set(), reset(), is_set()     `set` resumes no waiter inside the call.
//   wait()             yields io_result<>. All that wait when it is set go on, even if it is reset
//                      before they do. Must outlive them. Ask `is_set` where that is likely: to wait for
//                      what is there costs Asio a turn through its queue.
//
// ## signal_set
//   wait()             yields io_result<int>, the number. One coroutine waits at a time.
//   cancel()           Ends the wait with `errc::canceled`; no signal is lost.
//
// # Errors
// The same world makes the same gyre::errc on both sides.
//
// # Allocations
// Once everything is made and warm: none, whatever is read, written, sent, waited for or set. Frames of
// tasks that are awaited are recycled: on Asio 16 per thread, none of more than 1,020 bytes, and only
// within one call of `run`. On Asio as many operations may be pending as there are blocks (asio/loop.hpp);
// each that is pending beyond those allocates.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace exchange {

/// Something that a task of X may await, and that yields `Result`.
template <class Type, class X, class Result>
concept yields = std::same_as<typename X::template awaited<Type>, Result>;

template <class X>
concept context_of_seam = requires(typename X::context& context) {
    typename X::context_options;
    requires std::constructible_from<typename X::context, const typename X::context_options&>;
    context.run();
    context.stop();
    context.restart();
    context.post([] {});
};

/// What all sockets of X have.
template <class Socket>
concept socket_of_seam = std::default_initializable<Socket> && std::movable<Socket> &&
                         requires(Socket& socket, const Socket& same, gyre::receive_buffer option) {
                             { socket.close() } -> std::same_as<gyre::io_result<>>;
                             { same.is_open() } -> std::same_as<bool>;
                             { socket.native_handle() } -> std::same_as<int>;
                             {
                                 same.local_endpoint()
                             } -> std::same_as<gyre::io_result<gyre::endpoint>>;
                             { socket.set_option(option) } -> std::same_as<gyre::io_result<>>;
                         };

template <class X>
concept streams_of_seam =
    socket_of_seam<typename X::stream_socket> && socket_of_seam<typename X::acceptor> &&
    std::constructible_from<typename X::connector, typename X::context&> &&
    requires(typename X::stream_socket& stream, typename X::acceptor& acceptor,
             typename X::connector& connector, const gyre::endpoint& where,
             gyre::mutable_buffer into, gyre::const_buffer from, gyre::const_buffers parts) {
        { connector.connect(where) } -> yields<X, gyre::io_result<typename X::stream_socket>>;
        connector.cancel();
        { acceptor.accept() } -> yields<X, gyre::io_result<typename X::stream_socket>>;
        { stream.read_some(into) } -> yields<X, gyre::io_result<std::size_t>>;
        { stream.write_some(from) } -> yields<X, gyre::io_result<std::size_t>>;
        { stream.write_some(parts) } -> yields<X, gyre::io_result<std::size_t>>;
        { stream.shutdown(gyre::shutdown_side::send) } -> std::same_as<gyre::io_result<>>;
        { stream.remote_endpoint() } -> std::same_as<gyre::io_result<gyre::endpoint>>;
    };

template <class X>
concept datagrams_of_seam =
    socket_of_seam<typename X::udp_socket> &&
    std::constructible_from<typename X::datagram_batch, std::size_t, std::size_t> &&
    requires(typename X::udp_socket& udp, typename X::datagram_batch& batch,
             gyre::mutable_buffer into, gyre::const_buffer bytes, gyre::const_buffers parts,
             const gyre::endpoint& peer, gyre::network_interface through, std::string_view name) {
        { udp.receive(into) } -> yields<X, gyre::io_result<gyre::received_datagram>>;
        {
            udp.receive_from(into)
        } -> yields<X, gyre::io_result<gyre::received_datagram, gyre::endpoint>>;
        { udp.send(parts) } -> yields<X, gyre::io_result<>>;
        { udp.send_to(parts, peer) } -> yields<X, gyre::io_result<>>;
        { udp.send(batch) } -> yields<X, gyre::io_result<std::size_t>>;
        { udp.connect(peer) } -> std::same_as<gyre::io_result<>>;
        { udp.join(peer, through) } -> std::same_as<gyre::io_result<>>;
        { udp.leave(peer, through) } -> std::same_as<gyre::io_result<>>;
        { udp.set_multicast_interface(through) } -> std::same_as<gyre::io_result<>>;
        { udp.set_multicast_loopback(true) } -> std::same_as<gyre::io_result<>>;
        { udp.set_multicast_hops(1) } -> std::same_as<gyre::io_result<>>;
        { udp.find_interface(name) } -> std::same_as<gyre::io_result<gyre::network_interface>>;
        { X::udp_socket::buffers_max } -> std::convertible_to<std::size_t>;
        { batch.append(bytes, peer) } -> std::same_as<bool>;
        { batch.append(parts, peer) } -> std::same_as<bool>;
        { batch.size() } -> std::same_as<std::size_t>;
        { batch.capacity() } -> std::same_as<std::size_t>;
        { batch.empty() } -> std::same_as<bool>;
        { batch.full() } -> std::same_as<bool>;
        batch.drop_first();
        batch.clear();
    };

template <class X>
concept waits_of_seam = std::constructible_from<typename X::timer, typename X::context&> &&
                        std::default_initializable<typename X::event> &&
                        requires(typename X::timer& timer, typename X::event& event,
                                 typename X::signal_set& signals, gyre::time_point moment) {
                            { timer.wait() } -> yields<X, gyre::io_result<>>;
                            { timer.wait_until(moment) } -> yields<X, gyre::io_result<>>;
                            { timer.deadline() } -> std::same_as<gyre::time_point>;
                            timer.expire_at(moment);
                            timer.cancel();
                            { event.wait() } -> yields<X, gyre::io_result<>>;
                            { event.is_set() } -> std::same_as<bool>;
                            event.set();
                            event.reset();
                            { signals.wait() } -> yields<X, gyre::io_result<int>>;
                            signals.cancel();
                        };

/// One side of the seam: see the contract above.
template <class X>
concept executor_traits =
    context_of_seam<X> && streams_of_seam<X> && datagrams_of_seam<X> && waits_of_seam<X> &&
    requires(typename X::context& context, typename X::template task<void> task,
             const gyre::endpoint& where, const gyre::listen_options& how_to_listen,
             const gyre::udp_options& how_to_bind, std::initializer_list<int> signals) {
        X::launch(context, std::move(task));
        { X::now(context) } -> std::same_as<gyre::time_point>;
        { X::connect(context, where) } -> yields<X, gyre::io_result<typename X::stream_socket>>;
        {
            X::listen(context, where, how_to_listen)
        } -> std::same_as<gyre::io_result<typename X::acceptor>>;
        { X::adopt_listener(context, int{}) } -> std::same_as<typename X::acceptor>;
        {
            X::bind(context, where, how_to_bind)
        } -> std::same_as<gyre::io_result<typename X::udp_socket>>;
        {
            X::open_signals(context, signals)
        } -> std::same_as<gyre::io_result<typename X::signal_set>>;
    };

}  // namespace exchange
