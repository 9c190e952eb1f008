// SPDX-License-Identifier: BSL-1.0
//
// A pool of which every step is known, for parking_test.cpp.
//
// parking.hpp and pace_watch.hpp are the library's own. The inbox, the queues, waking and the turn of a
// loop are models, with the steps of shared_inbox.hpp, steal_queue.hpp, wake_state.hpp, pool_member.cpp
// and io_context.cpp: a change of these is a change here.
#pragma once

#include <runtime/pace_watch.hpp>
#include <runtime/parking.hpp>
#include <support/every_order.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace gyre {

/// What may be known of parking from outside of all threads.
struct parking_counts {
    static unsigned searching(const auto& lot) { return lot.searching_.now(); }
    static auto active(const auto& lot) { return static_cast<std::uint32_t>(lot.active_.now()); }
    static bool sleeps(const auto& lot, unsigned member) {
        return (lot.sleepers_.words_[0].now() >> member & 1) != 0;
    }
    static std::uint64_t with_surplus(const auto& lot) { return lot.with_surplus_.words_[0].now(); }

    template <class Lot>
    static bool lies(const parking<Lot>& it) {
        return it.now_ >= parking<Lot>::state::asleep;
    }
    template <class Lot>
    static bool rests(const parking<Lot>& it) {
        return it.now_ == parking<Lot>::state::resting;
    }

    /// How often a member has become active, as far as it is more than `wakes_max`.
    static void forget_wakes(auto& lot, std::uint64_t wakes_max) {
        const std::uint64_t wakes = std::min(lot.active_.now() >> 32, wakes_max);
        lot.active_.store(wakes << 32 | active(lot));
    }
};

}  // namespace gyre

namespace gyre::testing {

/// Items are numbered from one, and a list of them is a number with a digit for each, the oldest last.
constexpr unsigned no_item = 0;
constexpr unsigned digit = 4;

constexpr std::uint64_t count_of(std::uint64_t list) {
    return (static_cast<unsigned>(std::bit_width(list)) + digit - 1) / digit;
}
constexpr std::uint64_t oldest_of(std::uint64_t list, std::uint64_t count) {
    return list & ((std::uint64_t{1} << digit * count) - 1);
}
constexpr std::uint64_t append(std::uint64_t list, std::uint64_t more) {
    return list | more << digit * count_of(list);
}

/// The steps of shared_inbox.hpp.
class model_inbox {
public:
    void push(unsigned item) {
        added_.change([item](std::uint64_t list) { return append(list, item); });
    }
    [[nodiscard]] bool empty() const { return added_.load() == 0 && !some_sorted_.load(); }
    [[nodiscard]] bool being_taken() const { return seems_taken || taking_.load(); }
    [[nodiscard]] std::uint64_t rounds() const { return rounds_.load(); }

    template <class Taker>
    void take_some(unsigned count_max, Taker take) {
        unsigned count = 0;
        while (count == 0 && !empty() && !taking_.exchange(true)) {
            some_sorted_.store(true);
            if (sorted() == 0) {
                const std::uint64_t all = added_.exchange(0);
                sorted_.change_unseen([all](std::uint64_t) { return all; });
                rounds_.fetch_add(1);
            }
            for (; count < count_max && sorted() != 0; ++count) {
                take(sorted_.change_unseen([](std::uint64_t list) { return list >> digit; }) & 15);
            }
            some_sorted_.store(sorted() != 0);
            taking_.store(false);
        }
    }

    [[nodiscard]] bool empty_now() const { return added_.now() == 0 && sorted_.now() == 0; }

    bool seems_taken = false;  // Always: for a test of this test.

private:
    [[nodiscard]] std::uint64_t sorted() const {
        return sorted_.change_unseen([](std::uint64_t list) { return list; });
    }

