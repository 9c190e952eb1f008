// SPDX-License-Identifier: BSL-1.0
//
// `make_contender` for one style of Asio; contender.cpp of the style says which.
#pragma once

#include <lab/in_process/asio/library.hpp>

#include <lab/kit/fail.hpp>

#include <boost/version.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace asio_lab {

class asio_contender final : public lab::contender {
public:
    asio_contender(std::string_view style, layout on_threads)
        : name_{style}, on_threads_{on_threads} {
        if (backend == "io_uring") name_ += "_uring";
        if (on_threads == layout::per_thread) name_ += "_per_thread";
    }

    [[nodiscard]] lab::identity about() const override {
        const std::string version = std::to_string(BOOST_VERSION / 100'000) + "." +
                                    std::to_string(BOOST_VERSION / 100 % 1'000);
        return {name_, "Boost.Asio", version, std::string{backend}};
    }

    [[nodiscard]] lab::preparation prepare(const lab::work& what) const override {
        return std::visit([this](const auto& work) { return asio_lab::prepare(on_threads_, work); },
                          what);
    }

private:
    static constexpr std::string_view backend = LAB_ASIO_BACKEND;

    std::string name_;
    layout on_threads_;
};

[[nodiscard]] inline std::unique_ptr<lab::contender> make(std::string_view style,
                                                          std::string_view backend) {
    lab::require(backend.empty() || backend == "per_thread",
                 "Asio's contenders run on no --backend or on per_thread");
    return std::make_unique<asio_contender>(style,
                                            backend.empty() ? layout::shared : layout::per_thread);
}

}  // namespace asio_lab
