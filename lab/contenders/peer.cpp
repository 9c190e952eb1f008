// SPDX-License-Identifier: BSL-1.0
//
// Any server that is a program of its own, in whatever language: `--backend` says which one.
//
// What there is stands in peers/peers.json beside this executable, where lab/setup.py has written it: the
// command of each, what it can do, and why it is not there if it could not be got. A peer that is missing is
// a row that says so.
#include <lab/contender.hpp>
#include <lab/fail.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using nlohmann::json;

class peer : public lab::contender {
public:
    peer(json about, std::filesystem::path folder)
        : about_{std::move(about)}, folder_{std::move(folder)} {}

    // As it says of itself: library, version, backend.
    lab::identity about() const override {
        const std::string said =
            about_.value("version", json{}).is_string() ? about_["version"] : "";
        const std::size_t first = said.find(' ');
        const std::size_t last = said.rfind(' ');
        if (first == said.npos || first == last) return {name(), name(), said, ""};
        return {name(), said.substr(0, first), said.substr(first + 1, last - first - 1),
                said.substr(last + 1)};
    }

    std::string refusal_to_echo(const lab::echo_case& work) const override {
        if (about_.contains("missing") && about_["missing"].is_string()) return about_["missing"];
        if (about_.contains("threads_max") && about_["threads_max"].is_number()) {
            if (about_["threads_max"] < work.threads) return lab::refuse_threads(work);
        }
        const std::vector<std::string> can = about_["workloads"];
        return std::ranges::find(can, "echo") == can.end() ? "does not echo" : "";
    }

    // What was built stands beside the list; interpreters are wherever the shell finds them.
    std::vector<std::string> echo_program() const override {
        std::vector<std::string> command = about_["command"];
        lab::require(!command.empty(), "peers.json: " + name() + " has no command");
        for (std::string& part : command) {
            if (std::filesystem::is_regular_file(folder_ / part)) part = folder_ / part;
        }
        return command;
    }

private:
    [[nodiscard]] std::string name() const { return about_["name"]; }

    json about_;
    std::filesystem::path folder_;
};

}  // namespace

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    const auto file =
        std::filesystem::canonical("/proc/self/exe").parent_path() / "peers" / "peers.json";
    if (backend.empty()) fail("peer runs on --backend NAME, one of " + file.string());

    std::ifstream stream{file};
    const json all = json::parse(stream, nullptr, false);
    require(all.is_array(),
            "there is no list in " + file.string() + "; `./dev lab setup` makes one");
    for (const json& each : all) {
        if (each.value("name", "") == backend)
            return std::make_unique<peer>(each, file.parent_path());
    }
    fail("no " + std::string{backend} + " in " + file.string());
}
