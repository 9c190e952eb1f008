// SPDX-License-Identifier: BSL-1.0
//
// Forks and joins with handlers: a child is a handler that was posted, a join is a counter.
//
// The last child of a fork calls its parent, as handlers do; that needs no post.
#include <lab/in_process/asio/library.hpp>
#include <lab/in_process/sessions.hpp>

#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace {

namespace asio = boost::asio;

using asio_lab::executor;

// One fork; `Joined` is called when all children have ended.
template <class Joined>
class fork {
public:
    fork(executor queue, std::uint64_t& ended, Joined joined)
        : queue_{queue}, ended_{ended}, joined_{joined} {}

    void begin(std::size_t children) {
        left_ = children;
        for (std::size_t i = 0; i < children; ++i) {
            asio::post(queue_, [this] {
                ++ended_;
                if (--left_ == 0) joined_();
            });
        }
    }

private:
    executor queue_;
    std::uint64_t& ended_;
    Joined joined_;
    std::size_t left_ = 0;
};

// Forks again when everything of the last fork has ended.
class parent {
public:
    parent(executor queue, const lab::fan_out_case& work, std::uint64_t& ended)
        : queue_{queue}, work_{work} {
        for (std::size_t i = 0; i < work.groups; ++i) {
            groups_.emplace_back(queue, ended, group_joined{this});
        }
    }

    void begin(std::uint64_t forks) {
        forks_left_ = forks;
        next();
    }

private:
    struct group_joined {
        parent* of;
        void operator()() const {
            if (--of->groups_left_ == 0) of->next();
        }
    };

    void next() {
        if (forks_left_-- == 0) return;
        groups_left_ = groups_.size();
        if (groups_.size() == 1) return groups_.front().begin(work_.children_per_group);

        for (auto& each : groups_) {
            asio::post(queue_, [this, &each] { each.begin(work_.children_per_group); });
        }
    }

    executor queue_;
    const lab::fan_out_case& work_;
    std::deque<fork<group_joined>> groups_;
    std::size_t groups_left_ = 0;
    std::uint64_t forks_left_ = 0;
};

class fan_out_session final : public lab::loop_session<asio_lab::library> {
public:
    fan_out_session(asio_lab::layout how, const lab::fan_out_case& work)
        : loop_session{how}, work_{work} {
        for (std::size_t i = 0; i < work.parents; ++i) {
            parents_.emplace_back(loop_.context().get_executor(), work_, ended_);
        }
    }

    void play(lab::slice& now) override {
        ended_ = 0;
        for (parent& each : parents_) each.begin(now.operations / lab::unit_of(work_));
        loop_.run();
        now.done = ended_;
    }

private:
    lab::fan_out_case work_;
    std::uint64_t ended_ = 0;
    std::deque<parent> parents_;
};

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::fan_out_case& work) {
    return lab::prepared<fan_out_session>(how, work);
}
