// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/cors.hpp>

#include <gyre/base/check.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

std::string joined(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& each : parts) {
        if (!all.empty()) all.append(", ");
        all.append(each);
    }
    return all;
}

struct prepared_policy {
    explicit prepared_policy(cors_policy it)
        : policy{std::move(it)},
          any_origin{std::find(policy.origins.begin(), policy.origins.end(), "*") !=
                     policy.origins.end()},
          methods{joined(policy.methods)},
          request_fields{joined(policy.request_fields)},
          response_fields{joined(policy.response_fields)} {}

    [[nodiscard]] bool admits(std::string_view origin) const noexcept {
        return any_origin || std::find(policy.origins.begin(), policy.origins.end(), origin) !=
                                 policy.origins.end();
    }

    // The marks that every answer to the origin has. It depends on the origin, so caches are told.
    void mark(fields& of, std::string_view origin) const {
        of.set("access-control-allow-origin", any_origin ? std::string_view{"*"} : origin);
        if (!any_origin) of.add("vary", "origin");
        if (policy.with_credentials) of.set("access-control-allow-credentials", "true");
    }

    cors_policy policy;
    bool any_origin;
    std::string methods;
    std::string request_fields;
    std::string response_fields;
};

task<response> answer_preflight(std::shared_ptr<const prepared_policy> by, request& what) {
    response answer{status::no_content};
    const std::string origin{what.fields.value_or("origin")};
    by->mark(answer.fields, origin);
    answer.fields.set("access-control-allow-methods", by->methods);
    if (!by->request_fields.empty()) {
        answer.fields.set("access-control-allow-headers", by->request_fields);
    }
    const auto seconds = std::max<std::chrono::seconds::rep>(0, by->policy.remembered_for.count());
    answer.fields.set("access-control-max-age", static_cast<std::uint64_t>(seconds));
    co_return answer;
}

task<response> with_marks(std::shared_ptr<const prepared_policy> by, request& what,
                          const handler& next) {
    response answer = co_await next(what);
    const auto origin = what.fields.find("origin");
    if (!origin || !by->admits(*origin)) {
        if (!by->any_origin) answer.fields.add("vary", "origin");
        co_return answer;
    }
    by->mark(answer.fields, *origin);
    if (!by->response_fields.empty()) {
        answer.fields.set("access-control-expose-headers", by->response_fields);
    }
    co_return answer;
}

// As browsers write them (RFC 6454, 6.2): what is written otherwise would match nothing.
bool is_origin(std::string_view text) noexcept {
    if (text == "*" || text == "null") return true;
    const std::size_t colon = text.find("://");
    if (colon == std::string_view::npos || colon == 0) return false;
    const std::string_view host = text.substr(colon + 3);
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    return !host.empty() && host.find_first_of("/?# ") == std::string_view::npos &&
           std::none_of(text.begin(), text.end(), is_upper);
}

}  // namespace

middleware allow_origins(cors_policy policy) {
    for (const std::string& each : policy.origins) {
        expects(is_origin(each), "an origin is *, or a scheme and a host: https://app.example");
    }
    const auto by = std::make_shared<const prepared_policy>(std::move(policy));
    expects(!by->any_origin || !by->policy.with_credentials,
            "credentials go to origins that are named");
    return as_middleware([by](request& what, const handler& next) {
        const auto origin = what.fields.find("origin");
        const bool preflight = what.method() == method::options && origin &&
                               what.fields.contains("access-control-request-method");
        return preflight && by->admits(*origin) ? answer_preflight(by, what)
                                                : with_marks(by, what, next);
    });
}

}  // namespace gyre::http
