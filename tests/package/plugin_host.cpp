// SPDX-License-Identifier: BSL-1.0
//
// Opens plug-ins, each apart from the others as by Python and other hosts, and runs each on two threads.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <thread>

int main(int count, char** names) {
    for (int each = 1; each < count; ++each) {
        void* opened = dlopen(names[each], RTLD_NOW | RTLD_LOCAL);
        if (opened == nullptr) {
            std::printf("%s\n", dlerror());
            return 1;
        }
        const auto bytes_received =
            reinterpret_cast<std::size_t (*)()>(dlsym(opened, "bytes_received"));
        std::printf("%zu ", bytes_received());
        std::thread{[bytes_received] { std::printf("%zu ", bytes_received()); }}.join();
    }
}
