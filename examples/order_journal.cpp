// SPDX-License-Identifier: BSL-1.0
//
// A journal of orders that survives a crash: written in groups, read again at the start, and cut down to a
// snapshot.
//
//     order_journal DIRECTORY
//
// Making a write durable takes a device much the same time whatever its size, so each commit takes all
// that has gathered meanwhile. docs/guide/files.md explains it.
#include <gyre/gyre.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

// snippet: journal
// Lines that are durable when `append` returns.
class journal {
public:
    journal(gyre::file log, std::uint64_t end) : log_{std::move(log)}, end_{end} {}

    gyre::task<gyre::io_result<>> append(std::string line) {
        const std::uint64_t mine = ++appended_;
        pending_ += line + '\n';
        auto turn = co_await committing_.lock();  // Others gather behind the one that commits.
        if (!turn.ok()) co_return turn.error();

        if (failed_) co_return failed_;
        if (durable_ < mine) {
            const std::string group = std::exchange(pending_, {});
            const std::uint64_t last = appended_;
            failed_ = co_await write_group(group);
            if (failed_) co_return failed_;  // What is on the device is unknown: no one may append.
            durable_ = last;
        }
        co_return gyre::io_result<>{};
    }

    std::uint64_t groups() const { return groups_; }

private:
    gyre::task<gyre::error> write_group(const std::string& group) {
        ++groups_;
        auto rest = gyre::bytes_of(group);
        while (!rest.empty()) {
            const auto [error, size] = co_await log_.write_durably_at(end_, rest);
            if (error) co_return error;
            end_ += size;
            rest = rest.subspan(size);
        }
        co_return gyre::error{};
    }

    gyre::file log_;
    std::uint64_t end_;
    std::string pending_;
    gyre::mutex committing_;
    gyre::error failed_;
    std::uint64_t appended_ = 0;
    std::uint64_t durable_ = 0;
    std::uint64_t groups_ = 0;
};
// end of snippet

// snippet: recover
// The orders that a journal holds, and where the last whole one ends: a crash may have cut off one behind it.
gyre::task<gyre::io_result<std::vector<std::string>, std::uint64_t>> recover(gyre::file& log) {
    auto bytes = log.at(0);
    gyre::buffered_reader reader{bytes, {4096, 65536}};
    gyre::framed_reader lines{reader, gyre::lines_codec{1024}};
    std::vector<std::string> orders;
    std::uint64_t end = 0;
    for (;;) {
        const auto [error, line] = co_await lines.next();
        if (error == gyre::errc::eof) break;
        if (error) co_return error;
        orders.emplace_back(line);
        end += line.size() + 1;
    }
    co_return gyre::io_result<std::vector<std::string>, std::uint64_t>{
        gyre::error{}, std::move(orders), std::move(end)};
}
// end of snippet

constexpr int customers = 100;

gyre::task<gyre::io_result<>> append_all(gyre::file log, std::uint64_t end) {
    journal orders{std::move(log), end};
    gyre::error failed;
    const auto body = [&](gyre::task_group& group) -> gyre::task<> {
        for (int each = 1; each <= customers; ++each) {
            group.spawn(orders.append("buy " + std::to_string(each)));
        }
        co_await group.join();
        failed = group.first_error();
    };
    co_await gyre::with_group(body);
    if (failed) co_return failed;
    std::printf("%d orders, fewer groups: %s\n", customers,
                orders.groups() < customers ? "yes" : "no");
    co_return gyre::io_result<>{};
}

// snippet: snapshot
// What is worth keeping of so many orders, in a file that is whole at all times; the journal begins anew.
gyre::task<gyre::io_result<>> snapshot(std::string folder, std::size_t orders) {
    const std::string text = "orders: " + std::to_string(orders) + '\n';
    const auto replaced = co_await gyre::replace_file(folder + "/snapshot", gyre::bytes_of(text));
    if (!replaced.ok()) co_return replaced;
    co_return co_await gyre::remove_file(folder + "/journal");
}
// end of snippet

// snippet: list
gyre::task<gyre::io_result<>> list(std::string folder) {
    auto opened = co_await gyre::directory::open(folder);
    if (!opened.ok()) co_return opened.error();
    gyre::directory all = opened.take();
    std::vector<std::string> names;  // They come in no order.
    for (;;) {
        const auto [error, entry] = co_await all.next();
        if (error == gyre::errc::eof) break;
        if (error) co_return error;
        names.emplace_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
        const auto status = co_await gyre::status_of(folder + '/' + name);
        if (!status.ok()) co_return status.error();
        std::printf("%s: %d bytes\n", name.c_str(), static_cast<int>(status.value().size));
    }
    co_return gyre::io_result<>{};
}
// end of snippet

gyre::task<gyre::io_result<>> day(std::string folder) {
    std::size_t kept = 0;
    for (int start = 1; start <= 2; ++start) {
        auto opened =
            co_await gyre::file::open(folder + "/journal", gyre::file_options::updating());
        if (!opened.ok()) co_return opened.error();
        gyre::file log = opened.take();
        auto [unread, orders, end] = co_await recover(log);
        if (unread) co_return unread;
        std::printf("start %d: %d orders in the journal\n", start, static_cast<int>(orders.size()));
        kept = orders.size() + customers;
        const auto cut = co_await log.resize(end);
        if (!cut.ok()) co_return cut;
        const auto appended = co_await append_all(std::move(log), end);
        if (!appended.ok()) co_return appended;
    }
    const auto before = co_await list(folder);
    if (!before.ok()) co_return before;
    const auto saved = co_await snapshot(folder, kept);
    if (!saved.ok()) co_return saved;
    co_return co_await list(folder);
}

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "usage: order_journal DIRECTORY\n");
        return 2;
    }
    return gyre::run_until_signal(day(arguments[1]));
}
