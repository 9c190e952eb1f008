// SPDX-License-Identifier: BSL-1.0
//
// What gyre/io/path_watch.hpp promises: whichever way the content of a path is changed, it is reported.
#include <gyre/io/path_watch.hpp>

#include <base/ending.hpp>
#include <gyre/io/run.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <support/child.hpp>
#include <support/conformance.hpp>
#include <support/harness.hpp>
#include <support/scratch_directory.hpp>
#include <support/settle.hpp>
#include <support/skip.hpp>

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::chrono_literals;

namespace {

const path_watch_options at_once{0ms, 0ms};

// What a reader of `path` finds; of a directory, its names.
std::string content_of(const std::string& path) {
    std::error_code failed;
    if (std::filesystem::is_directory(path, failed)) {
        std::vector<std::string> names;
        for (const auto& each : std::filesystem::directory_iterator{path, failed})
            names.push_back(each.path().filename().string());
        std::sort(names.begin(), names.end());
        std::string all;
        for (const std::string& each : names) all += each + ' ';
        return all;
    }
    std::ifstream in{path};
    if (!in.good()) return "nothing";
    return {std::istreambuf_iterator<char>{in}, {}};
}

// Reports, of which at least one is due, until a reader finds `expected`.
task<> reports(path_watch& it, std::string path, std::string expected) {
    io_result<> changed;
    do {
        changed = co_await it.changed();
        CHECK(changed.ok());
    } while (changed.ok() && content_of(path) != expected);
    CHECK(content_of(path) == expected);
}

task<path_watch> watch_of(std::string path, path_watch_options when = at_once) {
    std::vector<std::string> paths{std::move(path)};
    io_result<path_watch> opened = co_await path_watch::open(std::move(paths), when);
    REQUIRE(opened.ok());
    co_return opened.take();
}

// One thing that happens in `home`, and what a reader finds then.
struct happening {
    std::function<void(const scratch_directory& home)> act;
    std::string found;
};

// Each of them is reported, and none of them makes deaf.
task<> check_follows(const scratch_directory& home, std::string path,
                     std::vector<happening> happenings) {
    path_watch it = co_await watch_of(home / path);
    for (const happening& each : happenings) {
        each.act(home);
        co_await reports(it, home / path, each.found);
    }
}

void rename_in(const scratch_directory& home, const std::string& from, const std::string& to) {
    std::filesystem::rename(home / from, home / to);
}

// As `ln -sfn`: in one step.
void link_in(const scratch_directory& home, const std::string& to, const std::string& name) {
    std::filesystem::create_symlink(to, home / "link.new");
    std::filesystem::rename(home / "link.new", home / name);
}

void make_in(const scratch_directory& home, const std::string& folder) {
    std::filesystem::create_directories(home / folder);
}

happening written(std::string name, std::string text) {
    return {
        [name, text](const scratch_directory& home) { static_cast<void>(home.put(name, text)); },
        text};
}

happening removed(std::string name) {
    return {[name](const scratch_directory& home) { std::filesystem::remove_all(home / name); },
            "nothing"};
}

happening renamed(std::string from, std::string to, std::string found) {
    return {[from, to](const scratch_directory& home) { rename_in(home, from, to); }, found};
}

const std::vector<conformance_row> on_the_kernel{
    {"a followed file is written, cut, and written by one that has it open",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("it", "1"));
         std::ofstream open{home / "it", std::ios::app};
         std::vector<happening> all{
             written("it", "2"),
             written("it", ""),
             {[&](const scratch_directory&) { open << "3" << std::flush; }, "3"},
             {[](const scratch_directory& at) { std::filesystem::resize_file(at / "it", 0); }, ""}};
         co_await check_follows(home, "it", std::move(all));
     }},
    {"a followed file is written under another name of it, in another directory",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "here");
         make_in(home, "there");
         static_cast<void>(home.put("here/it", "1"));
         std::filesystem::create_hard_link(home / "here/it", home / "there/other");
         std::vector<happening> all{{written("there/other", "2")}, {written("there/other", "3")}};
         co_await check_follows(home, "here/it", std::move(all));
     }},
    {"a followed file is replaced by a rename, again and again",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("it", "1"));
         std::vector<happening> all;
         for (const char* const text : {"2", "3", "4"}) {
             static_cast<void>(home.put(std::string{"new"} + text, text));
             all.push_back(renamed(std::string{"new"} + text, "it", text));
         }
         all.push_back(written("it", "5"));
         co_await check_follows(home, "it", std::move(all));
     }},
    {"a followed file is moved away and back, removed and made again",
     [](io_context&) -> task<> {
         const scratch_directory home;
         static_cast<void>(home.put("it", "1"));
         std::vector<happening> all{renamed("it", "away", "nothing"),
                                    renamed("away", "it", "1"),
                                    removed("it"),
                                    written("it", "2"),
                                    written("it", "3"),
                                    removed("it"),
                                    written("it", "4")};
         co_await check_follows(home, "it", std::move(all));
     }},
    {"the directory of a followed file is replaced by a rename, again and again",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "live");
         static_cast<void>(home.put("live/it", "1"));
         std::vector<happening> all;
         for (const std::string text : {"2", "3"}) {
             make_in(home, "new" + text);
             static_cast<void>(home.put("new" + text + "/it", text));
             all.push_back(renamed("live", "old" + text, "nothing"));
             all.push_back(renamed("new" + text, "live", text));
             all.push_back(written("live/it", text + " once more"));
         }
         co_await check_follows(home, "live/it", std::move(all));
     }},
    {"two directories on the way exchange their names",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "a/deep");
         make_in(home, "b/deep");
         static_cast<void>(home.put("a/deep/it", "1"));
         static_cast<void>(home.put("b/deep/it", "2"));
         const auto exchange = [](const scratch_directory& at) {
             CHECK(::renameat2(AT_FDCWD, (at / "a").c_str(), AT_FDCWD, (at / "b").c_str(),
                               RENAME_EXCHANGE) == 0);
         };
         std::vector<happening> all{{exchange, "2"},
                                    written("a/deep/it", "3"),
                                    {exchange, "1"},
                                    written("a/deep/it", "4")};
         co_await check_follows(home, "a/deep/it", std::move(all));
     }},
    {"directories of a followed file vanish with all that is in them, and appear one by one",
     [](io_context&) -> task<> {
         const scratch_directory home;
         std::vector<happening> all;
         for (const std::string text : {"1", "2"}) {
             all.push_back({[text](const scratch_directory& at) {
                                make_in(at, "a");
                                make_in(at, "a/b");
                                make_in(at, "a/b/c");
                                static_cast<void>(at.put("a/b/c/it", text));
                            },
                            text});
             all.push_back(written("a/b/c/it", text + " once more"));
             all.push_back(removed("a"));
         }
         co_await check_follows(home, "a/b/c/it", std::move(all));
     }},
    {"each directory of a followed file appears after a look at its parent",
     [](io_context&) -> task<> {
         const scratch_directory home;
         path_watch it = co_await watch_of(home / "a/b/c/it");
         for (const char* const each : {"a", "a/b", "a/b/c"}) {
             make_in(home, each);
             CHECK((co_await it.changed()).ok());
         }
         static_cast<void>(home.put("a/b/c/it", "1"));
         co_await reports(it, home / "a/b/c/it", "1");
     }},
    {"a parent is moved away and back, and another one takes its place",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "a/b/c");
         make_in(home, "other/b/c");
         static_cast<void>(home.put("a/b/c/it", "1"));
         static_cast<void>(home.put("other/b/c/it", "2"));
         std::vector<happening> all{renamed("a", "x", "nothing"), renamed("x", "a", "1"),
                                    written("a/b/c/it", "3"),     renamed("a", "x", "nothing"),
                                    renamed("other", "a", "2"),   written("a/b/c/it", "4")};
         co_await check_follows(home, "a/b/c/it", std::move(all));
     }},
    {"settings are swapped by one link, as Kubernetes does",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "..2024");
         static_cast<void>(home.put("..2024/settings", "1"));
         link_in(home, "..2024", "..data");
         link_in(home, "..data/settings", "settings");
         std::vector<happening> all;
         std::string last = "..2024";
         for (const std::string text : {"2", "3"}) {
             all.push_back({[text, last](const scratch_directory& at) {
                                make_in(at, "..2024_" + text);
                                static_cast<void>(at.put("..2024_" + text + "/settings", text));
                                link_in(at, "..2024_" + text, "..data");
                                std::filesystem::remove_all(at / last);
                            },
                            text});
             last = "..2024_" + text;
         }
         all.push_back(written(last + "/settings", "4"));
         co_await check_follows(home, "settings", std::move(all));
     }},
    {"a link is turned to the next version in another directory, as certbot does",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "live/name");
         make_in(home, "archive/name");
         static_cast<void>(home.put("archive/name/cert1.pem", "1"));
         link_in(home, "../../archive/name/cert1.pem", "live/name/cert.pem");
         std::vector<happening> all{{[](const scratch_directory& at) {
                                         static_cast<void>(at.put("archive/name/cert2.pem", "2"));
                                         link_in(at, "../../archive/name/cert2.pem",
                                                 "live/name/cert.pem");
                                     },
                                     "2"},
                                    written("archive/name/cert2.pem", "3"),
                                    renamed("archive/name", "archive/old", "nothing"),
                                    renamed("archive/old", "archive/name", "3")};
         co_await check_follows(home, "live/name/cert.pem", std::move(all));
     }},
    {"a log is reached by links through three directories, and rotated in the last",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "containers");
         make_in(home, "pods/pod");
         make_in(home, "docker/1");
         static_cast<void>(home.put("docker/1/log", "1"));
         link_in(home, home / "docker/1/log", "pods/pod/0.log");
         link_in(home, home / "pods/pod/0.log", "containers/it.log");
         std::vector<happening> all{written("docker/1/log", "2"),
                                    renamed("docker/1/log", "docker/1/log.1", "nothing"),
                                    written("docker/1/log", "3"),
                                    {[](const scratch_directory& at) {
                                         make_in(at, "docker/2");
                                         static_cast<void>(at.put("docker/2/log", "4"));
                                         link_in(at, at / "docker/2/log", "pods/pod/0.log");
                                     },
                                     "4"},
                                    written("docker/2/log", "5"),
                                    removed("pods/pod"),
                                    {[](const scratch_directory& at) {
                                         make_in(at, "pods/pod");
                                         link_in(at, at / "docker/2/log", "pods/pod/0.log");
                                     },
                                     "5"}};
         co_await check_follows(home, "containers/it.log", std::move(all));
     }},
    {"a link dangles, leads to itself, to a directory, to what is none, and then to a file",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "folder");
         static_cast<void>(home.put("file", "1"));
         static_cast<void>(home.put("folder/inside", ""));
         link_in(home, "missing", "it");
         const auto turned = [](std::string to, std::string found) {
             return happening{[to](const scratch_directory& at) { link_in(at, to, "it"); }, found};
         };
         std::vector<happening> all{written("missing", "0"),
                                    turned("it", "nothing"),
                                    turned("folder", "inside "),
                                    turned("file/below", "nothing"),
                                    turned("./folder/../file", "1"),
                                    written("file", "2"),
                                    turned(".", "file folder it missing "),
                                    turned("file", "2")};
         co_await check_follows(home, "it", std::move(all));
     }},
    {"a way back up leads elsewhere when the directory that it leaves is moved",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "one/inner");
         make_in(home, "two");
         static_cast<void>(home.put("one/it", "1"));
         static_cast<void>(home.put("two/it", "2"));
         link_in(home, "one/inner", "down");
         std::vector<happening> all{
             {[](const scratch_directory& at) {
                  rename_in(at, "one/inner", "two/inner");
                  link_in(at, "two/inner", "down");
              },
              "2"},
             written("two/it", "3"),
             removed("two/inner"),
             {[](const scratch_directory& at) { make_in(at, "two/inner"); }, "3"}};
         co_await check_follows(home, "down/../it", std::move(all));
     }},
    {"a directory is followed: names in it, what is called so, and itself",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "it");
         const auto made = [](const char* name, std::string found) {
             return happening{[name](const scratch_directory& at) {
                                  static_cast<void>(at.put(std::string{"it/"} + name, ""));
                              },
                              found};
         };
         std::vector<happening> all{made("a", "a "),
                                    made("b", "a b "),
                                    renamed("it/a", "it/c", "b c "),
                                    renamed("it", "away", "nothing"),
                                    {[](const scratch_directory& at) { make_in(at, "it"); }, ""},
                                    made("d", "d ")};
         co_await check_follows(home, "it/", std::move(all));

         path_watch it = co_await watch_of(home / "it");
         static_cast<void>(home.put("it/d", "written"));
         CHECK((co_await it.changed()).ok());
     }},
    {"a change of permissions is reported, of the file and of a directory on the way",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "a");
         static_cast<void>(home.put("a/it", "1"));
         path_watch it = co_await watch_of(home / "a/it");
         for (const char* const each : {"a/it", "a", "a/it", "a"}) {
             std::filesystem::permissions(home / each, std::filesystem::perms::owner_all);
             CHECK((co_await it.changed()).ok());
         }
     }},
    {"several paths are followed by one watch",
     [](io_context&) -> task<> {
         const scratch_directory home;
         make_in(home, "a");
         static_cast<void>(home.put("a/one", "1"));
         static_cast<void>(home.put("two", "1"));
         std::vector<std::string> paths{home / "a/one", home / "two", home / "a"};
         io_result<path_watch> opened = co_await path_watch::open(std::move(paths), at_once);
         path_watch it = opened.take();
         static_cast<void>(home.put("two", "2"));
         co_await reports(it, home / "two", "2");
         static_cast<void>(home.put("a/one", "2"));
         co_await reports(it, home / "a/one", "2");
         rename_in(home, "a", "b");
         co_await reports(it, home / "a", "nothing");
         rename_in(home, "b", "a");
         co_await reports(it, home / "a/one", "2");
         static_cast<void>(home.put("a/one", "3"));
         co_await reports(it, home / "a/one", "3");
     }},
};

const conformance_suite on_the_kernel_suite{"watches", on_the_kernel};

}  // namespace
