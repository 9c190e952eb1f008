// SPDX-License-Identifier: BSL-1.0
//
// What a build without gyre::web answers when asked for an admin port; admin_server.cpp is the other one.
#include <exchange/management/admin_server.hpp>

namespace exchange {

class admin_server::service {
public:
    gyre::endpoint nowhere;
};

admin_server::admin_server(admin_source&, const admin_options&)
    : service_{std::make_unique<service>()} {}
admin_server::~admin_server() = default;

gyre::io_result<> admin_server::start() {
    return gyre::error{gyre::errc::not_supported, gyre::activity::listen};
}
const gyre::endpoint& admin_server::at() const noexcept { return service_->nowhere; }

}  // namespace exchange