    stepped_atomic<std::uint64_t> added_ = 0;
    stepped_atomic<bool> taking_ = false;
    stepped_atomic<bool> some_sorted_ = false;
    stepped_atomic<std::uint64_t> sorted_ = 0;  // Under `taking_`.
    stepped_atomic<std::uint64_t> rounds_ = 0;
};

/// The steps of steal_queue.hpp: what succeeds does so in one, and a thief publishes after it has claimed.
class model_queue {
public:
    void push(std::uint64_t items) {
        value_.change(
            [items](std::uint64_t it) { return append(list_of(it), items) | (it & taken_bits); });
    }
    std::uint64_t pop() { return take(0); }

    bool give_half(model_queue& thief) {
        const std::uint64_t some = take(1);
        if (some != 0) thief.push(some);
        return some != 0;
    }

    [[nodiscard]] std::uint64_t size() const { return count_of(list_of(value_.load())); }
    [[nodiscard]] std::uint64_t taken() const { return value_.load() >> 32; }
    [[nodiscard]] bool empty_now() const { return list_of(value_.now()) == 0; }
    [[nodiscard]] std::uint64_t added() const {
        const std::uint64_t value = value_.load();
        return (value >> 32) + count_of(list_of(value));
    }

private:
    static constexpr std::uint64_t taken_bits = ~std::uint64_t{0} << 32;

    static std::uint64_t list_of(std::uint64_t value) { return value & ~taken_bits; }

    /// One, or half of them if `halves` is 1.
    std::uint64_t take(unsigned halves) {
        const auto count = [halves](std::uint64_t list) {
            const std::uint64_t all = count_of(list);
            return halves == 1 ? all - all / 2 : std::min<std::uint64_t>(all, 1);
        };
        const std::uint64_t before = value_.change([&count](std::uint64_t it) {
            const std::uint64_t gone = count(list_of(it));
            return (list_of(it) >> digit * gone) | ((it >> 32) + gone) << 32;
        });
        return oldest_of(list_of(before), count(list_of(before)));
    }

    // The list of those that are there, and above it how many were taken.
    stepped_atomic<std::uint64_t> value_ = 0;
};

/// In place of pace_watch.hpp.
struct no_pace {
    template <class Pool>
    [[nodiscard]] bool suffices(const Pool&) const {
        return false;
    }
};
template <class Pool>
struct no_watch {
    explicit no_watch(Pool&) {}
    [[nodiscard]] bool kept() const { return false; }
    template <class Parking>
    [[nodiscard]] bool keep(const Parking&) const {
        return false;
    }
    void remember() const {}
    void end() const {}
};

/// What running an item does.
struct item {
    std::uint64_t shares = 0;     // A list, which it adds to the queue of its member.
    std::uint64_t waits_for = 0;  // A list: it holds its member up until these have run.
    unsigned mails = no_item;     // It posts that to the loop of the first member.
    bool is_long = false;         // It ends the brisk pace.
};

struct scenario {
    std::array<std::uint64_t, 2> posts{};  // Lists, by threads outside of the pool.
    std::array<item, 6> items{};
    std::array<unsigned, 2> letters{};  // Then, by the same, to the loop of the second member.
    unsigned batch = 32;                // How many a member takes from the inbox at once.
    bool begins_asleep = false;
    bool waits = false;       // The first thread waits for the end of all.
    bool looks_again = true;  // Members do, before they sleep; or else all must go wrong.
};

/// As bits.
constexpr std::uint64_t set_of(std::uint64_t list) {
    std::uint64_t bits = 0;
    for (; list != 0; list >>= digit) bits |= std::uint64_t{1} << (list & 15);
    return bits;
}

/// A pool: its loops, and the threads outside of it.
template <unsigned Members, class Pace, template <class> class Watch>
class model_pool {
    /// A turn as io_context.cpp and pool_member.cpp make it, in so many parts that what a thread has seen
    /// and needs no more does not tell states apart.
    enum class part : unsigned char {
        take_own,
        take,
        got,
        announce,
        leave_rest,
        run,
        announce_shared,
        mail,
        finish,
        look,
        search,
        steal,
        end_search,
        announce_stolen,
        take_stolen,
        lie_down,
        fall_asleep,
        rest,
        lock,
        notify,
        sleep,
        rise,
        wake_up,
        open_letter
    };
    static constexpr std::array part_names{"takes its own",
                                           "takes",
                                           "has got some",
                                           "announces",
                                           "leaves the rest",
                                           "runs",
                                           "announces what it shares",
                                           "mails",
                                           "finishes",
                                           "looks",
                                           "searches",
                                           "steals",
                                           "ends its search",
                                           "announces what it stole",
                                           "takes what it stole",
                                           "lies down",
                                           "falls asleep",
                                           "rests",
                                           "locks",
                                           "notifies",
                                           "sleeps",
                                           "rises",
                                           "wakes up",
                                           "opens letters"};
    enum class phase : unsigned char { away, looks, waits, told };

public:
    static constexpr unsigned members_max = Members;
    static constexpr unsigned threads_size = Members + 2;

