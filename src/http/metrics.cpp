// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/metrics.hpp>

#include <gyre/coro/this_task.hpp>

#include <http/on_throw.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

// Ends also where the handler throws, or is destroyed while it waits.
class in_flight {
public:
    explicit in_flight(metrics& of) noexcept : of_{of} { of_.begin(); }
    in_flight(const in_flight&) = delete;
    in_flight& operator=(const in_flight&) = delete;
    ~in_flight() { of_.end(); }

private:
    metrics& of_;
};

task<response> counted(metrics& into, request& what, const handler& next) {
    const in_flight present{into};
    loop& home = co_await this_task::loop();
    const time_point begun = home.read_clock();
    const on_throw thrown{[&] {
        into.count(what.method(), status::internal_server_error, home.read_clock() - begun);
    }};
    response answer = co_await next(what);
    into.count(what.method(), answer.status, home.read_clock() - begun);
    co_return answer;
}

task<response> page(const metrics& of) {
    response answer{status::ok, "text/plain; version=0.0.4; charset=utf-8", of.text()};
    co_return answer;
}

std::string seconds_text(double seconds) {
    // Not by printf, which writes a comma where the program's locale has one.
    std::array<char, 32> text;
    const auto* const end = std::to_chars(text.data(), text.data() + text.size(), seconds,
                                          std::chars_format::general, 9)
                                .ptr;
    return std::string{std::string_view{text.data(), end}};
}

}  // namespace

void metrics::count(method by, status answer, duration took) noexcept {
    const std::size_t kind = std::clamp<std::size_t>(number_of(answer) / 100, 1, classes) - 1;
    answers_[static_cast<std::size_t>(by)][kind].fetch_add(1, std::memory_order_relaxed);
    const auto* const bucket = std::lower_bound(buckets.begin(), buckets.end(), took);
    took_[static_cast<std::size_t>(bucket - buckets.begin())].fetch_add(1,
                                                                        std::memory_order_relaxed);
    const auto spent = static_cast<std::uint64_t>(std::max<duration::rep>(0, took.count()));
    took_sum_ns_.fetch_add(spent, std::memory_order_relaxed);
}

std::uint64_t metrics::answered() const noexcept {
    std::uint64_t all = 0;
    for (const auto& bucket : took_) all += bucket.load(std::memory_order_relaxed);
    return all;
}

std::string metrics::text() const {
    std::string out =
        "# HELP http_requests_total Requests that were answered.\n"
        "# TYPE http_requests_total counter\n";
    for (std::size_t by = 0; by < methods; ++by) {
        const std::string_view name = name_of(static_cast<method>(by));
        for (std::size_t kind = 0; kind < classes; ++kind) {
            const std::uint64_t number = answers_[by][kind].load(std::memory_order_relaxed);
            if (number == 0) continue;
            out.append("http_requests_total{method=\"").append(name.empty() ? "other" : name);
            out.append("\",status=\"").append(std::to_string(kind + 1)).append("xx\"} ");
            out.append(std::to_string(number)).append("\n");
        }
    }
    out.append(
        "# HELP http_requests_in_flight Requests that are being answered.\n"
        "# TYPE http_requests_in_flight gauge\n"
        "http_requests_in_flight ");
    out.append(std::to_string(in_flight_.load(std::memory_order_relaxed)));
    out.append(
        "\n# HELP http_request_duration_seconds Time until a request had its answer.\n"
        "# TYPE http_request_duration_seconds histogram\n");
    std::uint64_t so_far = 0;
    for (std::size_t at = 0; at < took_.size(); ++at) {
        so_far += took_[at].load(std::memory_order_relaxed);
        const std::string limit =
            at < buckets.size() ? seconds_text(std::chrono::duration<double>{buckets[at]}.count())
                                : std::string{"+Inf"};
        out.append("http_request_duration_seconds_bucket{le=\"").append(limit).append("\"} ");
        out.append(std::to_string(so_far)).append("\n");
    }
    const auto sum = static_cast<double>(took_sum_ns_.load(std::memory_order_relaxed)) * 1e-9;
    out.append("http_request_duration_seconds_sum ").append(seconds_text(sum));
    out.append("\nhttp_request_duration_seconds_count ")
        .append(std::to_string(so_far))
        .append("\n");
    return out;
}

middleware count_requests(metrics& into) {
    return as_middleware(
        [&into](request& what, const handler& next) { return counted(into, what, next); });
}

handler metrics_page(const metrics& of) {
    return [&of](request&) { return page(of); };
}

}  // namespace gyre::http
