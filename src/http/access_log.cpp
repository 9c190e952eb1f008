// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/access_log.hpp>

#include <gyre/coro/this_task.hpp>
#include <gyre/http/http_date.hpp>
#include <http/on_throw.hpp>

#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

using log_function = std::function<void(const access_record&)>;

task<response> logged(const log_function& write, request& what, const handler& next) {
    loop& home = co_await this_task::loop();
    const time_point begun = home.read_clock();
    const on_throw thrown{[&] {
        const response answer{status::internal_server_error};  // What the client is sent for it.
        write(access_record{what, answer, answer.body.size(), home.read_clock() - begun});
    }};
    response answer = co_await next(what);
    write(access_record{what, answer, answer.body.size(), home.read_clock() - begun});
    co_return answer;
}

// A peer must not write lines of its own into a log, nor colours into a terminal.
void append_escaped(std::string& to, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            to.push_back('\\');
            to.push_back(c);
        } else if (byte < 0x20 || byte > 0x7e) {
            to.append("\\x");
            to.push_back(digits[byte / 16]);
            to.push_back(digits[byte % 16]);
        } else {
            to.push_back(c);
        }
    }
}

void append_quoted(std::string& to, std::string_view text) {
    to.append(" \"");
    append_escaped(to, text.empty() ? std::string_view{"-"} : text);
    to.push_back('"');
}

}  // namespace

middleware access_log(std::function<void(const access_record&)> write) {
    // The coroutine borrows the function, which lives in the handler as long as any of its requests.
    return as_middleware([write = std::move(write)](request& what, const handler& next) {
        return logged(write, what, next);
    });
}

std::string combined_log_line(const access_record& it, std::chrono::sys_seconds when) {
    // "Sun, 06 Nov 1994 08:49:37 GMT" is here "06/Nov/1994:08:49:37 +0000".
    const http_date_text date = format_http_date(when);
    const std::string_view text{date.data(), date.size()};
    std::string line;
    const std::string_view peer = it.asked.peer();
    append_escaped(line, peer.empty() ? std::string_view{"-"} : peer.substr(0, peer.rfind(':')));
    line.append(" - - [").append(text.substr(5, 2)).append("/").append(text.substr(8, 3));
    line.append("/").append(text.substr(12, 4)).append(":").append(text.substr(17, 8));
    line.append(" +0000]");
    std::string asked{it.asked.method_text()};
    asked.append(" ").append(it.asked.target()).append(" ").append(name_of(it.asked.version()));
    append_quoted(line, asked);
    line.append(" ").append(std::to_string(number_of(it.answer.status))).append(" ");
    line.append(it.body_bytes ? std::to_string(*it.body_bytes) : "-");
    append_quoted(line, it.asked.fields.value_or("referer"));
    append_quoted(line, it.asked.fields.value_or("user-agent"));
    return line;
}

}  // namespace gyre::http
