// SPDX-License-Identifier: BSL-1.0
#include <exchange/management/process_options.hpp>

#include <exchange/management/json_section.hpp>

namespace exchange {
namespace {

[[nodiscard]] bool is_loopback(const gyre::endpoint& at) {
    return at.kind() == gyre::endpoint::family::local || at.address().is_loopback();
}

void read_admin(json_section& in, admin_options& into, admin_commands known) {
    if (in.needs("at")) in.read_endpoint("at", into.at);
    in.read("connections_max", into.connections_max, {1, 1024});
    in.read_milliseconds("answer_within_ms", into.answer_within);
    unsigned to_others = 0;
    in.read("to_others", to_others, {0, 1});
    if (into.wanted() && to_others == 0 && !is_loopback(into.at))
        in.wrong(
            "at",
            "expected an address of this machine alone, or \"to_others\": 1, since anybody who "
            "reaches it may ask" +
                in.said("at"));
    if (known == admin_commands::none) return;
    unsigned commands = 0;
    in.read("commands", commands, {0, 1});
    into.commands = commands == 1;
    if (into.wanted() && into.commands && !is_loopback(into.at))
        in.wrong("at", "expected an address of this machine alone, since the port takes commands" +
                           in.said("at"));
}

}  // namespace

void read_process(json_section& top, process_options& into, admin_commands known) {
    top.in_object("admin", [&](auto& in) { read_admin(in, into.admin, known); });
    top.in_object("log", [&](auto& in) {
        in.read_one_of("level", into.log, find_log_level, all_log_levels());
    });
}

}  // namespace exchange
