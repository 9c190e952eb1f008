// SPDX-License-Identifier: BSL-1.0
//
// A name server that says what a test wants it to say.
//
// It runs on the loop of the test, over UDP and TCP on one port of the loopback interface, and notes what it
// is asked. Its messages are composed here, byte by byte, so that nothing of what is tested judges itself.
#pragma once

#include <gyre/io/acceptor.hpp>
#include <gyre/io/resolver.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/task_group.hpp>
#include <support/harness.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::testing {

enum class record_type : std::uint16_t { a = 1, cname = 5, ptr = 12, aaaa = 28, srv = 33 };

/// One question that was asked.
struct dns_question {
    std::string name;  // As it was sent, without a dot at its end.
    record_type type = record_type::a;
    bool over_tcp = false;
};

/// One record of an answer; `data` as in the message.
struct dns_data {
    std::string owner;  // Empty: the name that was asked for.
    record_type type = record_type::a;
    std::string data;
};

/// What is done about a question.
struct dns_reply {
    enum class manner : std::uint8_t {
        plain,
        silent,
        truncated,
        garbled,
        cut,
        other_question,
        byte_by_byte
    };

    dns_reply() = default;
    explicit dns_reply(int response_code) : code{response_code} {}
    explicit dns_reply(manner way) : how{way} {}
    explicit dns_reply(std::vector<dns_data> all) : records{std::move(all)} {}

    static constexpr int server_failure = 2;
    static constexpr int no_such_name = 3;
    static constexpr int refused = 5;

    int code = 0;
    manner how = manner::plain;
    std::vector<dns_data> records;
    duration delay{};
};

inline void put_number(std::string& to, unsigned number) {
    to += static_cast<char>(number >> 8);
    to += static_cast<char>(number);
}

inline std::string encoded_name(std::string_view name) {
    std::string made;
    while (!name.empty()) {
        const std::string_view label = name.substr(0, name.find('.'));
        made += static_cast<char>(label.size());
        made += label;
        name.remove_prefix(std::min(label.size() + 1, name.size()));
    }
    return made + '\0';
}

inline dns_data a_record(std::string_view address) {
    const ipv4 it = ipv4::parse(address).value();
    return {{}, record_type::a, std::string{it.bytes.begin(), it.bytes.end()}};
}
inline dns_data aaaa_record(std::string_view address) {
    const ipv6 it = ipv6::parse(address).value();
    return {{}, record_type::aaaa, std::string{it.bytes.begin(), it.bytes.end()}};
}
inline dns_data name_record(record_type type, std::string_view target) {
    return {{}, type, encoded_name(target)};
}
inline dns_data srv_record(unsigned priority, unsigned weight, unsigned port,
                           std::string_view target) {
    std::string data;
    put_number(data, priority);
    put_number(data, weight);
    put_number(data, port);
    return {{}, record_type::srv, data + encoded_name(target)};
}

class name_server {
public:
    using script = std::function<dns_reply(const dns_question&)>;

    name_server(io_context& io, script what) : script_{std::move(what)} {
        for (int tries = 0; !streams_.is_open(); ++tries) {
            REQUIRE(tries < 100);
            datagrams_ = udp_socket::bind(io, {ipv4::loopback(), 0}).take();
            // The other protocol may have another owner of the number.
            streams_ = tcp_acceptor::listen(io, datagrams_.local_endpoint().value()).take();
        }
    }

    [[nodiscard]] endpoint where() const { return datagrams_.local_endpoint().value(); }

    /// What asks this server and looks into no files.
    [[nodiscard]] resolver_options options() const {
        resolver_options made;
        made.servers = {where()};
        made.hosts_file.clear();
        made.settings_file = "/dev/null";
        made.order_file.clear();
        made.search.emplace();
        made.dots_min = 1;
        made.timeout = std::chrono::seconds{20};
        made.tries = 1;
        return made;
    }

    [[nodiscard]] const std::vector<dns_question>& asked() const noexcept { return asked_; }
    [[nodiscard]] std::size_t times_asked(std::string_view name, record_type type) const {
        std::size_t count = 0;
        for (const dns_question& each : asked_) count += each.name == name && each.type == type;
        return count;
    }
    /// How many questions came over TCP.
    [[nodiscard]] std::size_t streamed() const {
        std::size_t count = 0;
        for (const dns_question& each : asked_) count += each.over_tcp;
        return count;
    }

