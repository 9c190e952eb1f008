// SPDX-License-Identifier: BSL-1.0
//
// What `--check` finds beside what a reading of one file tells: whether the machine, and the programs of an
// exchange among each other, are as their configurations expect.
//
// It looks, and opens no socket. Each program's own `--check` knows more of that program, such as the memory
// that it needs.
#pragma once

#include <exchange/management/config.hpp>
#include <exchange/management/distributor_config.hpp>
#include <exchange/management/gateway_config.hpp>
#include <exchange/management/supervisor_config.hpp>

#include <string>
#include <vector>

namespace exchange {

/// Network interfaces that a configuration names and this machine has not.
[[nodiscard]] std::vector<config_error> check_interfaces(const config& it);
[[nodiscard]] std::vector<config_error> check_interfaces(const gateway_config& it);
[[nodiscard]] std::vector<config_error> check_interfaces(const distributor_config& it);

/// The children of a supervisor: programs that cannot be executed, files that they would refuse, listeners
/// that none of them would take; gateways and distributors that ask a facility among the children at a place
/// where it does not listen, or as somebody whom it does not know. A facility elsewhere is not asked.
///
/// @param  of        Read without errors.
/// @param  programs  The folder in which programs without a slash are.
/// @return Each with the name of its file before its key.
///
/// Cost:     that of reading all their files, and of checking a password for each gateway and distributor.
[[nodiscard]] std::vector<config_error> check_children(const supervisor_config& of,
                                                       const std::string& programs);

}  // namespace exchange
