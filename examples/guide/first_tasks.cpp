// SPDX-License-Identifier: BSL-1.0
//
// A first program: tasks that await tasks, one after the other and two at the same time.
//
// docs/guide/01_first_hour.md explains it. A wait stands for the network between the program and a sensor.
// snippet: program
#include <gyre/gyre.hpp>

#include <cstdio>

using namespace std::chrono_literals;

// What a sensor measures, in degrees. Its answer takes a while, and one below -273 is nonsense.
gyre::task<gyre::io_result<int>> read_sensor(gyre::duration delay, int degrees) {
    const auto waited = co_await gyre::sleep_for(delay);
    if (!waited.ok()) co_return waited.error();
    if (degrees < -273) co_return gyre::errc::malformed;
    co_return degrees;
}

void print(const char* room, const gyre::io_result<int>& measured) {
    const auto [error, degrees] = measured;
    if (error) {
        std::printf("%s: %s\n", room, error.message().c_str());
    } else {
        std::printf("%s: %d degrees\n", room, degrees);
    }
}

gyre::task<> report() {
    const auto kitchen = co_await read_sensor(10ms, 21);
    print("kitchen", kitchen);

    // Two at the same time: this takes 20 ms, not 30.
    const auto [cellar, bath] =
        co_await gyre::when_all(read_sensor(20ms, 12), read_sensor(10ms, 24));
    print("cellar", cellar);
    print("bath", bath);

    // One that fails, and one that does not answer in time.
    const auto attic = co_await read_sensor(10ms, -500);
    print("attic", attic);
    const auto garden = co_await gyre::with_timeout(50ms, read_sensor(1h, 8));
    print("garden", garden);
}

int main() { return gyre::run_until_signal(report()); }
// end of snippet
