// SPDX-License-Identifier: BSL-1.0
//
// Asks the C library for the addresses of a name: `ask_libc NAME [4|6]`.
//
// name_settings.py builds it once with glibc and once with musl, and compares both with ask_gyre.
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int count, char** arguments) {
    if (count < 2) return 2;
    struct addrinfo hints = {0};
    hints.ai_socktype = SOCK_STREAM;
    if (count > 2) hints.ai_family = strcmp(arguments[2], "4") == 0 ? AF_INET : AF_INET6;
    struct addrinfo* found = NULL;
    const int failed = getaddrinfo(arguments[1], NULL, &hints, &found);
    if (failed != 0) {
        printf("error %d\n", failed);
        return 0;
    }
    for (const struct addrinfo* each = found; each != NULL; each = each->ai_next) {
        char text[NI_MAXHOST];
        getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
        printf("%s\n", text);
    }
    freeaddrinfo(found);
    return 0;
}
