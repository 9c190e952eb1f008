// SPDX-License-Identifier: BSL-1.0
#include <gyre/http/request.hpp>

#include <gyre/base/check.hpp>
#include <gyre/http/percent.hpp>
#include <gyre/sync/sleep.hpp>

namespace gyre::http {

request::request(http::method what, std::string_view target) : method_{what}, target_{target} {
    expects(what != method::other, "a method that is not listed is set by its name");
}

std::string_view request::method_text() const noexcept {
    return method_ == method::other ? std::string_view{other_method_} : name_of(method_);
}

std::string_view request::path() const noexcept {
    return std::string_view{target_}.substr(0, target_.find('?'));
}

std::string_view request::query() const noexcept {
    const std::size_t mark = target_.find('?');
    return mark == std::string::npos ? std::string_view{}
                                     : std::string_view{target_}.substr(mark + 1);
}

io_result<std::string> request::decoded_path() const { return percent_decoded(path()); }

std::optional<std::string> request::query_value(std::string_view name) const {
    encoded_pairs pairs{query()};
    while (const auto pair = pairs.next()) {
        io_result<std::string> decoded = percent_decoded(pair->name, plus_sign::is_space);
        if (!decoded.ok() || decoded.value() != name) continue;
        io_result<std::string> value = percent_decoded(pair->value, plus_sign::is_space);
        if (!value.ok()) return std::nullopt;
        return value.take();
    }
    return std::nullopt;
}

std::optional<std::string> request::parameter(std::string_view name) const {
    for (const path_parameter& each : parameters()) {
        if (each.name != name) continue;
        io_result<std::string> decoded = percent_decoded(each.text);
        if (!decoded.ok()) return std::nullopt;
        return decoded.take();
    }
    return std::nullopt;
}

task<io_result<>> request::until_peer_left() const {
    io_result<> waited;
    if (left_ != nullptr) waited = co_await left_->wait();
    else waited = co_await sleep_for(duration::max());
    co_return waited;
}

void request::clear() noexcept {
    fields.clear();
    body = {};
    method_ = http::method::get;
    version_ = http::version::http_1_1;
    other_method_.clear();
    target_.clear();
    scheme_.clear();
    authority_.clear();
    peer_.clear();
    client_.clear();
    chain_ = nullptr;
    left_ = nullptr;
    parameter_count_ = 0;
}

void request::set_method(std::string_view name) {
    method_ = method_of(name);
    if (method_ == http::method::other) other_method_.assign(name);
    else other_method_.clear();
}

// Not inline: g++ 12 warns of copies of literals into fields that it sees through.
void request::set_target(std::string_view target) { target_.assign(target); }
void request::set_scheme(std::string_view scheme) { scheme_.assign(scheme); }
void request::set_authority(std::string_view authority) { authority_.assign(authority); }
void request::set_peer(std::string_view peer) { peer_.assign(peer); }
void request::set_client(std::string_view client) { client_.assign(client); }

bool request::add_parameter(path_parameter it) noexcept {
    if (parameter_count_ == parameters_.size()) return false;
    parameters_[parameter_count_++] = it;
    return true;
}

}  // namespace gyre::http
