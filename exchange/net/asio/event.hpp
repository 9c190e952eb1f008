// SPDX-License-Identifier: BSL-1.0
//
// A flag that coroutines of Asio's can wait for, as gyre::event.
//
// Asio has none. A timer that never expires and is cancelled is the usual stand-in: it costs an entry in
// a heap, a place in a list and an error code per wait. Here those who wait form a list that runs through
// their own frames, which also hold the memory that Asio needs to resume them.
#pragma once

#include <exchange/net/asio/io_result.hpp>

#include <gyre/base/check.hpp>
#include <gyre/base/intrusive.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace exchange {

/// Memory for one object of a handler's, lent by the frame that waits. Asio gives it back before it calls
/// the handler.
template <std::size_t Bytes>
struct asio_lent_memory {
    alignas(std::max_align_t) std::byte space[Bytes];
    bool lent = false;
};

template <class Type, std::size_t Bytes>
class asio_lent_allocator {
public:
    using value_type = Type;
    template <class Other>
    struct rebind {
        using other = asio_lent_allocator<Other, Bytes>;
    };

    explicit asio_lent_allocator(asio_lent_memory<Bytes>& from) noexcept : from_{&from} {}
    template <class Other>
    asio_lent_allocator(const asio_lent_allocator<Other, Bytes>& other) noexcept
        : from_{other.from_} {}

    [[nodiscard]] Type* allocate(std::size_t count) noexcept {
        gyre::expects(!from_->lent && count * sizeof(Type) <= Bytes,
                      "a handler needs one block, of the size that was lent");
        from_->lent = true;
        return reinterpret_cast<Type*>(from_->space);
    }
    void deallocate(Type*, std::size_t) noexcept { from_->lent = false; }

    [[nodiscard]] friend bool operator==(asio_lent_allocator,
                                         asio_lent_allocator) noexcept = default;

private:
    template <class, std::size_t>
    friend class asio_lent_allocator;

    asio_lent_memory<Bytes>* from_;
};

/// Set or not; stays set until `reset`. Must outlive those who wait, and die before their loop.
class asio_event {
public:
    asio_event() noexcept = default;
    asio_event(const asio_event&) = delete;
    asio_event& operator=(const asio_event&) = delete;
    ~asio_event() {
        while (!waiting_.empty()) waiting_.pop_front().drop();
    }

    void set() noexcept {
        set_ = true;
        while (!waiting_.empty()) waiting_.pop_front().resume();
    }
    void reset() noexcept { set_ = false; }
    [[nodiscard]] bool is_set() const noexcept { return set_; }

    /// Waits until it is set.
    ///
    /// Errors:        none.
    /// Cancellation:  none; to end it, set the event.
    /// Threads:       the loop's.
    /// Cost:          no allocation; a post.
    [[nodiscard]] auto wait() noexcept { return asio_operation<waiting>{waiting{*this}}; }

private:
    /// One wait: a link of the event's list, the coroutine's handler, and memory to post it with.
    class waiting : public gyre::list_link<> {
    public:
        using result_type = gyre::io_result<>;

        explicit waiting(asio_event& on) noexcept : on_{&on} {}
        waiting(waiting&& other) noexcept : on_{other.on_} {}  // Only before it begins.

        template <class Handler>
        void begin(Handler handler) {
            static_assert(sizeof(Handler) <= handler_bytes && alignof(Handler) <= alignof(void*),
                          "an event is awaited by coroutines of Asio's");
            ::new (static_cast<void*>(handler_)) Handler{std::move(handler)};
            end_ = &end<Handler>;
            if (on_->set_) return resume();
            on_->waiting_.push_back(*this);
        }

        void resume() noexcept { end_(*this, ending::resume); }
        void drop() noexcept { end_(*this, ending::drop); }

    private:
        static constexpr std::size_t handler_bytes = 3 * sizeof(void*);
        static constexpr std::size_t post_bytes = 128;

        enum class ending : bool { resume, drop };

        template <class Handler>
        static void end(waiting& self, ending how) noexcept {
            auto* at = std::launder(reinterpret_cast<Handler*>(self.handler_));
            Handler taken{std::move(*at)};
            at->~Handler();
            if (how == ending::drop) return;
            const auto executor = boost::asio::get_associated_executor(taken);
            auto call = [taken = std::move(taken)]() mutable { std::move(taken)(result_type{}); };
            boost::asio::post(executor, boost::asio::bind_allocator(
                                            asio_lent_allocator<void*, post_bytes>{self.memory_},
                                            std::move(call)));
        }

        asio_event* on_;
        void (*end_)(waiting& self, ending how) noexcept = nullptr;
        alignas(void*) std::byte handler_[handler_bytes];
        asio_lent_memory<post_bytes> memory_;
    };

    gyre::list<waiting> waiting_;
    bool set_ = false;
};

}  // namespace exchange
