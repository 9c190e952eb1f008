// SPDX-License-Identifier: BSL-1.0
#include <http/message_pool.hpp>

#include <utility>

namespace gyre::http {

message_pool::message_pool() noexcept = default;
message_pool::~message_pool() = default;

void borrowed_message::take() {
    if (it_ != nullptr) return;
    while (from_ != nullptr && it_ == nullptr && !from_->free_.empty()) {
        it_ = std::move(from_->free_.back());
        from_->free_.pop_back();
        if (it_->head != options_.head || it_->chunks != options_.chunks) it_.reset();
    }
    if (it_ == nullptr) it_ = std::make_unique<server_message>(options_, io_);
    it_->source.attach(io_);
    it_->sink.attach(io_);
    io_.out.swap(it_->out);
}

void borrowed_message::give_back() noexcept {
    if (it_ == nullptr) return;
    it_->running.reset();
    it_->parser.reset();
    if (from_ == nullptr) return;
    constexpr std::size_t out_kept_max = 16 * 1024;
    io_.out.swap(it_->out);
    it_->out.clear();
    if (it_->out.capacity() > out_kept_max) std::string{}.swap(it_->out);
    if (from_->free_.size() < message_pool::messages_max) from_->free_.push_back(std::move(it_));
    it_.reset();
}

}  // namespace gyre::http
