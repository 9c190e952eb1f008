// SPDX-License-Identifier: BSL-1.0
//
// Questions to admin ports, and what pages are answered: see page_server.hpp.
#include <exchange/web/page_server.hpp>

#include <exchange/web/operator_desk.hpp>

#include <gyre/http/router.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/when_any.hpp>
#include <gyre/web/server.hpp>
#include <gyre/web/static_files.hpp>
#include <gyre/websocket/upgrade.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace exchange {
namespace {

namespace http = gyre::http;
namespace websocket = gyre::websocket;

constexpr std::size_t answer_bytes_max = std::size_t{1} << 20;
constexpr int answer_depth_max = 32;
// What pages that do not read may leave, each: the newest state of a process takes the place of the last.
constexpr std::size_t unread_bytes_max = std::size_t{4} << 20;
constexpr std::size_t unread_messages_max = 128;
constexpr std::size_t page_message_bytes_max = 64;
constexpr std::size_t operators_max = 8;

websocket::hub_options bounds(std::size_t pages) {
    websocket::hub_options made;
    made.members_max = pages;
    made.bytes_max = unread_bytes_max;
    made.messages_max = unread_messages_max;
    made.when_full = websocket::slow_member::conflate;
    return made;
}

gyre::web::client_options patience() {
    gyre::web::client_options made;
    made.connections_per_origin_max = 4;
    made.connect_time_max = std::chrono::seconds{1};
    made.total_time_max = std::chrono::seconds{2};
    made.redirects_max = 0;
    made.decompress = false;
    return made;
}

gyre::web::server_options limits(std::size_t pages) {
    gyre::web::server_options made;
    made.intake.connections_max = pages + operators_max + 64;  // Files come beside the sockets.
    made.connection.body_bytes_max = 0;
    made.connection.head_time_max = std::chrono::seconds{5};
    made.connection.idle_time_max = std::chrono::seconds{30};
    made.connection.write_time_max = std::chrono::seconds{10};
    made.drain_time_max = std::chrono::seconds{1};
    return made;
}

http::response text(http::status code, std::string body) {
    return {code, "text/plain; charset=utf-8", std::move(body)};
}

bool is_somewhere(const gyre::endpoint& it) { return it.kind() != gyre::endpoint::family::none; }

gyre::task<http::response> at_once(http::response made) { co_return made; }

gyre::task<> until_it_speaks(websocket::connection& page) {
    static_cast<void>(co_await page.receive());
}

}  // namespace

std::string process_message(std::string_view name, const std::string& status,
                            const std::string& latency) {
    using nlohmann::json;
    json made{{"message", "process"}, {"name", name}, {"reachable", false}};
    const auto add = [&made](const char* key, const std::string& from) {
        // What is written again in full takes a part of the stack for each level.
        bool too_deep = false;
        const auto note_depth = [&too_deep](int depth, json::parse_event_t, json&) {
            too_deep = too_deep || depth > answer_depth_max;
            return !too_deep;
        };
        json read = json::parse(from, note_depth, false);
        if (too_deep || !read.is_object()) return false;
        made[key] = std::move(read);
        return true;
    };
    made["reachable"] = add("status", status);
    static_cast<void>(add("latency", latency));
    return made.dump(-1, ' ', false, json::error_handler_t::replace);
}

page_server::page_server(gyre::io_context& context, const page_config& how)
    : context_{context},
      how_{how},
      client_{patience()},
      hub_{bounds(how.pages_max)},
      latest_(how.show.size()) {
    for (std::size_t each = 0; each < how.show.size(); ++each)
        latest_[each] = process_message(how.show[each].name, {}, {});
}

gyre::error page_server::start() {
    auto listening = gyre::stream_acceptor::listen(context_, how_.at);
    if (!listening.ok()) return listening.error();
    gyre::stream_acceptor acceptor = listening.take();
    const auto [failed, at] = acceptor.local_endpoint();
    if (failed) return failed;
    at_ = at;
    hosts_ = {at.to_string(), "localhost:" + std::to_string(at.port())};
    routes_ = routes();
    serving_ = gyre::launch(context_, serve(std::move(acceptor)), gyre::or_terminate{});
    for (std::size_t each = 0; each < how_.show.size(); ++each)
        watching_.push_back(gyre::launch(context_, watch(each), gyre::or_terminate{}));
    return {};
}

void page_server::drain() {
    serving_.request_drain();
    hub_.close();
}

void page_server::stop() {
    serving_.request_stop();
    for (gyre::stop_handle& each : watching_) each.request_stop();
    client_.close_idle();
}

gyre::task<> page_server::serve(gyre::stream_acceptor acceptor) {
    const auto [failed] = co_await gyre::web::serve_http(
        std::move(acceptor), [this](http::request& asked) { return guard(asked); },
        limits(how_.pages_max));
    if (failed && failed != gyre::errc::canceled)
        std::fprintf(stderr, "exchange_web: the page at %s has ended: %s\n",
                     at_.to_string().c_str(), failed.message().c_str());
    ended_ = true;
}

