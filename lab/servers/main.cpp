// SPDX-License-Identifier: BSL-1.0
//
// The command line of every server; CMake says which library it is and what it can do.
#include <lab/servers/seam.hpp>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string_view>

namespace {

// The first one is taken where none is named.
constexpr std::string_view backends{LAB_SERVER_BACKENDS};

[[noreturn]] void misuse(const char* what, std::string_view argument) {
    std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(argument.size()), argument.data());
    std::exit(2);
}

template <class Number>
Number number_of(std::string_view text, Number least,
                 Number most = std::numeric_limits<Number>::max()) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        misuse("no such number", text);
    return value;
}

std::string_view backend_of(std::string_view text) {
    for (std::size_t at = 0; at < backends.size();) {
        const std::string_view each = backends.substr(at, backends.find(' ', at) - at);
        if (text.empty() || each == text) return each;
        at += each.size() + 1;
    }
    misuse("no such backend", text);
}

int serve(std::string_view workload, const servers::job& wanted) {
    using function = int (*)(const servers::job&);
    struct named {
        std::string_view workload;
        function serve;
    };
    for (const named& each :
         {named{"echo", servers::serve_echo}, named{"http", servers::serve_http},
          named{"http_server", servers::serve_http_server},
          named{"websocket", servers::serve_websocket}, named{"tls", servers::serve_tls}}) {
        if (each.workload == workload && each.serve != nullptr) return each.serve(wanted);
    }
    misuse("no such workload", workload);
}

}  // namespace

int main(int count, char** arguments) {
    servers::job wanted;
    wanted.backend = backend_of("");
    std::string_view workload = "echo";
    bool port_given = false;
    bool version = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view name{arguments[i]};
        if (name == "--version") {
            version = true;
            continue;
        }
        const bool known = name == "--workload" || name == "--threads" || name == "--port" ||
                           name == "--buffer" || name == "--backend" || name == "--polling-core" ||
                           name == "--certificate" || name == "--key";
        if (!known) misuse("unknown argument", name);
        if (++i == count) misuse("a value is missing after", name);
        const std::string_view value{arguments[i]};
        if (name == "--workload") workload = value;
        if (name == "--threads") wanted.threads = number_of<unsigned>(value, 1, LAB_SERVER_THREADS);
        if (name == "--buffer") wanted.buffer_bytes = number_of<std::size_t>(value, 1);
        if (name == "--backend") wanted.backend = backend_of(value);
        if (name == "--polling-core") wanted.polling_core = number_of<unsigned>(value, 0);
        if (name == "--certificate") wanted.certificate = value;
        if (name == "--key") wanted.key = value;
        if (name == "--port") {
            wanted.port = number_of<std::uint16_t>(value, 0);
            port_given = true;
        }
    }
    if (version) {
        std::printf(LAB_SERVER_LIBRARY " %.*s\n", static_cast<int>(wanted.backend.size()),
                    wanted.backend.data());
        return 0;
    }
    if (!port_given) misuse("missing", "--port");
    std::signal(SIGPIPE, SIG_IGN);  // Of clients that have gone, and of a reader of our output.
    try {
        return serve(workload, wanted);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
