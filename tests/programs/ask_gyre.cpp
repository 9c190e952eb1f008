// SPDX-License-Identifier: BSL-1.0
//
// Asks gyre for the addresses of a name: `ask_gyre NAME [4|6]`.
//
// name_settings.py compares what it prints, and what a name server hears of it, with glibc and with musl.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string_view>

namespace {

gyre::task<gyre::io_result<>> ask(std::string name, gyre::resolve_options options) {
    const gyre::resolver names;
    const auto found = co_await names.resolve(name, 0, options);
    if (!found.ok()) std::printf("error %s\n", gyre::describe(found.error().code()));
    for (const gyre::endpoint& each : found.value()) {
        const gyre::address_text text = each.address().to_text();
        std::printf("%.*s\n", static_cast<int>(text.view().size()), text.view().data());
    }
    co_return gyre::io_result<>{};
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) return 2;
    gyre::resolve_options options;
    if (count > 2) {
        const bool v4 = std::string_view{arguments[2]} == "4";
        options.family = v4 ? gyre::endpoint::family::v4 : gyre::endpoint::family::v6;
    }
    return gyre::run_until_signal(ask(arguments[1], options));
}
