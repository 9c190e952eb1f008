// SPDX-License-Identifier: BSL-1.0
//
// The untyped part of include/gyre/sync/stop_token.hpp.
#include <gyre/sync/stop_token.hpp>

namespace gyre {

stop_bridge::stop_bridge(std::stop_token token, std::stop_source source) noexcept
    : branch_base{nullptr},
      work{[](work& item) noexcept {
          auto& self = static_cast<stop_bridge&>(item);
          self.posted_ = false;
          self.chain.request(stop_level::stop);
      }},
      token_{std::move(token)},
      source_{std::move(source)} {}

stop_bridge::~stop_bridge() { finish(); }

// It enters its parent's chain before `it` begins: what begins may itself ask that chain to stop.
void stop_bridge::prepare(const environment& parent) noexcept {
    parent_ = &parent;
    parent.chain->enter(*this);
    const bool asked_before = token_.stop_requested();
    open(parent, asked_before ? stop_level::stop : parent.chain->level());
    branches_.push_back(chain);
    if (parent.chain->stopping()) source_.request_stop();
    if (!asked_before && token_.stop_possible()) callback_.emplace(token_, teller{this});
}

void stop_bridge::finish() noexcept {
    if (parent_ == nullptr) return;
    callback_.reset();  // Afterwards no thread is, or comes, here.
    if (posted_) parent_->loop->retract(*this);
    posted_ = false;
    parent_->chain->leave();
    chain.unlink();
    parent_ = nullptr;
}

void stop_bridge::request(stop_level level) noexcept {
    if (level == stop_level::stop) source_.request_stop();
    chain.request(level);
}

void stop_bridge::told() noexcept {
    posted_ = true;
    parent_->loop->post(*this);
}

}  // namespace gyre
