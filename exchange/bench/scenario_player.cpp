// SPDX-License-Identifier: BSL-1.0
//
// See the header.
#include <exchange/bench/scenario_player.hpp>

#include <exchange/bench/arrival_schedule.hpp>
#include <exchange/bench/order_client.hpp>

#include <algorithm>

namespace exchange::bench {
namespace {

using gyre::time_point;

time_point clock_now() { return std::chrono::steady_clock::now(); }

// So many derived messages may be under way, whatever the rate: as many as streams, feed and sockets keep
// without losing any. A load that would need more is late instead, and the cell is saturated.
constexpr std::uint32_t derived_under_way_max = 16'384;

constexpr std::uint32_t turns_between_timers = 256;

// A turn that does all that a turn can do takes less.
constexpr std::chrono::microseconds stall_min{20};

class scenario_player {
public:
    scenario_player(const cell& which, scenario& play, feed_client& feed,
                    const scenario_target& target)
        : cell_{which},
          shape_{shape_of(which.which)},
          play_{play},
          feed_{feed},
          target_{target},
          maker_{target.endpoints.order_entry, maker_name, password, clock_now()},
          taker_{target.endpoints.order_entry, taker_name, password, clock_now()},
          log_{target.first_command, std::size_t{which.events_in_all()} * shape_.inbound(), shape_,
               answers_of(which.which, which.state)} {
        commands_.reserve(shape_.inbound());
        result_.due.reserve(which.events_in_all());
        result_.sent.reserve(which.events_in_all());
        feed_.follow(target.first_of_feed, target.endpoints.feed_requests, clock_now());
    }

    scenario_result run() {
        log_in();
        schedule_ = {clock_now() + std::chrono::milliseconds{5}, cell_.rate_per_second};
        progress_at_ = clock_now() + std::chrono::milliseconds{5};
        while (!over()) turn();
        finish();
        return std::move(result_);
    }

private:
    void log_in() {
        progress_at_ = clock_now();
        while (!(maker_.logged_in() && taker_.logged_in()) && !failed()) {
            now_ = clock_now();
            receive();
            note_silence();
        }
    }

    void turn() {
        const time_point before = now_;
        now_ = clock_now();
        if (now_ - before >= stall_min) result_.stalls.push_back({before, now_});
        send_what_is_due();
        receive();
        note_refusal();
        if (++turns_ % turns_between_timers != 0) return;
        maker_.on_timer(now_);
        taker_.on_timer(now_);
        feed_.on_timer(now_, take_);
        note_silence();
    }

    void send_what_is_due() {
        const std::uint64_t before = prepared_ + triggered_;
        while (!failed() && (send_before() || send_trigger())) {
        }
        if (prepared_ + triggered_ == before && !maker_.backlogged() && !taker_.backlogged())
            return;
        maker_.flush(now_);
        taker_.flush(now_);
    }

    [[nodiscard]] std::uint64_t events_complete() const {
        return log_.measured_complete() / shape_.measured;
    }

    // How many events may be under way, in all or ahead of their triggers.
    [[nodiscard]] std::uint64_t under_way_max() const {
        if (alone() || !schedule_.bounded()) return shape_.under_way_max;
        return std::max<std::uint64_t>(1, derived_under_way_max / shape_.derived_in_all());
    }
    [[nodiscard]] bool alone() const { return shape_.two_connections && shape_.under_way_max == 1; }
    [[nodiscard]] std::uint64_t ahead_max() const {
        return shape_.two_connections ? under_way_max() : 1;
    }

    bool send_before() {
        if (prepared_ == cell_.events_in_all() || prepared_ - triggered_ >= ahead_max() ||
            prepared_ - events_complete() >= under_way_max())
            return false;
        if (shape_.before > 0) {
            if (maker_.backlogged() || now_ < schedule_.before_due(prepared_)) return false;
            commands_.clear();
            play_.before(commands_);
            for (const command& each : commands_) maker_.push(each, now_);
        }
        ++prepared_;
        return true;
    }

    bool send_trigger() {
        if (triggered_ == prepared_ || taker_.backlogged() || maker_.backlogged()) return false;
        const time_point due = schedule_.due(triggered_);
        if (now_ < due) return false;
        if (shape_.two_connections && log_.before_complete() < (triggered_ + 1) * shape_.before)
            return false;
        commands_.clear();
        play_.measured(commands_);
        for (const command& each : commands_) sender_of(each).push(each, now_);
        result_.due.push_back(schedule_.bounded() ? due : now_);
        result_.sent.push_back(now_);
        ++triggered_;
        return true;
    }

    order_client& sender_of(const command& what) {
        const session_id session = std::visit(
            []<class Command>(const Command& it) {
                if constexpr (requires { it.session; }) return it.session;
                else return session_id::none;
            },
            what);
        return session == session_id{1} ? maker_ : taker_;
    }

    void receive() {
        bool any = taker_.receive(take_);
        any = maker_.receive(take_) || any;
        any = feed_.receive(take_) || any;
        if (any) progress_at_ = now_;
    }

    // Whatever precedes an event must come to rest; if it was refused, the answer looks like an event.
    void note_refusal() {
        if (log_.measured_complete() > triggered_ * shape_.measured && result_.fault.empty())
            result_.fault = "what precedes an event was refused, or is not what it should be";
    }

    void note_silence() {
        if (now_ - progress_at_ > target_.silence_max && result_.fault.empty())
            result_.fault = "nothing has come for too long; complete are " +
                            std::to_string(events_complete()) + " of " +
                            std::to_string(triggered_) + " events that were sent";
    }

    [[nodiscard]] bool failed() const {
        return !(maker_.fault().empty() && taker_.fault().empty() && feed_.fault().empty() &&
                 log_.fault().empty() && result_.fault.empty());
    }
    [[nodiscard]] bool over() const {
        return failed() || events_complete() == cell_.events_in_all();
    }

    void finish() {
        for (const std::string* fault :
             {&maker_.fault(), &taker_.fault(), &feed_.fault(), &log_.fault()})
            if (result_.fault.empty()) result_.fault = *fault;
        if (result_.fault.empty()) {
            result_.events = log_.events();
            result_.fault = log_.fault();
        }
        result_.datagrams = feed_.datagrams();
        result_.requests = feed_.requests();
    }

    struct taking {
        arrival_log& log;
        template <class Event>
        void operator()(const event_stamp& stamp, const Event& it, time_point now) const {
            log.take(stamp, answer_of(it), now);
        }
    };

    cell cell_;
    event_shape shape_;
    scenario& play_;
    feed_client& feed_;
    scenario_target target_;
    order_client maker_;
    order_client taker_;
    arrival_log log_;
    taking take_{log_};
    arrival_schedule schedule_{{}, unbounded};
    std::vector<command> commands_;
    scenario_result result_;
    time_point now_{};
    time_point progress_at_{};
    std::uint64_t prepared_ = 0;   // Events of which everything that precedes them was sent.
    std::uint64_t triggered_ = 0;  // Events that were sent. Invariant: triggered_ <= prepared_.
    std::uint32_t turns_ = 0;
};

}  // namespace

scenario_result play(const cell& which, scenario& play, feed_client& feed,
                     const scenario_target& target) {
    return scenario_player{which, play, feed, target}.run();
}

}  // namespace exchange::bench
