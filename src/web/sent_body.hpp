// SPDX-License-Identifier: BSL-1.0
//
// The body of a request that may be sent more than once: a client sends it again, upstreams elsewhere.
//
// Bytes are there each time. What a producer writes is not, so it is lent, and asked once.
#pragma once

#include <gyre/http/response.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace gyre::web {

/// An attempt that is given up lets go of it later.
struct sent_body {
    explicit sent_body(http::response_body of) noexcept : content{std::move(of)} {}

    http::response_body content;
    bool produced = false;  ///< Its producer was asked.
    bool gave_up = false;   ///< Its producer has failed by itself: see watched_producer.hpp.
};

/// Lends the producer of a body to one attempt, which may never ask it.
class lent_producer final : public http::body_producer {
public:
    explicit lent_producer(std::shared_ptr<sent_body> of) noexcept : of_{std::move(of)} {}

    [[nodiscard]] std::optional<std::uint64_t> size() const noexcept override {
        return of_->content.size();
    }
    [[nodiscard]] task<io_result<>> write(http::body_writer to) override {
        of_->produced = true;
        return of_->content.producer()->write(to);
    }

private:
    std::shared_ptr<sent_body> of_;
};

/// Null for an empty one.
[[nodiscard]] inline std::shared_ptr<sent_body> kept_body(http::response_body of) {
    if (of.producer() == nullptr && of.bytes().empty()) return nullptr;
    return std::make_shared<sent_body>(std::move(of));
}

}  // namespace gyre::web
