// SPDX-License-Identifier: BSL-1.0
//
// The walk of beneath_walk.hpp. The kernel is never asked for more than one name at a time, and never to
// follow a link, so no step leaves the directory that the one before has opened.
#include <runtime/beneath_walk.hpp>

#include <runtime/system_host.hpp>

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

namespace gyre {
namespace {

constexpr int links_max = 40;     // As many as the kernel follows.
constexpr int steps_max = 4'096;  // Each ".." walks anew: a hostile name must not take long.

class beneath_walk {
public:
    beneath_walk(int root, const char* path, const open_how& how)
        : root_{root}, how_{how}, here_{root}, rest_{path} {}
    beneath_walk(const beneath_walk&) = delete;
    beneath_walk& operator=(const beneath_walk&) = delete;
    ~beneath_walk() { stand_in(root_); }

    [[nodiscard]] int open() {
        if (rest_.empty()) return -ENOENT;
        if (rest_.size() >= PATH_MAX) return -ENAMETOOLONG;
        for (;;) {
            if (const std::optional<int> ended = go_on()) return *ended;
        }
    }

private:
    // One name. The end of the walk, if this is it: the descriptor, or -errno.
    std::optional<int> go_on() {
        if (rest_.starts_with('/')) return -EXDEV;  // The name was absolute, or a link is.
        std::string name = take_name();
        if (name == "..") {
            if (const int failed = go_up(); failed < 0) return failed;
            name = ".";
        }
        const bool creates = (how_.flags & O_CREAT) != 0;
        if (slashed_ && creates && name != ".") return -EISDIR;
        if (!rest_.empty()) return go_down(name);
        const int result = step(here_, name, static_cast<int>(how_.flags));
        if (result != -ELOOP && result != -ENOTDIR) return result;
        return follow(name, result);
    }

    // The first name of what is left, less the slashes behind it: at the end they stand for ".".
    std::string take_name() {
        std::string name = rest_.substr(0, rest_.find('/'));
        const std::size_t next = rest_.find_first_not_of('/', name.size());
        slashed_ = rest_.size() > name.size() && next == std::string::npos;
        if (next != std::string::npos) {
            rest_.erase(0, next);
        } else {
            rest_ = slashed_ ? "." : "";
        }
        return name;
    }

    int step(int from, const std::string& name, int flags) noexcept {
        if (++steps_ > steps_max) return -ELOOP;
        return outcome(::openat(from, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC,
                                static_cast<mode_t>(how_.mode)));
    }

    int enter(int from, const std::string& name) noexcept {
        return step(from, name, O_PATH | O_DIRECTORY);
    }

    std::optional<int> go_down(const std::string& name) {
        const int next = enter(here_, name);
        if (next == -ENOTDIR) return follow(name, next);
        if (next < 0) return next;
        stand_in(next);
        if (name != ".") way_.append(name).push_back('/');
        return std::nullopt;
    }

    // From the top, by the names of directories so far: ".." itself leads wherever a directory was moved to.
    int go_up() {
        if (way_.empty()) return -EXDEV;
        way_.pop_back();
        way_.erase(way_.rfind('/') + 1);
        stand_in(root_);
        for (std::size_t at = 0; at < way_.size();) {
            const std::size_t end = way_.find('/', at);
            const int next = enter(here_, way_.substr(at, end - at));
            if (next == -ENOENT || next == -ENOTDIR) return -EAGAIN;  // It is not what it was.
            if (next < 0) return next;
            stand_in(next);
            at = end + 1;
        }
        return 0;
    }

    // What `name` says, if it is a link, stands in its place; else the walk ends with `failed`.
    std::optional<int> follow(const std::string& name, int failed) {
        std::array<char, PATH_MAX> text;
        const int size = outcome(::readlinkat(here_, name.c_str(), text.data(), text.size()));
        if (size == -EINVAL) return failed;
        if (size < 0) return size;
        if (++links_ > links_max) return -ELOOP;
        std::string said{text.data(), static_cast<std::size_t>(size)};
        if (!rest_.empty()) said.append("/").append(rest_);
        rest_ = std::move(said);
        return std::nullopt;
    }

    void stand_in(int number) noexcept {
        if (here_ != root_) ::close(here_);
        here_ = number;
    }

    const int root_;
    const open_how how_;
    int here_;              // Open for this walk, unless it is `root_`.
    std::string way_;       // The directories from `root_` to `here_`, with a slash behind each.
    std::string rest_;      // What is left of the name.
    bool slashed_ = false;  // Only slashes stood behind the last name that was taken.
    int links_ = 0;
    int steps_ = 0;
};

}  // namespace

int open_by_walk(int root, const char* path, const open_how& how) {
    return beneath_walk{root, path, how}.open();
}

}  // namespace gyre
