// SPDX-License-Identifier: BSL-1.0
//
// The demo's exchange, in order as it is, and what is said when a part of it does not fit the others.
#include <exchange/management/exchange_check.hpp>

#include <exchange/management/text_file.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

using namespace exchange;

namespace {

namespace files = std::filesystem;
using perms = files::perms;

// A copy of the demo with programs that do nothing.
class copied_demo {
public:
    copied_demo() {
        std::string name = files::temp_directory_path() / "exchange_check_XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        folder_ = name;
        files::copy(EXCHANGE_SAMPLE_FOLDER "/demo", folder_);
        for (const files::directory_entry& each : files::directory_iterator{folder_})
            files::permissions(each.path(), perms::owner_read | perms::owner_write);
        files::create_directory(programs());
        for (const char* const each :
             {"matching_facility", "order_entry_gateway", "market_data_distributor", "exchange_web",
              "load_generator"}) {
            std::ofstream{programs() / each} << "#!/bin/sh\n";
            files::permissions(programs() / each, perms::owner_all);
        }
    }
    copied_demo(const copied_demo&) = delete;
    copied_demo& operator=(const copied_demo&) = delete;
    ~copied_demo() {
        std::error_code ignored;
        files::remove_all(folder_, ignored);
    }

    void change(const char* file, const std::function<void(nlohmann::json&)>& how) const {
        nlohmann::json it =
            nlohmann::json::parse(*read_text_file(folder_ / file), nullptr, true, true);
        how(it);
        std::ofstream{folder_ / file} << it.dump(1);
    }
    /// What is said, a line each.
    [[nodiscard]] std::string faults() const {
        const supervisor_config_reading read = load_supervisor_config(folder_ / "supervisor.json");
        REQUIRE(read.errors.empty());
        std::string made;
        for (const config_error& each : check_children(read.value, programs()))
            made += each.message() + '\n';
        return made;
    }
    [[nodiscard]] files::path programs() const { return folder_ / "programs"; }

private:
    files::path folder_;
};

void says(const copied_demo& it, const std::string& what) {
    const std::string found = it.faults();
    CHECK(found == what + '\n');
}

}  // namespace

TEST_CASE("exchange_check: the demo is in order") { CHECK(copied_demo{}.faults().empty()); }

TEST_CASE("exchange_check: a program that is not there, or may not be executed") {
    const copied_demo it;
    files::permissions(it.programs() / "exchange_web", perms::owner_read);
    files::remove(it.programs() / "order_entry_gateway");
    const std::string folder = it.programs();
    says(it, "children[1].program: expected a program, but there is no file " + folder +
                 "/order_entry_gateway\n"
                 "children[3].program: expected a program, but " +
                 folder + "/exchange_web may not be executed: give it the permission");
    it.change("supervisor.json", [](auto& all) { all["children"].erase(3); });
    it.change("supervisor.json", [](auto& all) {
        all["children"][1]["program"] = "./programs/market_data_distributor";
    });
    CHECK(it.faults().find("children[1].program") == std::string::npos);
}

TEST_CASE("exchange_check: what a child would refuse, and a child without a configuration") {
    const copied_demo it;
    it.change("gateway.json", [](auto& all) { all["colour"] = "green"; });
    it.change("supervisor.json",
              [](auto& all) { all["children"][2]["arguments"] = {"--backend", "gyre_epoll"}; });
    const std::string found = it.faults();
    CHECK_MESSAGE(found.find("gateway.json: colour: unknown key; there are ") == 0, found);
    CHECK_MESSAGE(found.find("children[2].arguments: expected the name of its configuration\n") !=
                      std::string::npos,
                  found);
    it.change("supervisor.json", [](auto& all) {
        all["children"][2]["arguments"] = {"--backend", "gyre_epoll", "nowhere.json"};
    });
    CHECK(it.faults().find("nowhere.json: cannot be read\n") != std::string::npos);
}

TEST_CASE("exchange_check: an interface that this machine has not") {
    const copied_demo it;
    it.change("exchange.json", [](auto& all) { all["feed"]["interface"] = "none7"; });
    it.change("distributor.json", [](auto& all) {
        all["feed"]["interface"] = "none8";
        all["redistribution"] = {{"to", "239.195.70.9:7143"},
                                 {"interface", "none9"},
                                 {"from", "127.0.0.1:0"},
                                 {"requests", "127.0.0.1:7144"}};
    });
    const std::string found = it.faults();
    for (const char* const each :
         {"exchange.json: feed.interface: expected a network interface of this machine (",
          "but found \"none7\"\n", "distributor.json: feed.interface: ", "but found \"none8\"\n",
          "distributor.json: redistribution.interface: ", "but found \"none9\"\n"})
        CHECK_MESSAGE(found.find(each) != std::string::npos, found);
}

