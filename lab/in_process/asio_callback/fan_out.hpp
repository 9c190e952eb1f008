// SPDX-License-Identifier: BSL-1.0
//
// Forks and joins with handlers: a child is a handler that was posted, a join is a counter.
//
// The last child of a fork calls its parent, as handlers do; that needs no post.
#pragma once

#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/sessions.hpp>

#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace asio_lab {

// Forks again when everything of the last fork has ended.
class parent {
public:
    parent(executor queue, const lab::fan_out_case& work, std::uint64_t& ended)
        : queue_{queue}, work_{work}, ended_{ended}, children_left_(work.groups) {}

    void begin(std::uint64_t forks) {
        forks_left_ = forks;
        next();
    }

private:
    void next() {
        if (forks_left_-- == 0) return;
        groups_left_ = work_.groups;
        if (work_.groups == 1) return fork(children_left_.front());

        for (std::size_t& left : children_left_) {
            asio::post(queue_, [this, &left] { fork(left); });
        }
    }

    void fork(std::size_t& left) {
        left = work_.children_per_group;
        for (std::size_t i = 0; i < work_.children_per_group; ++i) {
            asio::post(queue_, [this, &left] {
                ++ended_;
                if (--left == 0 && --groups_left_ == 0) next();
            });
        }
    }

    executor queue_;
    const lab::fan_out_case& work_;
    std::uint64_t& ended_;
    std::vector<std::size_t> children_left_;  // Of each group.
    std::size_t groups_left_ = 0;
    std::uint64_t forks_left_ = 0;
};

class parents {
public:
    parents(asio::io_context& context, const lab::fan_out_case& work) : work_{work} {
        for (std::size_t i = 0; i < work.parents; ++i) {
            all_.emplace_back(context.get_executor(), work_, ended_);
        }
    }

    void begin(std::uint64_t children, lab::slice&) {
        ended_ = 0;
        for (parent& each : all_) each.begin(children / lab::unit_of(work_));
    }

    void end(lab::slice& now) const { now.done = ended_; }

private:
    lab::fan_out_case work_;
    std::uint64_t ended_ = 0;
    std::deque<parent> all_;
};

}  // namespace asio_lab
