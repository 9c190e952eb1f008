// SPDX-License-Identifier: BSL-1.0
//
// From the events of what is on the way of a path to changes of the path: see
// include/gyre/io/path_watch.hpp.
//
// Each component is watched by itself and then looked into, from the root down. So a change that comes after
// a look is an event of something that is watched by then, and no look needs to be repeated to be sure.
#include <gyre/io/path_watch.hpp>

#include <gyre/base/exclusive_use.hpp>
#include <gyre/coro/this_task.hpp>
#include <gyre/io/file_system.hpp>
#include <gyre/io/file_watch.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/sync/timeout.hpp>

#include <sys/inotify.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace gyre {
namespace {

// Two paths may share a directory, and what was passed may be where another one ends: wishes add up. A link
// is watched, and not what it leads to.
constexpr std::uint32_t passed = IN_ATTRIB | IN_CREATE | IN_DELETE | IN_DELETE_SELF |
                                 IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_DONT_FOLLOW |
                                 IN_MASK_ADD;
constexpr std::uint32_t content = IN_MODIFY | IN_CLOSE_WRITE;

// Something on the way of a path, or at its end.
struct step {
    int watch;
    std::string name;  // The next of the path in this directory; empty: the watched itself.
    bool is_end = false;
};

bool is_missing(error why) noexcept {
    return why == errc::no_such_file || why == errc::not_a_directory ||
           why == errc::symbolic_link_loop;
}

// What ends a look. Something that is missing is waited for, and what may not be read is passed if what is in
// it may be.
bool is_failure(error why) noexcept {
    return why && !is_missing(why) && why != errc::permission_denied;
}

error failure_in(error why) noexcept { return is_failure(why) ? why : error{}; }

// A path that is being walked: how far it is, and what of it is left, the next name last.
class walk {
public:
    explicit walk(std::string_view path) { turn(path); }

    /// Goes on by `path` from here, or from the root.
    void turn(std::string_view path) {
        if (path.starts_with('/') || place_.empty()) place_ = path.starts_with('/') ? "/" : ".";
        const std::size_t left = rest_.size();
        for (std::size_t from = 0; from < path.size();) {
            const std::size_t end = std::min(path.find('/', from), path.size());
            const std::string_view name = path.substr(from, end - from);
            if (!name.empty() && name != ".") rest_.emplace_back(name);
            from = end + 1;
        }
        std::reverse(rest_.begin() + static_cast<std::ptrdiff_t>(left), rest_.end());
    }

    [[nodiscard]] const std::string& place() const noexcept { return place_; }
    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
    [[nodiscard]] std::string next() {
        std::string name = std::move(rest_.back());
        rest_.pop_back();
        return name;
    }
    [[nodiscard]] std::string below(const std::string& name) const {
        return place_ == "/" ? place_ + name : place_ + '/' + name;
    }
    void enter(std::string place) noexcept { place_ = std::move(place); }

private:
    std::string place_;  // Without a link, so that ".." is what the kernel takes it for.
    std::vector<std::string> rest_;
};

}  // namespace

struct path_watch::followed {
    /// Looks all paths up again, and drops what is on none any more.
    [[nodiscard]] task<io_result<>> look();

    /// Whether it is a change, and whether of what the path leads through.
    void note(const file_change& change);

    [[nodiscard]] static task<io_result<>> look_of(followed& it, std::string path,
                                                   std::vector<step>& to);
    io_result<int> watch_itself(const std::string& place, bool is_end, std::vector<step>& to);
    void drop_others();
    void touch() noexcept;

    file_watch watch;
    std::vector<std::string> paths;
    path_watch_options when;
    loop* on = nullptr;

    std::vector<step> steps;  // Of the last look that came to its end.
    std::vector<int>
        watches;        // All that the kernel has; more than in `steps` while there is a look.
    bool moved = true;  // A path may lead elsewhere: it is looked up before the next report.
    bool awaited = false;
    time_point due = never;    // When the changes so far are reported; `never` without any.
    time_point limit = never;  // The latest that `due` may be.
};

void path_watch::followed::touch() noexcept {
    const time_point now = on->read_clock();
    if (due == never) limit = deadline_after(now, when.at_most);
    due = std::min(deadline_after(now, when.quiet), limit);
}

void path_watch::followed::note(const file_change& change) {
    bool is_change = change.is(file_event::overflow);
    if (is_change) moved = true;
    for (const step& each : steps) {
        if (each.watch != change.watch) continue;
        const bool is_content = change.is(static_cast<file_event>(content));
        const bool is_way = change.name.empty() ? !is_content : each.name == change.name;
        if (is_way) moved = true;
        is_change = is_change || is_way || each.is_end;
    }
    if (is_change) touch();
}

