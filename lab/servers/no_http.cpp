// SPDX-License-Identifier: BSL-1.0
//
// For servers that take no part in `baseline`, and for those of `cost`, in which there is to be nothing but
// echo.
#include <lab/servers/seam.hpp>

#include <cstdio>

int servers::serve_http(const job&) {
    std::fputs("no such workload: http\n", stderr);
    return 2;
}
