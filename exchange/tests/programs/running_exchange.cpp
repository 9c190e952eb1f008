// SPDX-License-Identifier: BSL-1.0
//
// Files, ports and processes: see running_exchange.hpp.
#include <exchange/tests/programs/running_exchange.hpp>

#include <support/harness.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

namespace exchange::testing {
namespace {

std::string behind(const std::string& line, const std::string& word) {
    const std::size_t at = line.find(word);
    INFO("it has printed: ", line);
    REQUIRE(at != std::string::npos);
    const std::size_t begin = at + word.size();
    return line.substr(begin, line.find(',', begin) - begin);
}

// A group of its own: programs of other tests may run beside this one.
std::string own_group() {
    static const unsigned dice = std::random_device{}();
    return "239.195." + std::to_string(dice >> 8 & 0xff) + "." + std::to_string(dice & 0xff) + ":" +
           std::to_string(20'000 + dice % 10'000);
}

}  // namespace

written_config::written_config(const std::string& text) {
    const std::string name = "exchange_" + std::to_string(std::random_device{}()) + ".json";
    path_ = std::filesystem::temp_directory_path() / name;
    std::ofstream file{path_};
    file << text;
    REQUIRE(file.good());
    using std::filesystem::perms;
    std::filesystem::permissions(path_, perms::owner_read | perms::owner_write);
}

written_config::~written_config() { std::filesystem::remove(path_); }

std::string sample_text(const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json it =
        nlohmann::json::parse(gyre::testing::text_of_file(EXCHANGE_SAMPLE), nullptr, true, true);
    it["order_entry"]["at"] = "127.0.0.1:0";
    it["feed"]["requests"] = "127.0.0.1:0";
    it["feed"]["to"] = own_group();
    it["credentials_file"] =
        std::filesystem::absolute(EXCHANGE_SAMPLE_FOLDER "/credentials.json").string();
    it.erase("gateways");  // Who wants some names a place of its own.
    if (change) change(it);
    return it.dump(1);
}

std::string sample_passwords(const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json it = nlohmann::json::parse(
        gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/passwords.json"), nullptr, true, true);
    if (change) change(it);
    return it.dump(1);
}

std::vector<std::string> backends() { return {"gyre_uring", "gyre_epoll"}; }

running_exchange::running_exchange(const std::string& backend,
                                   const std::function<void(nlohmann::json&)>& change,
                                   const std::string& passwords)
    : trail_{""}, passwords_{passwords}, backend_{backend}, change_{change} {
    configs_.emplace_back(changed_sample({}));
    start();
}

std::string running_exchange::changed_sample(
    const std::function<void(nlohmann::json&)>& last) const {
    return sample_text([&](nlohmann::json& it) {
        it["operators"]["audit_file"] = trail_.path();
        if (change_) change_(it);
        if (last) last(it);
    });
}

void running_exchange::start() {
    facility_.emplace(EXCHANGE_MATCHING_FACILITY,
                      std::vector<std::string>{config_path(), "--backend", backend_});
    ready_ = facility_->next_line();
    order_entry_ = behind(ready_, "order entry ");
    requests_ = behind(ready_, "requests ");
    if (ready_.find(", gateways ") != std::string::npos) gateways_ = behind(ready_, ", gateways ");
}

void running_exchange::kill() {
    facility_->send(SIGKILL);
    REQUIRE(facility_->wait() == 128 + SIGKILL);
}

void running_exchange::start_again() {
    configs_.emplace_back(changed_sample([this](nlohmann::json& it) {
        it["order_entry"]["at"] = order_entry_;
        it["feed"]["requests"] = requests_;
        if (!gateways_.empty()) it["gateways"]["at"] = gateways_;
    }));
    start();
}

std::string running_exchange::life() const { return behind(ready_, "life "); }

running_exchange::answer running_exchange::ctl(std::vector<std::string> words) const {
    return outcome_of(EXCHANGE_EXCHANGE_CTL, ctl_words(std::move(words)));
}

std::vector<std::string> running_exchange::ctl_words(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--config", config_path(), "--order-entry", order_entry_,
                                 "--credentials", passwords_.path()});
    return words;
}

std::string running_exchange::trail() const { return gyre::testing::text_of_file(trail_.path()); }

running_exchange::answer running_exchange::load(std::vector<std::string> words) const {
    gyre::testing::program it = start_load(std::move(words));
    return outcome_of(it);
}

gyre::testing::program running_exchange::start_load(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--config", config_path(), "--order-entry", order_entry_,
                                 "--requests", requests_, "--credentials", passwords_.path()});
    return gyre::testing::program{EXCHANGE_LOAD_GENERATOR, std::move(words)};
}

running_exchange::answer outcome_of(gyre::testing::program& it) {
    std::string text = it.rest_of_output();
    return {it.wait(), std::move(text)};
}

running_exchange::answer outcome_of(const std::string& path, std::vector<std::string> words) {
    gyre::testing::program it{path, std::move(words)};
    return outcome_of(it);
}

}  // namespace exchange::testing
