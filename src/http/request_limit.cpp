// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/request_limit.hpp>

#include <gyre/base/check.hpp>
#include <gyre/coro/this_task.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

std::string address_of(const request& what) {
    const std::string_view peer = what.peer();
    return std::string{peer.substr(0, peer.rfind(':'))};
}

// What is known of keys; shared by loops.
class known_keys {
public:
    explicit known_keys(const request_limit_options& options) noexcept
        : rate_{options.requests},
          keys_max_{options.keys_max},
          key_bytes_max_{options.key_bytes_max} {}

    /// Nothing if the request may go on; else when another one may.
    [[nodiscard]] std::optional<duration> ask(const std::string& key, time_point now) {
        const std::lock_guard<std::mutex> alone{lock_};
        const auto [found, is_new] = by_key_.try_emplace(key);
        if (is_new) {
            key_bytes_ += key.size();
            while (by_key_.size() > keys_max_ ||
                   (key_bytes_ > key_bytes_max_ && by_key_.size() > 1))
                forget_oldest();
            last_asked_.push_back(entry{&found->first, token_bucket{rate_, now}});
            found->second = std::prev(last_asked_.end());
        } else {
            last_asked_.splice(last_asked_.end(), last_asked_, found->second);
        }
        token_bucket& bucket = found->second->bucket;
        if (bucket.take(rate_, now, 1)) return std::nullopt;
        return time_left(bucket.ready_at(rate_, 1), now);
    }

private:
    struct entry {
        const std::string* key;  // Of the map, whose nodes stay where they are.
        token_bucket bucket;
    };

    void forget_oldest() noexcept {
        const auto found = by_key_.find(*last_asked_.front().key);
        last_asked_.pop_front();
        key_bytes_ -= found->first.size();
        by_key_.erase(found);
    }

    const token_rate rate_;
    const std::size_t keys_max_;
    const std::size_t key_bytes_max_;
    std::mutex lock_;
    // A tree: no client can choose keys that make it slow.
    std::map<std::string, std::list<entry>::iterator> by_key_;
    std::size_t key_bytes_ = 0;    // Of its keys.
    std::list<entry> last_asked_;  // The one that asked longest ago stands first.
};

response too_many(duration wait) {
    using std::chrono::seconds;
    response answer{status::too_many_requests};
    const auto left = std::chrono::ceil<seconds>(wait).count();
    answer.fields.set("retry-after", static_cast<std::uint64_t>(left < 1 ? 1 : left));
    return answer;
}

task<response> limit(std::shared_ptr<known_keys> known, std::string key, request& what,
                     const handler& next) {
    loop& home = co_await this_task::loop();
    std::optional<duration> wait;
    if (!key.empty()) wait = known->ask(key, home.now());
    if (wait) co_return too_many(*wait);
    response answer = co_await next(what);
    co_return answer;
}

}  // namespace

middleware limit_requests(request_limit_options options) {
    expects(options.keys_max > 0, "at least one key is remembered");
    const auto known = std::make_shared<known_keys>(options);
    auto key = options.key ? std::move(options.key) : address_of;
    return as_middleware([known, key = std::move(key)](request& what, const handler& next) {
        return limit(known, key(what), what, next);
    });
}

}  // namespace gyre::http
