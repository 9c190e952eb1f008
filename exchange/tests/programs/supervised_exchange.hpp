// SPDX-License-Identifier: BSL-1.0
//
// A facility and a gateway behind it as children of a supervisor, for tests of whole programs.
#pragma once

#include <exchange/tests/programs/running_exchange.hpp>

#include <gyre/base/time.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace exchange::testing {

/// One that the kernel gives to no client.
[[nodiscard]] std::string own_place();

/// The text of a sample beside exchange.json, changed by `change`.
[[nodiscard]] std::string sample_of(const std::string& name,
                                    const std::function<void(nlohmann::json&)>& change);

struct supervised_options {
    std::string backend = "gyre_epoll";  ///< Of facility and gateway.
    bool held = false;  ///< Does the supervisor listen for both, and may the gateway be replaced?
    bool distributor = false;  ///< Is there one, "mdist" of the credentials?
    gyre::duration gateway_ready_within = std::chrono::minutes{2};
    std::function<void(nlohmann::json&)> facility{};  ///< What is changed in its configuration.
    std::function<void(nlohmann::json&)> gateway{};
    std::string gateway_credentials =
        gyre::testing::text_of_file(EXCHANGE_SAMPLE_FOLDER "/gateway_credentials.json");
    std::string passwords = sample_passwords();
};

class supervised_exchange {
public:
    /// Starts it and waits until all children are ready.
    explicit supervised_exchange(const supervised_options& how = {});

    [[nodiscard]] gyre::testing::program& it() noexcept { return it_; }
    /// All that it has said, once it has ended.
    [[nodiscard]] std::string rest() { return lines_ + it_.rest_of_output(); }

    [[nodiscard]] nlohmann::json status() const;
    [[nodiscard]] nlohmann::json child(const std::string& name) const;
    /// Kills the process that a child is, and waits until another one is ready in its place.
    void kill_child(const std::string& name) const;
    /// Asks for a command: "replace", "restart".
    ///
    /// @return The status of the answer.
    [[nodiscard]] int command(const std::string& what, const std::string& child) const;
    /// Has the child been started `starts` times, and is the last process of these its only one, and ready?
    [[nodiscard]] bool is_settled(const std::string& name, unsigned starts) const;

    [[nodiscard]] running_exchange::answer load(std::vector<std::string> words) const;
    [[nodiscard]] running_exchange::answer ctl(std::vector<std::string> words) const;
    /// Where clients connect to the gateway.
    [[nodiscard]] const std::string& through_gateway() const noexcept { return through_gateway_; }
    /// The file that each of its processes reads when it starts.
    [[nodiscard]] const std::string& gateway_config() const noexcept { return gateway_.path(); }
    /// The supervisor's own.
    [[nodiscard]] const std::string& config_path() const noexcept { return supervisor_.path(); }
    [[nodiscard]] std::uint16_t admin() const noexcept { return admin_; }

private:
    [[nodiscard]] std::string supervisor_text(const supervised_options& how) const;

    std::string order_entry_;
    std::string requests_;
    std::string gateways_;
    std::string through_gateway_;
    written_config facility_;
    written_config gateway_credentials_;
    written_config gateway_;
    std::string subscribers_;
    written_config distributor_credentials_;
    written_config distributor_;
    written_config passwords_;
    written_config supervisor_;
    gyre::testing::program it_;
    std::string lines_;
    std::uint16_t admin_ = 0;
};

/// What a supervisor's log tells, as "child_started facility"; other lines are left out.
[[nodiscard]] std::vector<std::string> story_in(const std::string& text);

}  // namespace exchange::testing
