// SPDX-License-Identifier: BSL-1.0
//
// Walks below a directory: what the kernel's openat2(2) says of thousands of names, and what the walk says.
#include <runtime/beneath_walk.hpp>

#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

using namespace gyre::testing;
namespace files = std::filesystem;

namespace {

/// A directory with links of all kinds, and what must not be reached beside it.
class tree {
public:
    tree() {
        files::create_directories(home_ / "outside");
        files::create_directories(home_ / "site/dir/inner");
        static_cast<void>(home_.put("outside/file", "OUTSIDE"));
        static_cast<void>(home_.put("site/file", "at the top"));
        static_cast<void>(home_.put("site/dir/file", "below"));
        static_cast<void>(home_.put("site/dir/inner/file", "deep"));
        link("link", "dir");
        link("slashes", "dir//");
        link("to_file", "dir/./file");
        link("up", "..");
        link("out", "../outside");
        link("absolute", home_ / "outside");
        link("loop", "loop");
        link("dangling", "dir/none");
        link("dir/up", "..");
        link("dir/inner/back", "../../dir/file");
        link("dir/inner/away", "../../../outside/file");
        for (int each = 1; each <= 41; ++each)
            link("chain" + std::to_string(each),
                 each == 1 ? "file" : "chain" + std::to_string(each - 1));
        root = ::open((home_ / "site").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        REQUIRE(root >= 0);
    }
    tree(const tree&) = delete;
    tree& operator=(const tree&) = delete;
    ~tree() { ::close(root); }

    /// Where in the tree `number` is open, or the errno value that it is the negative of.
    [[nodiscard]] std::string place_of(int number) const {
        if (number < 0) return ::strerrorname_np(-number);
        std::string path = files::read_symlink("/proc/self/fd/" + std::to_string(number));
        ::close(number);
        const std::string top = files::canonical(home_.path()).string();
        return path.starts_with(top) ? path.substr(top.size()) : "elsewhere: " + path;
    }

    [[nodiscard]] std::string operator/(const std::string& name) const { return home_ / name; }

    int root = -1;

private:
    void link(const std::string& name, const std::string& to) const {
        files::create_symlink(to, home_ / ("site/" + name));
    }

    scratch_directory home_;
};

open_how how_to(int flags) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    if ((flags & O_CREAT) != 0) how.mode = 0600;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return how;
}

// EAGAIN: a file was renamed anywhere on the machine meanwhile.
int open_by_kernel(int root, const std::string& path, int flags) {
    open_how how = how_to(flags);
    for (;;) {
        const long number = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
        if (number >= 0) return static_cast<int>(number);
        if (errno != EAGAIN) return -errno;
    }
}

bool has_openat2(const tree& in) {
    const int number = open_by_kernel(in.root, "file", O_RDONLY);
    if (number >= 0) ::close(number);
    return number >= 0;
}

constexpr std::array names{"file", "dir",  "inner", "link",     "slashes", "to_file",  "up",
                           "out",  "loop", "none",  "absolute", "back",    "dangling", "away",
                           "..",   ".",    "",      "/",        "chain39", "chain40",  "chain41"};

constexpr std::array all_flags{O_RDONLY, O_RDONLY | O_DIRECTORY, O_RDWR, O_WRONLY | O_CREAT,
                               O_WRONLY | O_CREAT | O_EXCL};

}  // namespace

TEST_CASE("a walk ends where the kernel's own one does, for all names of up to three parts") {
    // Two alike, because what is made by one open is found by the next.
    const tree kernels;
    const tree ours;
    if (!has_openat2(kernels)) return skip("this kernel has no openat2");
    const std::size_t open_before = open_descriptors();
    int compared = 0;
    const auto compare = [&](const std::string& path) {
        for (const int flags : all_flags) {
            const std::string expected =
                kernels.place_of(open_by_kernel(kernels.root, path, flags));
            const std::string got =
                ours.place_of(gyre::open_by_walk(ours.root, path.c_str(), how_to(flags)));
            ++compared;
            if (got == expected) continue;
            FAIL_CHECK("\"", path, "\" with flags ", flags, " is ", got, ", and not ", expected);
        }
    };

    for (const std::string first : names) {
        compare(first);
        for (const std::string second : names) {
            compare(first + "/" + second);
            for (const std::string third : names) compare(first + "/" + second + "/" + third);
        }
    }
    compare(std::string(300, 'a'));
    compare(std::string(5000, 'a'));
    std::string deep;
    for (int each = 0; each < 600; ++each) deep += "dir/../";
    compare(deep.substr(0, 4095));

    CHECK(compared > 40'000);
    CHECK(open_descriptors() == open_before);
}

TEST_CASE("links of /proc that jump lead nowhere") {
    const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0) return skip("there is no /proc");
    const open_how how = how_to(O_RDONLY);
    const std::string self = std::to_string(::getpid());

    CHECK(gyre::open_by_walk(proc, (self + "/root/etc/passwd").c_str(), how) == -EXDEV);
    CHECK(gyre::open_by_walk(proc, (self + "/exe").c_str(), how) == -EXDEV);
    CHECK(gyre::open_by_walk(proc, (self + "/cwd/.").c_str(), how) == -EXDEV);
    const int status = gyre::open_by_walk(proc, "self/status", how);
    CHECK(status >= 0);  // A link with a plain text.

    ::close(status);
    ::close(proc);
}

TEST_CASE("a walk that takes too many steps ends") {
    const tree here;
    std::string path = "dir/inner";
    for (int each = 0; each < 1300; ++each) path += "/..";
    CHECK(gyre::open_by_walk(here.root, path.c_str(), how_to(O_RDONLY)) == -EXDEV);
    std::string deep;
    for (int each = 0; each < 100; ++each) {
        deep += "d/";
        files::create_directory(here / ("site/" + deep));
    }
    for (int each = 0; each < 99; ++each) deep += "../";

    CHECK(gyre::open_by_walk(here.root, deep.c_str(), how_to(O_RDONLY)) == -ELOOP);
}

TEST_CASE("a walk stays beneath its directory whatever is renamed and exchanged meanwhile") {
    const tree here;
    files::create_directory_symlink("../outside", here / "site/trap");
    files::create_directory(here / "away");
    std::atomic<bool> over = false;
    std::thread other{[&] {
        const std::string dir = here / "site/dir";
        const std::string trap = here / "site/trap";
        const std::string inner = here / "site/link_target";
        const std::string away = here / "away/inner";
        files::create_directory(inner);
        while (!over.load()) {
            ::syscall(SYS_renameat2, AT_FDCWD, dir.c_str(), AT_FDCWD, trap.c_str(),
                      2U);  // Exchange.
            ::rename(inner.c_str(), away.c_str());
            ::rename(away.c_str(), inner.c_str());
        }
    }};
    static constexpr std::array paths{
        "dir/file",  "dir/inner/../file",   "trap/file",
        "link/file", "link_target/../file", "link_target/../../outside/file"};
    int outside = 0;
    int found = 0;

    for (int round = 0; round < 3000; ++round) {
        for (const char* path : paths) {
            const int number = gyre::open_by_walk(here.root, path, how_to(O_RDONLY));
            if (number < 0) continue;
            std::array<char, 16> space{};
            if (::read(number, space.data(), space.size()) > 0 &&
                std::string_view{space.data()} == "OUTSIDE")
                ++outside;
            ++found;
            ::close(number);
        }
    }
    over = true;
    other.join();

    CHECK(outside == 0);
    CHECK(found > 0);
}
