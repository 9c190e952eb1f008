// SPDX-License-Identifier: BSL-1.0
//
// Stands in for libuv's server where there was no libuv to build it with.
#include <cstdio>

int main() {
    std::fputs("libuv was not there when this was built (Debian package libuv1-dev)\n", stderr);
    return 3;
}