    explicit model_pool(const scenario& of) : scenario_{of} {
        if constexpr (has_watch) pace.brisk.store(true);
        inbox.seems_taken = !of.looks_again;
        for (unsigned each = 0; of.begins_asleep && each < Members; ++each) {
            while (can_act(each)) act(each);
        }
    }

    static constexpr bool has_watch = requires(Pace pace) { pace.brisk; };

    stepped_memory memory;

    // What parking and the watch ask.

    model_inbox inbox;
    parking_lot<model_pool, Members, stepped_atomic> lot{*this};
    Pace pace;

    [[nodiscard]] std::size_t size() const { return Members; }
    [[nodiscard]] const model_queue& queue(unsigned member) const { return queues_[member]; }
    [[nodiscard]] bool posted() const {
        return std::ranges::any_of(letters_,
                                   [](const auto& each) { return each.load() != no_item; });
    }
    void wake(unsigned member) {
        if (asleep_[member].load() && asleep_[member].exchange(false)) signals_[member].store(true);
    }

    // What the explorer asks.

    [[nodiscard]] bool can_act(unsigned thread) const {
        if (thread >= Members) {
            const poster& it = own.posters[thread - Members];
            return it.pushed || it.posts != 0 || it.letter != no_item ||
                   (it.waits && waiter_.now() != phase::waits);
        }
        const member& it = own.members[thread];
        if (it.next == part::finish) return (set_of(item_of(it).waits_for) & ~done_.now()) == 0;
        if (it.next == part::lock) return waiter_.now() != phase::looks;
        return it.next != part::sleep || signals_[thread].now() || it.watch.kept();
    }
    [[nodiscard]] bool is_patient(unsigned thread) const {
        return thread < Members && own.members[thread].next == part::sleep;
    }
    void forget() {
        constexpr std::uint64_t more_than_matter = 7;
        parking_counts::forget_wakes(lot, waiter_.now() == phase::looks ? more_than_matter : 0);
    }

    void act(unsigned thread) {
        if (thread >= Members) {
            act_outside(own.posters[thread - Members]);
        } else if (own.members[thread].next < part::look) {
            own.members[thread].next = take_or_run(thread);
        } else if (own.members[thread].next < part::lie_down) {
            own.members[thread].next = look_for_some(thread);
        } else {
            own.members[thread].next = park(thread);
        }
    }

    [[nodiscard]] const char* wrong_now(bool between) const {
        if (own.posters[0].misled) return "the pool was said to be at rest too early";
        if (!between) return nullptr;
        unsigned searching = 0;
        unsigned active = 0;
        for (unsigned each = 0; each < Members; ++each) {
            const member& it = own.members[each];
            const bool marked = parking_counts::sleeps(lot, each);
            const bool lies = parking_counts::lies(it.parked);
            if (marked && !lies) return "one that is awake is among the sleepers";
            searching += it.parked.searching() || (lies && !marked) ? 1 : 0;
            active += parking_counts::rests(it.parked) ? 0 : 1;
        }
        if (searching != parking_counts::searching(lot)) return "the count of searchers is wrong";
        if (active != parking_counts::active(lot)) return "the count of active members is wrong";
        return nullptr;
    }