TEST_CASE("exchange_check: a listener that the child would not take") {
    const copied_demo it;
    it.change("supervisor.json", [](auto& all) {
        all["children"][1]["listen"] = {"127.0.0.1:7111", "127.0.0.1:7199"};
    });
    says(it,
         "children[1].listen: expected places where gateway.json lets clients come: change one of "
         "both, but found \"127.0.0.1:7199\"");
}

TEST_CASE("exchange_check: a gateway that no facility lets in") {
    const copied_demo it;
    it.change("gateway.json", [](auto& all) { all["facility"]["at"] = "127.0.0.1:7106"; });
    says(it,
         "gateway.json: facility.at: expected a place where a facility listens (exchange.json: "
         "gateways.at is 127.0.0.1:7105): change one of both, but found \"127.0.0.1:7106\"");
    it.change("exchange.json", [](auto& all) { all.erase("gateways"); });
    CHECK(it.faults().find("exchange.json: gateways.at is missing") != std::string::npos);
    // One that listens at all addresses is reached by any of them.
    it.change("exchange.json", [](auto& all) { all["gateways"]["at"] = "0.0.0.0:7106"; });
    CHECK(it.faults().empty());

    it.change("gateway.json", [](auto& all) { all["facility"]["name"] = "gw9"; });
    says(it,
         "gateway.json: facility.name: the facility knows no such gateway: add it to "
         "\"gateways\" in credentials.json, but found \"gw9\"");
    it.change("gateway.json", [](auto& all) { all["facility"]["name"] = "gw1"; });
    it.change("gateway_credentials.json", [](auto& all) { all["link_password"] = "guess"; });
    says(it,
         "gateway_credentials.json: link_password: is not the one whose hash credentials.json "
         "has of gateway \"gw1\"");
}

TEST_CASE("exchange_check: users of a gateway whom the facility does not know") {
    const copied_demo it;
    it.change("gateway_credentials.json", [](auto& all) { all["users"][0]["username"] = "zoe"; });
    says(it,
         "gateway_credentials.json: users: \"zoe\" is no participant of the facility: add it to "
         "\"participants\" in credentials.json, or remove it here");
    it.change("gateway_credentials.json", [](auto& all) { all["users"][0]["username"] = "alice"; });
    CHECK(it.faults().empty());
    it.change("credentials.json",
              [](auto& all) { all["gateways"][0]["users"].push_back({{"username", "alice"}}); });
    const std::string found = it.faults();
    CHECK_MESSAGE(
        found.find("\"bob\" may not come through gateway \"gw1\": add it to its \"users\" in "
                   "credentials.json, or remove it here\n") != std::string::npos,
        found);
    CHECK(found.find("\"alice\"") == std::string::npos);
}

TEST_CASE(
    "exchange_check: a distributor that asks elsewhere, as another one, or hears another feed") {
    const copied_demo it;
    it.change("distributor.json", [](auto& all) {
        all["feed"]["from"] = "239.195.70.3:7102";
        all["feed"]["requests"] = "127.0.0.1:7109";
        all["exchange"]["username"] = "nobody";
    });
    says(it,
         "distributor.json: feed.from: expected where the feed goes (exchange.json: feed.to is "
         "239.195.70.2:7102), but found \"239.195.70.3:7102\"\n"
         "distributor.json: feed.requests: expected where requests are heard (exchange.json: "
         "feed.requests is 127.0.0.1:7103), but found \"127.0.0.1:7109\"\n"
         "distributor.json: exchange.username: expected a participant of the facility: add it to "
         "\"participants\" in credentials.json, but found \"nobody\"");
    const copied_demo other;
    other.change("distributor_credentials.json",
                 [](auto& all) { all["exchange_password"] = "guess"; });
    says(other,
         "distributor_credentials.json: exchange_password: is not the one whose hash "
         "credentials.json has of \"mdist\"");
    other.change("distributor.json", [](auto& all) { all["exchange"]["at"] = "127.0.0.1:7109"; });
    CHECK(other.faults().find("distributor.json: exchange.at: ") == 0);
}

TEST_CASE("exchange_check: a facility that is elsewhere is not asked") {
    const copied_demo it;
    it.change("supervisor.json", [](auto& all) {
        all["children"].erase(0);
        for (auto& each : all["children"]) each.erase("after");
    });
    it.change("gateway.json", [](auto& all) { all["facility"]["at"] = "192.0.2.1:7105"; });
    CHECK(it.faults().empty());
}