    /// Answers until the group is stopped.
    void start(task_group& in) {
        in.spawn(answer_datagrams(in));
        in.spawn(answer_streams(in));
    }

private:
    task<> answer_datagrams(task_group& in) {
        std::array<std::byte, 1024> space{};
        for (;;) {
            auto [failed, got, from] = co_await datagrams_.receive_from(space);
            if (failed == errc::canceled) co_return;
            if (failed) continue;  // The asker has gone before its answer came.
            in.spawn(answer_one(std::string{text_of(const_buffer{space}.first(got.size))}, from));
        }
    }
    task<> answer_one(std::string query, endpoint from) {
        const dns_question asked = read(query, false);
        const dns_reply reply = script_(asked);
        if (reply.delay > duration::zero()) static_cast<void>(co_await sleep_for(reply.delay));
        const std::string message = compose(query, asked, reply);
        if (message.empty()) co_return;
        static_cast<void>(co_await datagrams_.send_to(bytes_of(message), from));
    }

    task<> answer_streams(task_group& in) {
        for (;;) {
            io_result<tcp_socket> taken = co_await streams_.accept();
            if (!taken.ok()) co_return;
            in.spawn(answer_stream(taken.take()));
        }
    }
    task<> answer_stream(tcp_socket from) {
        std::array<std::byte, 1024> space{};
        for (;;) {
            const io_result<std::size_t> head =
                co_await read_exactly(from, mutable_buffer{space}.first(2));
            if (!head.ok()) co_return;
            const auto size = std::to_integer<std::size_t>(space[0]) << 8 |
                              std::to_integer<std::size_t>(space[1]);
            const io_result<std::size_t> got =
                co_await read_exactly(from, mutable_buffer{space}.first(size));
            if (!got.ok()) co_return;
            const std::string query{text_of(const_buffer{space}.first(size))};
            const dns_question asked = read(query, true);
            const dns_reply reply = script_(asked);
            const std::string message = compose(query, asked, reply);
            std::string framed;
            put_number(framed, static_cast<unsigned>(message.size()));
            framed += message;
            std::size_t step = framed.size();
            if (reply.how == dns_reply::manner::byte_by_byte) step = 1;
            for (std::size_t at = 0; at < framed.size() && !message.empty(); at += step) {
                static_cast<void>(
                    co_await write_all(from, bytes_of(std::string_view{framed}.substr(at, step))));
                co_await yield();
            }
        }
    }

    dns_question read(const std::string& query, bool over_tcp) {
        dns_question it;
        std::size_t at = 12;
        for (; query.at(at) != '\0'; at += static_cast<std::size_t>(query[at]) + 1) {
            if (!it.name.empty()) it.name += '.';
            it.name += query.substr(at + 1, static_cast<std::size_t>(query[at]));
        }
        it.type = static_cast<record_type>(query.at(at + 2));  // None of ours is above 255.
        it.over_tcp = over_tcp;
        asked_.push_back(it);
        return it;
    }

    // Empty if there is nothing to say.
    static std::string compose(const std::string& query, const dns_question& asked,
                               const dns_reply& reply) {
        if (reply.how == dns_reply::manner::silent) return {};
        if (reply.how == dns_reply::manner::garbled) return query.substr(0, 2) + "nonsense";
        const bool truncated = reply.how == dns_reply::manner::truncated && !asked.over_tcp;
        std::string made = query.substr(0, 2);
        made +=
            static_cast<char>(truncated ? 0x87 : 0x85);  // Answer, authoritative, truncated or not.
        made += static_cast<char>(0x80 | reply.code);
        put_number(made, 1);
        put_number(made, truncated ? 0 : static_cast<unsigned>(reply.records.size()));
        made.append(4, '\0');
        made += query.substr(12);
        if (reply.how == dns_reply::manner::other_question) made[13] = '*';
        if (truncated) return made;
        for (const dns_data& each : reply.records) {
            if (each.owner.empty()) {
                made += "\xc0\x0c";  // The name in the question.
            } else {
                made += encoded_name(each.owner);
            }
            put_number(made, static_cast<unsigned>(each.type));
            put_number(made, 1);
            made.append("\0\0\0\x3c", 4);
            put_number(made, static_cast<unsigned>(each.data.size()));
            made += each.data;
        }
        if (reply.how == dns_reply::manner::cut) made.pop_back();
        return made;
    }

    script script_;
    udp_socket datagrams_;
    tcp_acceptor streams_;
    std::vector<dns_question> asked_;
};

/// Runs `body()` while `server` answers.
template <class Body>
task<> while_answering(name_server& server, Body body) {
    const auto both = [&](task_group& group) -> task<> {
        server.start(group);
        co_await body();
    };
    co_await with_group(both, group_options{group_mode::stop_on_exit});
}

}  // namespace gyre::testing
