// SPDX-License-Identifier: BSL-1.0
//
// `main` of every in-process contender: driver.hpp has the protocol, the contender its `make_contender`.
#include <lab/kit/driver.hpp>
#include <lab/kit/fail.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <string_view>

int main(int argument_count, char** arguments) try {
    const bool chooses = argument_count == 3 && std::string_view{arguments[1]} == "--backend";
    lab::require(chooses || argument_count == 1,
                 "usage: [--backend NAME], then one line of JSON for each request");

    lab::drive(lab::make_contender(chooses ? arguments[2] : ""), std::cin, std::cout);
    return 0;
} catch (const std::exception& error) {
    lab::fail(std::string{"driver: "} + error.what());
}
