// SPDX-License-Identifier: BSL-1.0
//
// Frames in memory of the program's choice, for coroutines that ask for it.
//
// A coroutine whose first parameters are `std::allocator_arg_t` and a pointer to a resource has its frame
// there; all others have theirs in the frame cache, and pay nothing for the choice. The pointer stands
// behind the frame. It is by std::coroutine_traits that these coroutines get another promise; each coroutine
// type has a specialisation beside it.
#pragma once

#include <gyre/base/check.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace gyre {

/// What frames can be taken from: a `std::pmr::memory_resource`, or a class with the same two functions,
/// called without a virtual table.
///
/// Ownership:  it is borrowed, and outlives the tasks whose frames it has.
/// Errors:     what `allocate` throws reaches the caller of the coroutine's function, before there is a task.
///             Without exceptions it ends the process, as do a null resource and one that returns null:
///             failed checks.
/// Threads:    `allocate` is called where the function is, `deallocate` where the task ends or is destroyed.
///             A resource of one thread, as `std::pmr::monotonic_buffer_resource` is, serves tasks of one.
/// Cost:       one call of each for a frame, which is one pointer larger; none where the compiler puts a
///             frame into its caller's, as clang does with a call that it inlines and sees the end of.
template <class Resource>
concept frame_resource = requires(Resource& from, void* memory, std::size_t size) {
    { from.allocate(size, size) } -> std::same_as<void*>;
    from.deallocate(memory, size, size);
};

/// The promise of a coroutine whose frame is in a resource.
template <class Promise, class Pointer>
class frame_in_resource : public Promise {
    using resource = std::remove_pointer_t<Pointer>;
    static_assert(
        std::is_pointer_v<Pointer> && frame_resource<resource>,
        "behind std::allocator_arg_t a coroutine takes a pointer to what its frame comes from: a "
        "std::pmr::memory_resource, or a class with its allocate and deallocate");

public:
    // Inlined at -O0 as well: g++ calls it a mismatch where a template made what a function frees.
    template <class... Rest>
    [[gnu::always_inline]] static void* operator new(std::size_t size, std::allocator_arg_t,
                                                     Pointer from, const Rest&...) {
        return take(size, from);
    }
    /// Of members and lambdas: their object comes first.
    template <class Object, class... Rest>
    [[gnu::always_inline]] static void* operator new(std::size_t size, const Object&,
                                                     std::allocator_arg_t, Pointer from,
                                                     const Rest&...) {
        return take(size, from);
    }
    [[gnu::always_inline]] static void operator delete(void* frame, std::size_t size) noexcept {
        Pointer& from = behind(frame, size);
        from->deallocate(frame, whole(size), alignof(std::max_align_t));
    }

private:
    [[nodiscard]] static constexpr std::size_t whole(std::size_t size) noexcept {
        return offset(size) + sizeof(Pointer);
    }
    [[nodiscard]] static constexpr std::size_t offset(std::size_t size) noexcept {
        return (size + alignof(Pointer) - 1) / alignof(Pointer) * alignof(Pointer);
    }
    [[nodiscard]] static Pointer& behind(void* frame, std::size_t size) noexcept {
        return *reinterpret_cast<Pointer*>(static_cast<std::byte*>(frame) + offset(size));
    }
    [[nodiscard]] static void* take(std::size_t size, Pointer from) {
        expects(from != nullptr, "a frame's resource is not null");
        void* frame = from->allocate(whole(size), alignof(std::max_align_t));
        expects(frame != nullptr,
                "a frame's resource that has no memory left throws; this one returned null");
        std::construct_at(&behind(frame, size), from);
        return frame;
    }
};

// Which coroutines these are

/// The parameter that asks for a resource: `std::allocator_arg_t`, by value or by reference.
template <class Type>
concept frame_tag = std::same_as<std::remove_cvref_t<Type>, std::allocator_arg_t>;

/// Stands for what is missing behind a tag.
struct no_frame_resource;

/// The type behind the tag that `Parameters` begin with, if they do; members and lambdas have their object
/// in front of it.
template <class... Parameters>
struct frame_parameter {};
template <frame_tag Tag>
struct frame_parameter<Tag> {
    using type = no_frame_resource;
};
template <frame_tag Tag, class Pointer, class... Rest>
struct frame_parameter<Tag, Pointer, Rest...> {
    using type = std::remove_cvref_t<Pointer>;
};
template <class Object, frame_tag Tag, class... Rest>
    requires(!frame_tag<Object>)
struct frame_parameter<Object, Tag, Rest...> : frame_parameter<Tag, Rest...> {};

/// Parameters that begin with a tag, or with an object and a tag.
template <class... Parameters>
concept asks_for_resource = requires { typename frame_parameter<Parameters...>::type; };

/// Of a coroutine that asks for one. It is known by the promise of `Coroutine`, which the other is derived
/// from.
template <class Coroutine, class... Parameters>
struct resource_frame_traits {
    using promise_type = frame_in_resource<typename Coroutine::promise_type,
                                           typename frame_parameter<Parameters...>::type>;
    static_assert(sizeof(promise_type) == sizeof(typename Coroutine::promise_type) &&
                  alignof(promise_type) == alignof(typename Coroutine::promise_type));
};

}  // namespace gyre