    [[nodiscard]] const char* wrong_at_end() {
        if (parking_counts::searching(lot) != 0) return "a search has no end";
        if (parking_counts::with_surplus(lot) != 0) return "nothing is done about a surplus";
        if (!inbox.empty_now()) return "an item is left in the inbox";
        if (done_.now() == all()) {
            return own.posters[0].waits ? "the end of all was not told" : nullptr;
        }
        const auto is_behind_another = [this](unsigned member) {
            return !queues_[member].empty_now() && own.members[member].next == part::finish;
        };
        for (unsigned each = 0; each < Members; ++each) {
            if (!is_behind_another(each)) continue;
            ++unannounced;
            return nullptr;
        }
        return "an item is left";
    }
    std::size_t unannounced =
        0;  // Ends in which an item waits for the one that holds its member up.

    [[nodiscard]] std::string name(unsigned thread) const {
        if (thread >= Members) return "poster " + std::to_string(thread - Members);
        const auto next = static_cast<std::size_t>(own.members[thread].next);
        return "member " + std::to_string(thread) + " " + part_names[next];
    }

private:
    struct member {
        parking<decltype(lot)> parked;
        Watch<model_pool> watch;
        part next = part::take_own;
        unsigned char item = no_item;
        unsigned char letter = no_item;
        unsigned char shared = 0;  // How many of those that the item shares.
        bool in_take = false;      // It searches because it was woken to, and looks once more.
        bool found = false;        // By stealing.
    };
    struct poster {
        std::uint64_t posts;
        unsigned letter;
        bool waits;
        bool pushed = false;  // The next one, which wakes no member yet.
        bool misled = false;
    };
    struct own_parts {
        std::array<member, Members> members;
        std::array<poster, 2> posters;
    };

    template <unsigned... Number>
    own_parts begin(std::integer_sequence<unsigned, Number...>) {
        return {{member{parking{lot, Number}, Watch<model_pool>{*this}}...},
                {poster{scenario_.posts[0], scenario_.letters[0], scenario_.waits},
                 poster{scenario_.posts[1], scenario_.letters[1], false}}};
    }

    part take_or_run(unsigned number) {
        member& here = own.members[number];
        model_queue& mine = queues_[number];
        switch (here.next) {
            case part::take_own:
                here.item = static_cast<unsigned char>(mine.pop());
                if (here.item != no_item) return part::run;
                lot.withdraw_surplus(number);
                return here.watch.kept() ? part::look : part::take;
            case part::take:
                inbox.take_some(scenario_.batch, [&](std::uint64_t item) {
                    if (here.item == no_item) {
                        here.item = static_cast<unsigned char>(item);
                    } else {
                        mine.push(item);
                    }
                });
                if (here.item != no_item) return part::got;
                here.in_take = here.parked.searching();
                return here.in_take ? part::search : part::look;
            case part::got: here.parked.end_search(); return part::announce;
            case part::announce: announce_surplus(number); return part::leave_rest;
            case part::leave_rest:
                if (!inbox.empty()) lot.wake_one();
                return part::run;
            case part::run: {
                const std::uint64_t left = item_of(here).shares >> digit * here.shared;
                if (left == 0) return part::mail;
                ++here.shared;
                mine.push(left & 15);
                return part::announce_shared;
            }
            case part::mail:
                if (item_of(here).mails != no_item) post_to(0, item_of(here).mails);
                return part::finish;
            case part::announce_shared: announce_surplus(number); return part::run;
            default:  // finish
                if constexpr (has_watch) {
                    if (item_of(here).is_long) pace.brisk.store(false);
                }
                done_.fetch_or(std::uint64_t{1} << std::exchange(here.item, no_item));
                here.shared = 0;
                return part::take_own;
        }
    }

