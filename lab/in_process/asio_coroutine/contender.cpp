// SPDX-License-Identifier: BSL-1.0
//
// Asio's coroutines. Suites with sockets are those of ../coroutines.hpp; the others have a file here. A
// coroutine is one chain of handlers, so connections need no strand even where any thread may run any
// handler.
#include <lab/in_process/asio/contender.hpp>
#include <lab/in_process/asio_coroutine/library.hpp>
#include <lab/in_process/coroutines.hpp>

namespace {

using library = asio_lab::coroutine_library;

}  // namespace

lab::preparation asio_lab::prepare(layout how, const lab::throughput_case& work) {
    return lab::prepare_coroutines<::library>(how, work);
}

lab::preparation asio_lab::prepare(layout how, const lab::threads_throughput_case& work) {
    if (how == layout::shared) return pairs_need_a_strand();
    return lab::prepare_coroutines<::library>(how, work);
}

lab::preparation asio_lab::prepare(layout how, const lab::latency_case& work) {
    return lab::prepare_coroutines<::library>(how, work);
}

lab::preparation asio_lab::prepare(layout how, const lab::http_case& work) {
    return lab::prepare_coroutines<::library>(how, work);
}

lab::preparation asio_lab::prepare(layout how, const lab::threads_http_case& work) {
    return lab::prepare_coroutines<::library>(how, work);
}

lab::preparation asio_lab::prepare(layout how, const lab::churn_case& work) {
    return lab::prepare_coroutines<::library>(how, work);
}

std::unique_ptr<lab::contender> lab::make_contender(std::string_view backend) {
    return asio_lab::make("asio_coroutine", backend);
}
