// SPDX-License-Identifier: BSL-1.0
//
// A result has to hold something when there was a failure.
//
// must not compile: without a default constructor
#include <gyre/base/result.hpp>

struct order {
    explicit order(int wanted) : number{wanted} {}
    int number;
};

gyre::io_result<order> take_order() { return gyre::errc::closed; }