    part look_for_some(unsigned number) {
        member& here = own.members[number];
        switch (here.next) {
            case part::look:
                here.item = std::exchange(here.letter, no_item);
                if (here.item != no_item) {
                    here.watch.end();
                    return part::run;
                }
                return queues_[number].size() > 0 ? part::take_own : part::search;
            case part::search: {
                const bool has_watched = here.watch.kept();
                if (here.watch.keep(here.parked) || (!has_watched && !lot.any_surplus())) {
                    return part::end_search;
                }
                if (here.parked.begin_search()) return part::steal;
                return std::exchange(here.in_take, false) ? part::look : part::lie_down;
            }
            case part::steal: here.found = steal(number); return part::end_search;
            case part::end_search:
                here.parked.end_search();
                if (here.found) return part::announce_stolen;
                return std::exchange(here.in_take, false) ? part::look : part::lie_down;
            case part::announce_stolen:
                announce_surplus(number);
                here.found = false;
                return std::exchange(here.in_take, false) ? part::take_stolen : part::take_own;
            default:  // take_stolen
                here.item = static_cast<unsigned char>(queues_[number].pop());
                return here.item != no_item ? part::run : part::look;
        }
    }

    part park(unsigned number) {
        member& here = own.members[number];
        switch (here.next) {
            case part::lie_down:
                asleep_[number].store(true);
                if (letters_[number].load() != no_item) return part::rise;
                here.watch.remember();
                return part::fall_asleep;
            case part::fall_asleep: return here.parked.fall_asleep() ? part::rest : part::rise;
            case part::rest:
                return here.parked.rest() && waiter_.load() != phase::away ? part::lock
                                                                           : part::sleep;
            case part::lock:  // And unlock.
                return part::notify;
            case part::notify:
                waiter_.change([](phase it) { return it == phase::waits ? phase::told : it; });
                return part::sleep;
            case part::wake_up: here.parked.wake_up(); return part::open_letter;
            case part::open_letter:
                here.letter = static_cast<unsigned char>(letters_[number].exchange(no_item));
                if (here.letter != no_item) here.watch.end();
                return part::take_own;
            default:  // sleep, rise
                signals_[number].store(false);
                asleep_[number].store(false);
                return part::wake_up;
        }
    }

    bool steal(unsigned number) {
        for (unsigned step = 1; step < Members; ++step) {
            const unsigned other = (number + step) % Members;
            if (queues_[other].give_half(queues_[number])) return true;
            lot.withdraw_surplus(other);
        }
        return false;
    }

    void announce_surplus(unsigned number) {
        if (queues_[number].size() > 0) lot.announce_surplus(number);
    }

    void post_to(unsigned member, unsigned item) {
        letters_[member].store(item);
        wake(member);
    }

    void act_outside(poster& it) {
        if (std::exchange(it.pushed, false)) {
            lot.wake_one();
        } else if (it.posts != 0) {
            it.pushed = true;
            inbox.push(it.posts & 15);
            it.posts >>= digit;
        } else if (it.letter != no_item) {
            post_to(1, std::exchange(it.letter, no_item));
        } else {
            waiter_.store(phase::looks);
            it.waits = !lot.at_rest();
            it.misled = !it.waits && done_.load() != all();
            waiter_.store(it.waits ? phase::waits : phase::away);
        }
    }

    [[nodiscard]] const item& item_of(const member& it) const { return scenario_.items[it.item]; }
    [[nodiscard]] std::uint64_t all() const {
        std::uint64_t bits = set_of(scenario_.posts[0]) | set_of(scenario_.posts[1]);
        bits |= set_of(scenario_.letters[0]) | set_of(scenario_.letters[1]);
        for (const item& each : scenario_.items) bits |= set_of(each.shares) | set_of(each.mails);
        return bits;
    }

    scenario scenario_;
    std::array<model_queue, Members> queues_;
    std::array<stepped_atomic<bool>, Members> asleep_;
    std::array<stepped_atomic<bool>, Members> signals_;      // What ends a sleep.
    std::array<stepped_atomic<unsigned>, Members> letters_;  // What was posted to a loop by itself.
    stepped_atomic<std::uint64_t> done_ = 0;                 // A set of items.
    stepped_atomic<phase> waiter_ = phase::away;

public:
    own_parts own = begin(std::make_integer_sequence<unsigned, Members>{});
};

}  // namespace gyre::testing
