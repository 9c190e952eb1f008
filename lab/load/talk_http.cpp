// SPDX-License-Identifier: BSL-1.0
//
// Clients of HTTP/1.1. Profiles are those of servers/web.hpp: `text`, `json`, `sum`, `post`.
//
// Sums differ from request to request, so that no answer passes for another. Where connections end, their
// last request says `Connection: close` and the server closes first, so that clients run out of no ports.
#include <lab/load/talk.hpp>

#include <lab/kit/fail.hpp>
#include <lab/servers/web.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lab {
namespace {

constexpr std::size_t kinds = 64;  // Of requests of a profile.
constexpr std::size_t space_bytes = 16 * 1024;

struct exchange {
    std::string request;
    std::string closing;  // The same, as the last one of its connection.
    std::string content;
};

std::string request_of(std::string_view method, const std::string& target, const std::string& body,
                       bool closes) {
    std::string text{method};
    text += " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    if (closes) text += "Connection: close\r\n";
    if (!body.empty()) {
        text +=
            "Content-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    }
    return text + "\r\n" + body;
}

exchange exchange_of(const std::string& profile, std::size_t number) {
    const auto made = [](std::string_view method, const std::string& target,
                         const std::string& body, std::string content) {
        return exchange{request_of(method, target, body, false),
                        request_of(method, target, body, true), std::move(content)};
    };
    if (profile == "text") return made("GET", "/text", "", std::string{servers::hello});
    if (profile == "json") return made("GET", "/json", "", servers::json_text());
    const std::size_t a = 13 + number;
    const std::size_t b = 42 + number * number;
    const std::string target = "/sum?a=" + std::to_string(a) + "&b=" + std::to_string(b);
    if (profile == "sum") return made("GET", target, "", std::to_string(a + b));
    require(profile == "post", "load: no such profile");
    return made("POST", target, std::to_string(20 + number), std::to_string(a + b + 20 + number));
}

class http_talk final : public talk {
public:
    http_talk(const talk_case& what, const gyre::endpoint& server) : what_{what}, server_{server} {
        for (std::size_t i = 0; i < kinds; ++i) exchanges_.push_back(exchange_of(what.profile, i));
        for (std::size_t i = 0; i < kinds; ++i) {
            std::string together;
            for (std::size_t each = 0; each < what.at_once; ++each)
                together += kind(i + each).request;
            batches_.push_back(std::move(together));
        }
        for (std::size_t i = 0; i < what.connections; ++i) wires_.emplace_back(space_bytes);
    }

    gyre::task<> open() override {
        if (what_.each_lives > 0) co_return;
        for (std::size_t at = 0; at < wires_.size();) {
            std::vector<gyre::task<>> some;
            const std::size_t end = std::min(at + opened_at_once, wires_.size());
            for (; at < end; ++at) some.push_back(wires_[at].connect(server_));
            static_cast<void>(co_await gyre::when_all(std::move(some)));
        }
    }

    gyre::task<> play(phase& during) override {
        std::vector<gyre::task<>> all;
        for (std::size_t i = 0; i < wires_.size(); ++i) {
            all.push_back(what_.each_lives > 0 ? lives(wires_[i], during, i)
                                               : asks(wires_[i], during, i));
        }
        static_cast<void>(co_await gyre::when_all(std::move(all)));
    }

private:
    const exchange& kind(std::size_t number) const { return exchanges_[number % kinds]; }

    gyre::task<> asks(wire& on, phase& during, std::size_t number) {
        while (!during.over()) {
            const auto since = phase::clock::now();
            co_await on.send(batches_[number % kinds]);
            std::size_t bytes = 0;
            for (std::size_t i = 0; i < what_.at_once; ++i) {
                const std::size_t got = co_await answer(on, kind(number + i));
                bytes += got;
            }
            during.note(what_.at_once, bytes, since);
            number += what_.at_once;
        }
        require(on.unread().empty(), "load: more answers than requests");
    }

    gyre::task<> lives(wire& on, phase& during, std::size_t number) {
        while (!during.over()) {
            co_await on.connect(server_);
            during.note_connection();
            for (std::size_t left = what_.each_lives; left > 0; --left, ++number) {
                const auto since = phase::clock::now();
                const exchange& next = kind(number);
                const std::string& request = left > 1 ? next.request : next.closing;
                co_await on.send(request);
                const std::size_t bytes = co_await answer(on, next);
                during.note(1, bytes, since);
            }
            const bool more = co_await on.receive(true);
            require(!more && on.unread().empty(), "load: bytes behind the last answer");
            on.close();
        }
    }

    // Bytes of the content.
    gyre::task<std::size_t> answer(wire& on, const exchange& of) {
        for (;;) {
            const std::string_view arrived = on.unread();
            const answer_head head = head_of(arrived);
            const std::size_t whole = head.length + head.content_length;
            if (head.length > 0 && arrived.size() >= whole) {
                require(head.status == 200, "load: the status of an answer is not 200");
                require(arrived.substr(head.length, head.content_length) == of.content,
                        "load: an answer is wrong");
                on.use(whole);
                co_return head.content_length;
            }
            co_await on.receive();
        }
    }

    const talk_case what_;
    const gyre::endpoint server_;
    std::vector<exchange> exchanges_;
    std::vector<std::string> batches_;
    std::vector<wire> wires_;
};

}  // namespace

std::unique_ptr<talk> talk_http(const talk_case& what, gyre::endpoint server) {
    return std::make_unique<http_talk>(what, server);
}

}  // namespace lab
