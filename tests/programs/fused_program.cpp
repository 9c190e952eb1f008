// SPDX-License-Identifier: BSL-1.0
//
// A program under a fuse, from outside: linked beside an example's own main, which stays as it is.
//
// GYRE_TEST_FUSE says what is to happen: "fail N E" lets operation N fail with the E-th of its errors,
// "end N" sends the program a SIGTERM as operation N begins. What came of it is the last line of standard
// error, for fused_run.cpp. Programs that this one starts are not under it.
#include <gyre/test/fuse.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace {

using namespace std::chrono_literals;

constexpr const char* variable = "GYRE_TEST_FUSE";

long descriptors_open() {
    std::error_code failed;
    const std::filesystem::directory_iterator all{"/proc/self/fd", failed};
    return std::distance(begin(all), end(all));
}

void end_program() {
    std::fputs("told to end\n", stderr);
    ::kill(::getpid(), SIGTERM);  // The process, not the thread: loops of a pool block it.
}

class fused_program {
public:
    fused_program() {
        const char* const text = std::getenv(variable);
        if (text == nullptr) return;
        char* rest = nullptr;
        const bool ends = std::string_view{text}.starts_with("end ");
        const std::size_t nth = std::strtoul(text + (ends ? 4 : 5), &rest, 10);
        if (ends) {
            fuse_.emplace(nth, end_program);
        } else {
            fuse_.emplace(nth, std::strtoul(rest, nullptr, 10));
        }
        ::unsetenv(variable);
        // The script may send one while the program ends by itself, and hears no signals any more.
        for (const int each : {SIGHUP, SIGINT, SIGTERM}) std::signal(each, [](int) {});
        open_before_ = descriptors_open();
        loops_.emplace(*fuse_, 20s);
    }
    fused_program(const fused_program&) = delete;
    fused_program& operator=(const fused_program&) = delete;
    ~fused_program() {
        if (!fuse_) return;
        loops_.reset();
        std::fflush(stdout);
        std::fprintf(stderr, "fuse: counted %zu, blown %d, more %d, left open %ld, fault %s\n",
                     fuse_->counted(), static_cast<int>(fuse_->blown()),
                     static_cast<int>(fuse_->has_more_errors()), descriptors_open() - open_before_,
                     fuse_->fault().message().c_str());
    }

private:
    std::optional<gyre::test::fuse> fuse_;
    std::optional<gyre::test::fused_loops> loops_;
    long open_before_ = 0;
};

const fused_program this_program;

}  // namespace
