// SPDX-License-Identifier: BSL-1.0
//
// What exchange_supervisor serves: the processes of an exchange, each with a coroutine that runs it.
//
// management/supervision.hpp decides; this starts, asks and kills, listens to what children say, and logs
// what becomes of them. It holds the listening sockets that children are to have: while a child is away, or
// one takes the other's place, connections wait. exchange_process.hpp is around it, as around every other
// process of the exchange.
#pragma once

#include <exchange/management/admin_report.hpp>
#include <exchange/management/admin_server.hpp>
#include <exchange/management/event_log.hpp>
#include <exchange/management/supervision.hpp>
#include <exchange/net/gyre/traits.hpp>

#include <gyre/io/acceptor.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/process.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

/// Threads:  that of its context.
class served_supervisor {
public:
    using task = gyre::task<>;
    static constexpr std::string_view name = "exchange_supervisor";

    /// @param  context   Borrowed; outlives this, and so do the others.
    /// @param  programs  The folder in which programs without a slash are.
    served_supervisor(gyre::io_context& context, const supervisor_config& how, std::string programs,
                      event_log& log);

    // As a served_by_process.

    [[nodiscard]] gyre::error start();
    [[nodiscard]] std::string how() const;
    /// Waits until all children are ready, or it ends before.
    [[nodiscard]] task until_ready();
    [[nodiscard]] std::string ready_line() const;
    [[nodiscard]] std::string summary() const;
    void say_state(std::FILE* to) const;
    [[nodiscard]] task drain(gyre_timer& pause);
    void stop();
    /// Ends all children now: the process is about to end.
    void kill() noexcept;
    void tell(admin_report& to) const;
    [[nodiscard]] static std::vector<std::string> commands() { return {"replace", "restart"}; }
    [[nodiscard]] admin_outcome command(std::string_view name, std::string_view child);
    /// 1 if a child has failed too often.
    [[nodiscard]] int status() const noexcept { return machine_.gave_up() ? 1 : 0; }

private:
    struct running {
        std::size_t child;
        unsigned generation;
        gyre::process process{};
        bool to_be_killed = false;  // As soon as it has started.
        bool asked = false;         // As above, to end.
        std::string admin{};        // Where its admin port is, by its own word.
    };
    using running_list = std::list<running>;

    /// Carries out what the machine has ordered, and sets the clock for what it wants next.
    void obey();
    [[nodiscard]] gyre::error listen_for_children();
    void send(const supervision::order& order, int signal);
    [[nodiscard]] running* find(std::size_t child, unsigned generation);
    [[nodiscard]] const running* find(std::size_t child, unsigned generation) const;
    [[nodiscard]] int id_of(std::size_t child, unsigned generation) const;
    [[nodiscard]] admin_child told_of(std::size_t which) const;
    [[nodiscard]] task run_child(running_list::iterator it);
    [[nodiscard]] task run_started(running_list::iterator it);
    [[nodiscard]] task listen_to(running& it, gyre::event& heard_all);
    [[nodiscard]] gyre::task<gyre::io_result<gyre::exit_status>> wait_for_end(
        running& it, gyre::event& heard_all);
    [[nodiscard]] task keep_time();
    void ended(running_list::iterator it, std::string_view how);
    void tell_end(std::size_t which, child_state before, std::string_view how);
    void hear(running& it, std::string_view line);
    void hear_ready(running& it, std::string_view said);
    [[nodiscard]] std::string path_of(const supervised_child& it) const;
    [[nodiscard]] const std::string& name_of(std::size_t which) const {
        return how_.children[which].name;
    }

    gyre::io_context& context_;
    const supervisor_config& how_;
    std::string programs_;
    event_log& log_;
    supervision machine_;
    running_list running_;
    std::vector<std::vector<gyre::stream_acceptor>> listeners_;  // Of each child.
    gyre::readable_pipe lifeline_;                               // Its end for children,
    gyre::writable_pipe lifeline_held_;  // and the one that ends with this process.
    gyre::event all_ready_;
    gyre_timer clock_;
    std::uint64_t lines_lost_ = 0;  // Of children, that could not be printed.
    bool over_ = false;
    bool was_ready_ = false;
    bool asked_to_end_ = false;  // By itself, once.
};

}  // namespace exchange