gyre::task<> page_server::watch(std::size_t which) {
    const shown_process& whom = how_.show[which];
    for (;;) {
        const std::string status = co_await ask(whom, "/status");
        std::string latency;
        if (!status.empty()) latency = co_await ask(whom, "/latency");
        ++(status.empty() ? silences_ : answers_);
        latest_[which] = process_message(whom.name, status, latency);
        auto message = websocket::prepared_message::make(websocket::message_kind::text,
                                                         gyre::bytes_of(latest_[which]));
        if (message.ok()) static_cast<void>(hub_.send_now(message.take(), which));
        const auto [stopped] = co_await gyre::sleep_for(how_.poll_every);
        if (stopped) co_return;
    }
}

// Empty if there is no good answer.
gyre::task<std::string> page_server::ask(const shown_process& whom, const char* path) {
    auto got = co_await client_.get("http://" + whom.admin.to_string() + path);
    if (!got.ok() || got.value().status != http::status::ok) co_return {};
    auto body = co_await got.value().text(answer_bytes_max);
    if (!body.ok()) co_return {};
    co_return body.take();
}

// Else a page of another site could ask in the name of a name of its own that leads here.
bool page_server::is_for_us(const http::request& asked) const {
    const std::optional<std::string_view> host = asked.fields.find("host");
    return host && std::ranges::find(hosts_, *host) != hosts_.end();
}

std::string page_server::policy() const {
    std::string made =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'";
    for (const gyre::endpoint& each : {how_.order_entry, how_.market_data})
        if (is_somewhere(each)) made += " ws://" + each.to_string();
    return made;
}

gyre::task<http::response> page_server::guard(http::request& asked) {
    if (!is_for_us(asked))
        co_return text(http::status::misdirected_request, "this host is not served here\n");
    http::response made = co_await routes_(asked);
    made.fields.set("content-security-policy", policy());
    made.fields.set("x-content-type-options", "nosniff");
    made.fields.set("referrer-policy", "no-referrer");
    co_return made;
}

http::handler page_server::routes() {
    using http::method;
    gyre::web::static_options files;
    files.cache_control = "no-cache";
    http::router made;
    const auto answering = [this](http::response (page_server::*answer)(const http::request&)) {
        return [this, answer](http::request& asked) { return at_once((this->*answer)(asked)); };
    };
    const http::handler page = gyre::web::static_files(how_.folder, files);
    made.add(method::get, "/live", answering(&page_server::answer_live))
        .add(method::get, "/operator", answering(&page_server::answer_operator))
        .add(method::get, "/processes/{name}/tasks",
             [this](http::request& asked) { return answer_tasks(asked); })
        .add(method::get, "/", page)
        .add(method::get, "/{file}", page);
    return std::move(made).build();
}

http::response page_server::answer_live(const http::request& asked) {
    if (pages_.taken() >= how_.pages_max)
        return text(http::status::service_unavailable, "too many pages are open\n");
    websocket::upgrade_options options;
    options.connection.limits.message_bytes_max = page_message_bytes_max;
    return websocket::upgrade(
        asked, options,
        [this, held = pages_.take()](websocket::connection& page) { return push_to(page); });
}

http::response page_server::answer_operator(const http::request& asked) {
    if (!is_somewhere(how_.operators))
        return text(http::status::not_found, "operators do not log in here\n");
    if (operators_.taken() >= operators_max)
        return text(http::status::service_unavailable, "too many operators are here\n");
    websocket::upgrade_options options;
    options.connection.limits.message_bytes_max = operator_message_bytes_max;
    return websocket::upgrade(asked, options,
                              [this, held = operators_.take()](websocket::connection& page) {
                                  return serve_operator(context_, how_.operators, page);
                              });
}

// A page has nothing to say; one that does is let go.
gyre::task<> page_server::push_to(websocket::connection& page) {
    nlohmann::json settings{{"message", "settings"},
                            {"order_entry", nullptr},
                            {"market_data", nullptr},
                            {"operators", is_somewhere(how_.operators)}};
    if (is_somewhere(how_.order_entry))
        settings["order_entry"] = "ws://" + how_.order_entry.to_string() + "/order-entry/v1";
    if (is_somewhere(how_.market_data))
        settings["market_data"] = "ws://" + how_.market_data.to_string() + "/market-data/v1";
    for (const shown_process& each : how_.show) settings["processes"].push_back(each.name);
    const auto [refused] = co_await page.send_text(settings.dump());
    if (refused) co_return;
    // What changes meanwhile is told at the next turn of its watch, which tells all that there is.
    for (std::size_t each = 0; each < latest_.size(); ++each) {
        const std::string now = latest_[each];
        const auto [failed] = co_await page.send_text(now);
        if (failed) co_return;
    }
    co_await gyre::when_any(hub_.serve(page), until_it_speaks(page));
}

gyre::task<http::response> page_server::answer_tasks(http::request& asked) {
    const std::string name = asked.parameter("name").value_or("");
    const auto whom = std::ranges::find(how_.show, name, &shown_process::name);
    if (whom == how_.show.end()) co_return text(http::status::not_found, "no such process\n");
    std::string tasks = co_await ask(*whom, "/tasks");
    if (tasks.empty()) co_return text(http::status::bad_gateway, "the process does not answer\n");
    http::response made = text(http::status::ok, std::move(tasks));
    made.fields.set("cache-control", "no-store");
    co_return made;
}

}  // namespace exchange