void path_watch::followed::drop_others() {
    const auto is_of_no_step = [this](int number) {
        const auto is_it = [number](const step& each) { return each.watch == number; };
        if (std::any_of(steps.begin(), steps.end(), is_it)) return false;
        static_cast<void>(watch.remove(number));  // It may be gone by itself.
        return true;
    };
    watches.erase(std::remove_if(watches.begin(), watches.end(), is_of_no_step), watches.end());
}

io_result<int> path_watch::followed::watch_itself(const std::string& place, bool is_end,
                                                  std::vector<step>& to) {
    const std::uint32_t wishes = is_end ? passed | content : passed;
    const io_result<int> added = watch.add(place, static_cast<file_event>(wishes));
    if (!added.ok()) return added;
    if (std::find(watches.begin(), watches.end(), added.value()) == watches.end())
        watches.push_back(added.value());
    to.push_back({added.value(), {}, is_end});
    return added;
}

task<io_result<>> path_watch::followed::look_of(followed& it, std::string path,
                                                std::vector<step>& to) {
    constexpr int names_max = 256;
    constexpr int links_max = 40;  // As the kernel has it: with more there is nothing at the end.
    int names = 0;
    int links = 0;
    walk way{path};
    if (path.empty()) co_return error{errc::invalid_argument, activity::watch};
    io_result<int> here = it.watch_itself(way.place(), way.at_end(), to);
    while (!way.at_end() && !is_missing(here.error())) {
        if (is_failure(here.error())) co_return here.error();
        if (++names > names_max) co_return error{errc::limit_exceeded, activity::watch};
        const std::string name = way.next();
        std::string place = way.below(name);
        if (here.ok()) to.push_back({here.value(), name});
        const io_result<int> there = it.watch_itself(place, way.at_end(), to);
        if (is_failure(there.error())) co_return there.error();
        // Neither would tell that something else is called so.
        const bool unseen = !here.ok() && !there.ok();
        if (unseen) co_return error{errc::permission_denied, activity::watch};
        if (is_missing(there.error())) co_return io_result<>{};

        const io_result<std::string> link = co_await read_link(place);
        if (link.ok()) {
            if (++links > links_max) co_return io_result<>{};
            way.turn(link.value());
            here = it.watch_itself(way.place(), way.at_end(), to);
        } else if (link.error() == errc::invalid_argument) {
            way.enter(std::move(place));
            here = there;
        } else {
            // What went meanwhile is an event, as is a permission that comes.
            co_return failure_in(link.error());
        }
    }
    co_return failure_in(here.error());
}

task<io_result<>> path_watch::followed::look() {
    std::vector<step> found;
    drop_others();  // Those of a look that was stopped.
    for (const std::string& path : paths) {
        const io_result<> looked = co_await look_of(*this, path, found);
        if (!looked.ok()) co_return looked;
    }
    steps = std::move(found);
    moved = false;
    drop_others();
    co_return io_result<>{};
}

path_watch::path_watch() noexcept = default;
path_watch::path_watch(std::shared_ptr<followed> open) noexcept : followed_{std::move(open)} {}
path_watch::path_watch(path_watch&&) noexcept = default;
path_watch& path_watch::operator=(path_watch other) noexcept {
    std::swap(followed_, other.followed_);
    return *this;
}
path_watch::~path_watch() {
    if (is_open()) static_cast<void>(close());
}

task<io_result<path_watch>> path_watch::open(std::vector<std::string> paths,
                                             path_watch_options when) {
    const auto it = std::make_shared<followed>();
    it->paths = std::move(paths);
    it->when = when;
    loop& here = co_await this_task::loop();
    it->on = &here;
    io_result<file_watch> opened = file_watch::open(context_of(here));
    if (!opened.ok()) co_return opened.error();
    it->watch = opened.take();
    const io_result<> looked = co_await it->look();
    if (!looked.ok()) co_return looked.error();
    co_return path_watch{it};
}

task<io_result<>> path_watch::changed_of(std::shared_ptr<followed> of) {
    if (!of || !of->watch.is_open()) co_return error{errc::closed, activity::watch};
    followed& it = *of;
    exclusive_use use{it.awaited};
    use.begin("the next change of a path is awaited by one coroutine at a time");
    while (it.due > it.on->read_clock()) {
        const io_result<file_change> next = co_await with_deadline(it.due, it.watch.next());
        if (next.ok()) {
            it.note(next.value());
        } else if (next.error() != errc::timed_out) {
            co_return next.error();
        }
    }
    if (it.moved) {
        const io_result<> looked = co_await it.look();
        if (!it.watch.is_open()) co_return error{errc::canceled, activity::watch};
        if (!looked.ok()) co_return looked;
    }
    it.due = never;
    co_return io_result<>{};
}

io_result<> path_watch::close() noexcept {
    if (!is_open()) return error{errc::closed, activity::close};
    return followed_->watch.close();
}

bool path_watch::is_open() const noexcept { return followed_ && followed_->watch.is_open(); }

}  // namespace gyre
