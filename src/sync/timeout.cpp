// SPDX-License-Identifier: BSL-1.0
//
// The untyped part of include/gyre/sync/timeout.hpp.
#include <gyre/sync/timeout.hpp>

#include <algorithm>

namespace gyre {
namespace {

stop_level filtered(stop_level level, stop_filter how) noexcept {
    switch (how) {
        case stop_filter::pass_all: return level;
        case stop_filter::block_all: return stop_level::none;
        case stop_filter::drain_as_stop:
            return level == stop_level::none ? level : stop_level::stop;
    }
    return level;
}

}  // namespace

limit_base::~limit_base() { finish(); }

// It enters its parent's chain before `it` begins: what begins may itself ask that chain to stop.
void limit_base::prepare(const environment& parent) noexcept {
    parent_ = &parent;
    parent.chain->enter(*this);
    open(parent, filtered(parent.chain->level(), filter_));
    branches_.push_back(chain);
    arm(*parent.loop);
    if (silence_ == nullptr) return;
    expects(silence_->limits_ == nullptr, "an idle time-out limits one thing at a time");
    silence_->limits_ = this;
}

void limit_base::arm(loop& home) noexcept {
    const time_point end = deadline(home);
    if (end == never) return;
    if (lasting_ == nullptr) return home.arm(*this, end);
    expects(lasting_->limits_ == nullptr, "a timer limits one thing at a time");
    expects(lasting_->on_ == nullptr || lasting_->on_ == &home, "a timer belongs to one loop");
    lasting_->limits_ = this;
    lasting_->on_ = &home;
    home.arm(*lasting_, end);
}

void limit_base::finish() noexcept {
    if (parent_ == nullptr) return;
    if (lasting_ == nullptr) parent_->loop->disarm(*this);
    else lasting_->limits_ = nullptr;
    parent_->chain->leave();
    chain.unlink();
    parent_ = nullptr;
    if (silence_ != nullptr) silence_->limits_ = nullptr;
}

void limit_base::begin_anew() noexcept {
    if (!timer::armed()) return;  // It has fired.
    loop& home = *parent_->loop;
    home.arm(*this, deadline(home));
}

time_point limit_base::deadline(loop& home) const noexcept {
    if (limit_.wait == duration::max()) return limit_.until;
    return std::min(limit_.until, deadline_after(home.read_clock(), limit_.wait));
}

void idle_timeout::push_back() noexcept {
    if (limits_ != nullptr) limits_->begin_anew();
}

void limit_base::request(stop_level level) noexcept { chain.request(filtered(level, filter_)); }

const char* limit_base::waiting_for() const noexcept {
    return filter_ == stop_filter::block_all ? "the end of what is shielded"
                                             : "what is limited in time";
}

void limit_base::expire() noexcept {
    expired_ = !chain.stopping();
    chain.request(stop_level::stop);
}

limit_timer::~limit_timer() {
    if (on_ != nullptr) on_->disarm(*this);
}

void limit_timer::fired(timer& it) noexcept {
    limit_base* const late = static_cast<limit_timer&>(it).limits_;
    if (late != nullptr) late->expire();
}

}  // namespace gyre
