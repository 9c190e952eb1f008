// SPDX-License-Identifier: BSL-1.0
//
// The page's server: its files, and the figures of the processes as they change.
//
//     GET /                        the page; other files of it beside
//     GET /live                    a WebSocket on which `settings` and `process` are pushed, as JSON
//     GET /operator                a WebSocket on which an operator logs in and commands: operator_desk.hpp
//     GET /processes/NAME/tasks    what the tasks of a process wait for
//
// It asks admin ports for /status and /latency, and gives the answers to all pages. It holds no part of the
// exchange itself: a trader's browser is connected to the gateway, and an operator's through this to the
// facility, which knows what the operator may do.
#pragma once

#include <exchange/web/page_config.hpp>

#include <gyre/base/result.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/web/client.hpp>
#include <gyre/websocket/hub.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace exchange {

/// What is told of a process: `status` and `latency` as its admin port says them, or that it is away.
///
/// @param  status, latency  JSON, or empty. What is no JSON is left out, and so the process counts as away.
[[nodiscard]] std::string process_message(std::string_view name, const std::string& status,
                                          const std::string& latency);

/// How many are here, from the answer that lets one in to the end of its connection.
class taken_places {
public:
    /// Taken until the last copy of it is gone, which may be later than this.
    using place = std::shared_ptr<void>;

    [[nodiscard]] place take() {
        ++*taken_;
        return {taken_.get(), [taken = taken_](void*) { --*taken; }};
    }
    [[nodiscard]] std::size_t taken() const noexcept { return *taken_; }

private:
    std::shared_ptr<std::size_t> taken_ = std::make_shared<std::size_t>(0);
};

/// Threads:  that of its context.
class page_server {
public:
    /// @param  context  Borrowed; outlives this.
    /// @param  how      Borrowed; outlives this. Read without errors.
    page_server(gyre::io_context& context, const page_config& how);
    page_server(const page_server&) = delete;
    page_server& operator=(const page_server&) = delete;

    /// Listens and begins to ask. After an error nothing has begun.
    [[nodiscard]] gyre::error start();
    /// Lets no page in any more, and closes the WebSockets.
    void drain();
    /// Ends everything; the context's loop then has nothing left of it.
    void stop();

    [[nodiscard]] const gyre::endpoint& at() const noexcept { return at_; }
    /// Pages that were let in and are not gone.
    [[nodiscard]] std::size_t pages() const noexcept { return pages_.taken(); }
    /// Operators' pages, logged in or about to be.
    [[nodiscard]] std::size_t operators() const noexcept { return operators_.taken(); }
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Answers of admin ports, and questions that had none.
    [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }
    [[nodiscard]] std::uint64_t silences() const noexcept { return silences_; }
    [[nodiscard]] gyre::websocket::hub_counters counters() { return hub_.counters(); }

private:
    gyre::task<> serve(gyre::stream_acceptor acceptor);
    gyre::task<> watch(std::size_t which);
    gyre::task<std::string> ask(const shown_process& whom, const char* path);
    gyre::task<> push_to(gyre::websocket::connection& page);
    gyre::task<gyre::http::response> guard(gyre::http::request& asked);
    gyre::task<gyre::http::response> answer_tasks(gyre::http::request& asked);
    gyre::http::response answer_live(const gyre::http::request& asked);
    gyre::http::response answer_operator(const gyre::http::request& asked);
    [[nodiscard]] gyre::http::handler routes();
    [[nodiscard]] bool is_for_us(const gyre::http::request& asked) const;
    [[nodiscard]] std::string policy() const;

    gyre::io_context& context_;
    const page_config& how_;
    gyre::web::client client_;
    gyre::websocket::hub hub_;
    gyre::http::handler routes_;
    gyre::endpoint at_;
    std::vector<std::string> hosts_;   // By which it may be asked for.
    std::vector<std::string> latest_;  // Of each process.
    gyre::stop_handle serving_;
    std::vector<gyre::stop_handle> watching_;
    std::uint64_t answers_ = 0;
    std::uint64_t silences_ = 0;
    taken_places pages_;
    taken_places operators_;
    bool ended_ = false;
};

}  // namespace exchange
