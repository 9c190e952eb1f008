// SPDX-License-Identifier: BSL-1.0
//
// Asio's operations, awaited by Asio's coroutines, that yield gyre::io_result.
//
// `use_awaitable` would make a coroutine of Asio's out of every operation, and `as_tuple` another type of
// result. An object that Asio recognises as an asynchronous operation is awaited as it is: the frame that
// awaits holds it, and its handler resumes that frame. gyre/interop/asio_operation.hpp is the same for
// gyre's coroutines.
#pragma once

#include <gyre/base/error.hpp>
#include <gyre/base/result.hpp>
#include <gyre/interop/asio_error.hpp>

#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace exchange {

/// The handler that Asio is given: it turns what Asio says into a result, and passes that on.
template <class Handler, class Record>
class asio_finish {
public:
    asio_finish(Handler handler, Record& record) noexcept
        : handler_{std::move(handler)}, record_{&record} {}

    template <class... Values>
    void operator()(const boost::system::error_code& failure, Values&&... values) {
        if constexpr (requires { record_->goes_on(failure, values...); }) {
            if (record_->goes_on(failure, values...)) return record_->begin(std::move(handler_));
        }
        // The record may be gone once the handler runs.
        std::move(handler_)(record_->finish(failure, std::forward<Values>(values)...));
    }

    [[nodiscard]] const Handler& handler() const noexcept { return handler_; }

private:
    Handler handler_;
    Record* record_;
};

/// One operation that a coroutine of Asio's may await, in the expression that makes it.
///
/// `Record` is what the operation needs while it lasts; it stays in the frame that awaits. It names its
/// `result_type`, begins with `begin(handler)`, which sees that `handler(result)` is called later and
/// never inside, and has what `asio_finish` calls: `finish(error_code, values...)`, the result. With
/// `goes_on(error_code, values...)`, which is asked first, it may begin once more instead.
///
/// Errors:        those of `finish`.
/// Cancellation:  through the handler's slot, if the coroutine has one.
/// Threads:       resumes on the coroutine's executor.
/// Cost:          no frame; what Asio allocates for a handler, which it recycles.
template <class Record>
class [[nodiscard]] asio_operation {
public:
    using result_type = typename Record::result_type;

    explicit asio_operation(Record record) noexcept : record_{std::move(record)} {}

    template <boost::asio::completion_token_for<void(result_type)> Token>
    auto operator()(Token&& token) && {
        const auto begin = [](auto handler, Record* record) { record->begin(std::move(handler)); };
        return boost::asio::async_initiate<Token, void(result_type)>(begin, token, &record_);
    }

private:
    Record record_;
};

/// The completion token: `co_await socket.async_read_some(buffer, as_io_result(activity::read))`.
struct as_io_result {
    explicit as_io_result(gyre::activity what = gyre::activity::unknown) noexcept : during{what} {}

    gyre::activity during;  ///< For messages.
};

/// The same failure in gyre's words, with what was being done.
[[nodiscard]] inline gyre::error from_asio_error(const boost::system::error_code& failure,
                                                 gyre::activity during) noexcept {
    return {gyre::from_asio_error(failure).code(), during};
}

// Implementation

/// What an initiating function of Asio's was given, until the operation begins.
template <class Result, class Initiation, class... Arguments>
struct asio_initiation {
    using result_type = Result;

    template <class Handler>
    void begin(Handler handler) {
        std::apply(
            [&](auto&... each) {
                std::move(initiation)(
                    asio_finish<Handler, asio_initiation>{std::move(handler), *this},
                    std::move(each)...);
            },
            arguments);
    }

    template <class... Values>
    [[nodiscard]] Result finish(const boost::system::error_code& failure,
                                Values&&... values) const {
        return Result{from_asio_error(failure, during), std::forward<Values>(values)...};
    }

    Initiation initiation;
    std::tuple<Arguments...> arguments;
    gyre::activity during;
};

}  // namespace exchange

/// How Asio learns what an initiating function returns for the token.
template <class Return, class... Values>
class boost::asio::async_result<exchange::as_io_result,
                                Return(boost::system::error_code, Values...)> {
public:
    template <class Initiation, class... Arguments>
    [[nodiscard]] static auto initiate(Initiation initiation, exchange::as_io_result token,
                                       Arguments... arguments) {
        using record =
            exchange::asio_initiation<gyre::io_result<Values...>, Initiation, Arguments...>;
        return exchange::asio_operation<record>{
            record{std::move(initiation), {std::move(arguments)...}, token.during}};
    }
};

/// Whatever Asio asks of the handler (executor, allocator, cancellation slot) the coroutine answers.
template <template <class, class> class Associator, class Handler, class Record, class Default>
struct boost::asio::associator<Associator, exchange::asio_finish<Handler, Record>, Default>
    : Associator<Handler, Default> {
    using type = typename Associator<Handler, Default>::type;

    [[nodiscard]] static type get(const exchange::asio_finish<Handler, Record>& finish) noexcept {
        return Associator<Handler, Default>::get(finish.handler());
    }
    [[nodiscard]] static auto get(const exchange::asio_finish<Handler, Record>& finish,
                                  const Default& otherwise) noexcept
        -> decltype(Associator<Handler, Default>::get(finish.handler(), otherwise)) {
        return Associator<Handler, Default>::get(finish.handler(), otherwise);
    }
};
