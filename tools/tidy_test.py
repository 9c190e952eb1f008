#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Tests of tidy.py: for every rule, small trees that break it and small trees that keep it.

Run it directly, or with `python3 -m unittest tools/tidy_test.py`. A tree is a dictionary from path
to text. A tree that breaks a rule must break that rule and no other; a tree that keeps it must be
clean altogether. So each sample also guards all other rules against false alarms.
"""

import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import tidy  # noqa: E402  (the path must be known first)

ARCHITECTURE = """\
# A sample

| layer | may include (plus itself and std) | kernel? |
|---|---|---|
| `base` | nothing | no |
| `coro` | base | no |
| `stream` | base, coro | no |
| `tls`, `http` | base, coro, stream (not each other) | no |
| `websocket` | as above, plus http | no |
| `runtime` | base, coro | **yes, the only one** |
| `io` | base, coro, stream, runtime | no: every call is an operation |
| `interop` | base, runtime, io | no: the only folder that includes foreign frameworks |
| `exchange/core` | nothing | no |
| `examples`, `exchange`, `lab` | public headers of anything | through the library |
| `tests` | as above; `tests/runtime`, `tests/sim` also `src/` | |

| another table | with other words |
|---|---|
| `none` | of our business |
"""

SHELL_LICENCE = "# SPDX-License-Identifier: BSL-1.0\n"
LICENCE = "// SPDX-License-Identifier: BSL-1.0\n"
CAPTION = "//\n// What would be missing without this file, in words.\n"


def source(code: str = "int answer();\n") -> str:
    return LICENCE + CAPTION + "\n" + code


def header(code: str = "int answer();\n") -> str:
    return LICENCE + CAPTION + "#pragma once\n\n" + code


def test_of(code: str) -> dict[str, str]:
    """A tree with one test file: the place with the fewest other rules."""
    return {"tests/simulation/thing_test.cpp": source(code)}


def module(path: str, text: str) -> dict[str, str]:
    """A tree with one file of the library and its twin."""
    name = path.removeprefix("include/gyre/").removeprefix("src/").rsplit(".", 1)[0]
    if name.startswith("exchange/"):
        return {path: text, f"exchange/tests/{name.removeprefix('exchange/')}_test.cpp": source()}
    return {path: text, f"tests/{name}_test.cpp": source()}


def includes(path: str, *targets: str) -> dict[str, str]:
    """A tree where `path` includes `targets`."""
    text = header if path.endswith(".hpp") else source
    code = "".join(f"#include {target}\n" for target in targets)
    has_twin = path.startswith(("include/", "src/", "exchange/core/"))
    return module(path, text(code)) if has_twin else {path: text(code)}


def coroutine(body: str) -> dict[str, str]:
    return test_of("task<> run() {\n" + body + "\n}\n")


LAWS = "tests/laws/backend_laws_test.cpp"
LOOP_BACKEND = {"src/runtime/loop_backend.hpp": header(), LAWS: source()}
UNFINISHED = "FIX" + "ME"
TO_DO = "TO" + "DO"

# Rule -> (trees that break it, trees that keep it).
CASES: dict[str, tuple[list[dict[str, str]], list[dict[str, str]]]] = {
    "licence": (
        [
            {"examples/hello.cpp": "// A program that greets the world, to begin with.\nint main() {}\n"},
            {"CMakeLists.txt": "project(gyre)\n"},
            {"tools/plot.py": "#!/usr/bin/python3\n\n# SPDX-License-Identifier: BSL-1.0\n"},
            {"dev": "#!/bin/bash\nset -e\n"},
            {"lab/run.sh": "set -e\n"},
        ],
        [
            {"examples/hello.cpp": source()},
            {"CMakeLists.txt": SHELL_LICENCE + "project(gyre)\n"},
            {"tools/plot.py": "#!/usr/bin/python3\n# SPDX-License-Identifier: BSL-1.0\n"},
            {"dev": "#!/usr/bin/env bash\n# SPDX-License-Identifier: BSL-1.0\nset -e\n"},
            {"README.md": "# gyre\n", ".gitignore": "build/\n", "lab/data.csv": "1,2\n"},
        ],
    ),
    "caption": (
        [
            {"examples/hello.cpp": LICENCE + "\nint main() {}\n"},
            {"examples/hello.cpp": LICENCE + "//\n// Says hello.\n\nint main() {}\n"},
            {"examples/hello.cpp": LICENCE + "int main() {}\n" + CAPTION},
            module("include/gyre/base/result.hpp", LICENCE + "#pragma once\n" + CAPTION),
            module("src/runtime/ring.cpp", LICENCE + "// The ring.\nint ring;\n"),
            module("include/gyre/base/error.hpp", header())
            | {"src/base/error.cpp": LICENCE + "int i;\n"},
        ],
        [
            {"examples/hello.cpp": source("int main() {}\n")},
            module("include/gyre/base/error.hpp", header())
            | {"src/base/error.cpp": LICENCE + "// See the header.\nint i;\n"},
            module("src/runtime/ring.hpp", header())
            | {"src/runtime/ring.cpp": LICENCE + "//\n// See the header.\nint i;\n"},
        ],
    ),
    "layers": (
        [
            includes("include/gyre/base/result.hpp", "<gyre/coro/task.hpp>"),
            includes("src/tls/stream.cpp", "<gyre/http/message.hpp>"),
            includes("include/gyre/http/client.hpp", "<gyre/websocket/connection.hpp>"),
            includes("include/gyre/io/tcp.hpp", "<gyre/gyre.hpp>")
            | {"include/gyre/gyre.hpp": header()},
            includes("include/gyre/runtime/kernel.hpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
            includes("src/stream/pipe.cpp", '"../runtime/loop_backend.hpp"') | LOOP_BACKEND,
            includes("tests/io/tcp_test.cpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
            includes("lab/run.cpp", '"../src/runtime/loop_backend.hpp"') | LOOP_BACKEND,
            includes("src/base/check.cpp", '"support/harness.hpp"')
            | {"tests/support/harness.hpp": header()},
            includes("lab/run.cpp", '"support/harness.hpp"')
            | {"tests/support/harness.hpp": header()},
            includes("exchange/core/book.cpp", "<gyre/base/result.hpp>"),
            includes("exchange/core/book.cpp", '"../codec/sbe.hpp"') | {"exchange/codec/sbe.hpp": header()},
            includes("exchange/codec/sbe.cpp", '"../tests/core/model.hpp"')
            | {"exchange/tests/core/model.hpp": header()},
            includes("src/base/check.cpp", '"../../exchange/core/slab.hpp"')
            | module("exchange/core/slab.hpp", header()),
            includes("exchange/bench/driver.cpp", "<lab/load/clients.hpp>")
            | {"lab/load/clients.hpp": header()},
            module("include/gyre/plumbing/pipe.hpp", header()),
            {"include/gyre/version.hpp": header()},
        ],
        [
            includes("src/websocket/frame.cpp", "<gyre/http/message.hpp>", "<gyre/stream/buffered.hpp>"),
            includes("include/gyre/coro/task.hpp", "<gyre/coro/awaitable.hpp>", "<coroutine>"),
            includes("include/gyre/base/result.hpp", "<vector>") | test_of("// <gyre/io/tcp.hpp>\n"),
            module("include/gyre/base/result.hpp", header("// #include <gyre/io/tcp.hpp>\n")),
            includes("include/gyre/gyre.hpp", "<gyre/base/result.hpp>", "<gyre/io/tcp.hpp>"),
            includes("src/runtime/ring.cpp", '"loop_backend.hpp"') | LOOP_BACKEND,
            includes("src/io/tcp.cpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
            includes("tests/runtime/ring_test.cpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
            includes("tests/laws/scripted.cpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
            includes("exchange/main.cpp", "<gyre/gyre.hpp>", "<gyre/websocket/connection.hpp>"),
            includes("exchange/core/book.cpp", "<exchange/core/slab.hpp>", "<vector>")
            | module("exchange/core/slab.hpp", header()),
            includes("exchange/codec/sbe.cpp", "<exchange/core/slab.hpp>", "<gyre/gyre.hpp>")
            | module("exchange/core/slab.hpp", header()),
            includes("exchange/tests/codec/sbe_test.cpp", '"../core/model.hpp"')
            | {"exchange/tests/core/model.hpp": header()},
            includes("exchange/bench/driver.cpp", "<lab/kit/fail.hpp>")
            | {"lab/kit/fail.hpp": header()},
            includes("lab/load/clients.cpp", "<lab/load/clients.hpp>")
            | {"lab/load/clients.hpp": header()},
        ],
    ),
    "kernel-header": (
        [
            includes("include/gyre/io/tcp.hpp", "<sys/socket.h>"),
            includes("src/coro/frame.cpp", "<unistd.h>"),
            includes("src/http/client.cpp", "<linux/tcp.h>"),
            includes("src/io/tcp.cpp", "<netinet/tcp.h>"),
            includes("src/stream/pipe.cpp", "<liburing/io_uring.h>"),
            includes("src/io/endpoint.cpp", "<unistd.h>"),
            includes("exchange/main.cpp", "<sys/epoll.h>"),
        ],
        [
            includes("include/gyre/runtime/kernel.hpp", "<sys/socket.h>"),
            includes("src/runtime/ring.cpp", "<linux/io_uring.h>", "<unistd.h>", "<liburing.h>"),
            includes(
                "src/io/endpoint.cpp", "<sys/socket.h>", "<netinet/in.h>", "<sys/un.h>", "<arpa/inet.h>"
            ),
            includes("src/base/error.cpp", "<cerrno>", "<system_error>"),
            includes("tests/io/tcp_test.cpp", "<sys/socket.h>"),
            includes("lab/contenders/raw_epoll.cpp", "<sys/epoll.h>"),
            includes("exchange/bench/contenders/bare.cpp", "<sys/socket.h>"),
            includes("exchange/tests/bench/bare_test.cpp", "<poll.h>"),
            includes("examples/raw.cpp", "<unistd.h>"),
        ],
    ),
    "framework-header": (
        [
            includes("include/gyre/io/tcp.hpp", "<boost/asio.hpp>"),
            includes("src/runtime/ring.cpp", "<uv.h>"),
        ],
        [
            includes("include/gyre/interop/asio.hpp", "<boost/asio.hpp>"),
            includes("lab/contenders/asio.cpp", "<boost/asio.hpp>"),
        ],
    ),
    "pure-part": (
        [
            includes("exchange/core/book.cpp", "<chrono>"),
            includes("exchange/core/book.cpp", "<unordered_map>"),
            includes("exchange/core/book.cpp", "<sstream>"),
            includes("exchange/core/book.cpp", "<boost/container/flat_map.hpp>"),
        ],
        [
            includes("exchange/core/book.cpp", "<algorithm>", "<bit>", "<vector>", "<cstdint>"),
            includes("exchange/bench/micro.cpp", "<chrono>", "<benchmark/benchmark.h>"),
            includes("exchange/net/session.cpp", "<chrono>"),
        ],
    ),
    "public-header": (
        [
            includes("include/gyre/runtime/ring.hpp", "<liburing.h>"),
            includes("include/gyre/tls/context.hpp", "<openssl/ssl.h>"),
            includes("include/gyre/base/check.hpp", "<iostream>"),
        ],
        [
            includes("src/tls/context.cpp", "<openssl/ssl.h>"),
            includes("src/base/check.cpp", "<iostream>"),
            includes("include/gyre/base/check.hpp", "<iosfwd>"),
        ],
    ),
    "twin": (
        [
            {"include/gyre/base/result.hpp": header()},
            {"src/runtime/timer_queue.cpp": source()},
            {"src/runtime/timer_queue.hpp": header(), "tests/runtime/timer_test.cpp": source()},
            {"src/runtime/perform.cpp": source(), "tests/runtime/perform_test.cpp": source()},
            {"exchange/core/book.hpp": header(), "tests/core/book_test.cpp": source()},
        ],
        [
            module("include/gyre/base/result.hpp", header()) | {"src/base/result.cpp": source()},
            module("src/runtime/timer_queue.cpp", source()),
            {"src/runtime/perform.cpp": source(), LAWS: source()},
            {"include/gyre/gyre.hpp": header()},
            module("exchange/core/book.hpp", header()) | {"exchange/core/book.cpp": source()},
            {"exchange/net/session.cpp": source()},
        ],
    ),
    "name": (
        [
            {"tests/simulation/string_utils.cpp": source()},
            {"examples/common.cpp": source()},
            {"lab/helpers/clock.cpp": source()},
            {"tools/misc/plot.py": SHELL_LICENCE},
            module("include/gyre/coro/task_impl.hpp", header()),
            {"exchange/detail/a.cpp": source(), "exchange/detail/b.cpp": source()},
        ],
        [
            {"exchange/common_stock.cpp": source(), "exchange/detailed_report.cpp": source()},
        ],
    ),
    "fixme": (
        [test_of(f"// {UNFINISHED}: later\n"), {"lab/run.sh": f"{SHELL_LICENCE}# {UNFINISHED}\n"}],
        [test_of(f"int pre{UNFINISHED};\n"), {"docs/STYLE.md": f"No {UNFINISHED} reaches main.\n"}],
    ),
    "todo": (
        [
            test_of(f"// {TO_DO}: faster\n"),
            test_of(f"// {TO_DO}(ada): faster\n"),
            {"tools/plot.py": f"{SHELL_LICENCE}# {TO_DO}\n"},
        ],
        [test_of(f"// {TO_DO}(perf): one copy too many.\n// {TO_DO}(port): other kernels.\n")],
    ),
    "using-namespace": (
        [{"lab/clock.hpp": header("using namespace std;\n")}],
        [
            test_of("using namespace std::chrono_literals;\n"),
            {"lab/clock.hpp": header("// using namespace std;\nusing std::size_t;\n")},
        ],
    ),
    "macro": (
        [
            test_of("#define ANSWER 42\n"),
            test_of("#ifdef __linux__\n#endif\n"),
            includes("src/runtime/ring.cpp")
            | {"src/runtime/ring.cpp": source("#  if 1\n#  endif\n")},
            {"examples/hello.cpp": source("#define DOCTEST_CONFIG_IMPLEMENT\n")},
        ],
        [
            module("include/gyre/base/build.hpp", header("#if __clang__\n#define GYRE_CLANG\n#endif\n")),
            module("src/base/check.cpp", source("#ifdef NDEBUG\n#endif\n")),
            test_of("#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n/*\n#define NOTHING\n*/\n"),
            {"lab/main.cpp": source("#define DOCTEST_CONFIG_IMPLEMENT\n")},
        ],
    ),
    "pragma-once": (
        [
            {"lab/clock.hpp": source()},
            {"lab/clock.hpp": source("// #pragma once\n")},
        ],
        [{"lab/clock.hpp": header(), "lab/clock.cpp": source()}],
    ),
    "sleep": (
        [
            test_of("void f() { std::this_thread::sleep_for(1s); }\n"),
            test_of("void f() { usleep(100); }\n"),
            test_of("void f() { ::sleep(1); }\n"),
        ],
        [
            coroutine("    co_await gyre::sleep_for(1ms);\n    co_await sleep(1ms);\n    world.sleep(3);"),
            test_of('const char* text = "sleep(1)";  // usleep(1) would be wrong.\n'),
            {"lab/pace.cpp": source("void f() { std::this_thread::sleep_for(1s); }\n")},
        ],
    ),
    "line-length": (
        [
            test_of("// " + "x" * 108 + "\n"),
            {"CMakeLists.txt": SHELL_LICENCE + "#" * 111 + "\n"},
        ],
        [
            test_of("// " + "x" * 107 + "\n// " + "\u00fc" * 107 + "\n"),
            {"README.md": "x" * 500 + "\n"},
        ],
    ),
    "tab": (
        [test_of("\tint i;\n"), {"README.md": "a\tb\n"}],
        [test_of('const char* tab = "\\t";\n')],
    ),
    "trailing-space": (
        [test_of("int i; \n"), {"README.md": "Hello  \n"}, test_of("int i;\r\n")],
        [test_of("int i;\n")],
    ),
    "final-newline": (
        [test_of("int i;"), {"README.md": "Hello"}],
        [test_of("int i;\n"), {"README.md": ""}],
    ),
    "await-condition": (
        [
            coroutine("    if (co_await ready) co_return;"),
            coroutine("    while (!(co_await next()).ok()) { work(); }"),
            coroutine("    switch (co_await kind()) { default: break; }"),
            coroutine("    do { work(); } while (co_await more());"),
            coroutine("    if (auto n = co_await size(); n > 0) co_return;"),
            {"examples/hello.cpp": source("task<> f() { if (co_await x) co_return; }\n")},
        ],
        [
            coroutine("    auto ready = co_await wait();\n    if (ready) co_await proceed();"),
            coroutine('    if (text == "co_await") co_return;  // if (co_await x)\n    co_await x;'),
            {"tests/toolchain/small_frame.cpp": source("task<> f() { if (co_await x) co_return; }\n")},
        ],
    ),
    "await-ternary": (
        [
            coroutine("    auto n = ready ? co_await first() : co_await second();"),
            coroutine("    auto n = co_await (left ? a() : b());"),
            coroutine("    auto n = co_await read({a, b}) ? 1 : 2;"),
        ],
        [
            coroutine("    auto size = large ? 4096 : 64;\n    auto n = co_await read(size);"),
            coroutine("    if (large ? a : b) co_await read();"),
            coroutine('    co_await say("really?");  // or not?'),
            coroutine("    co_await one();\n    for (auto x : xs) { y = x ? 1 : 2; }\n    co_await two();"),
        ],
    ),
    "await-new": (
        [
            coroutine("    auto* p = new node(co_await next());"),
            coroutine("    throw failure{co_await reason()};"),
        ],
        [
            coroutine("    auto n = co_await read();\n    auto* p = new node(n);\n    co_await newer(p);"),
            coroutine("    if (bad) throw failure();\n    co_await read();"),
        ],
    ),
    "lambda-coroutine": (
        [
            coroutine("    group.spawn([&client]() -> task<> { co_await talk(client); }());"),
            coroutine("    auto t = [=, this]() -> gyre::task<int> { co_return 1; }();"),
            coroutine("    run(io, [a = b[0]](int) mutable -> task<> {\n    co_await f(a);\n}(7));"),
            coroutine("    spawn(([&] () -> task<> { for (;;) { co_await g(); } })());"),
        ],
        [
            coroutine("    group.spawn([]() -> task<> { co_return; }());"),
            coroutine("    on_every_backend([&](io_context& io) -> task<> { co_await talk(io); });"),
            coroutine("    int n = [&] { return 7; }();\n    co_await later(n);"),
            coroutine("    co_await table[n](7);\n    auto [e, n] = co_await read();\n    { f(n); }"),
        ],
    ),
}


def check(tree: dict[str, str], architecture: str | None = ARCHITECTURE) -> list[tidy.Finding]:
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), tree, architecture)
        return tidy.check_project(tidy.Project(Path(folder)))


def write_tree(root: Path, tree: dict[str, str], architecture: str | None = ARCHITECTURE) -> None:
    files = tree if architecture is None else tree | {"ARCHITECTURE.md": architecture}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="")


class every_rule(unittest.TestCase):
    def test_has_samples(self):
        self.assertEqual(set(CASES), {rule.name for rule in tidy.RULES})

    def test_reports_the_trees_that_break_it(self):
        for rule, (broken, _) in CASES.items():
            for number, tree in enumerate(broken):
                with self.subTest(rule=rule, number=number):
                    self.assertEqual({finding.rule for finding in check(tree)}, {rule})

    def test_passes_the_trees_that_keep_it(self):
        for rule, (_, kept) in CASES.items():
            for number, tree in enumerate(kept):
                with self.subTest(rule=rule, number=number):
                    self.assertEqual(list(map(str, check(tree))), [])


class findings(unittest.TestCase):
    def test_name_path_line_rule_and_message(self):
        found = check(test_of("int i;\nint j; \n"))
        self.assertEqual(
            list(map(str, found)), ["tests/simulation/thing_test.cpp:6: trailing-space: trailing whitespace"]
        )

    def test_point_at_the_include_that_is_wrong(self):
        found = check(includes("src/io/tcp.cpp", "<cerrno>", "<gyre/base/error.hpp>", "<unistd.h>"))
        self.assertEqual([(finding.path, finding.line) for finding in found], [("src/io/tcp.cpp", 7)])

    def test_report_a_module_and_a_folder_once(self):
        pair = {"include/gyre/base/x.hpp": header(), "src/base/x.cpp": source()}
        self.assertEqual([finding.path for finding in check(pair)], ["include/gyre/base/x.hpp"])

        folder = {"exchange/utils/a.cpp": source(), "exchange/utils/b.cpp": source()}
        self.assertEqual([finding.path for finding in check(folder)], ["exchange/utils/a.cpp"])


class the_files(unittest.TestCase):
    def paths(self, root: Path) -> set[str]:
        return tidy.Project(root).paths

    def test_without_git_are_all_that_lie_there_but_builds(self):
        with tempfile.TemporaryDirectory() as folder:
            write_tree(Path(folder), {"a.cpp": source(), "build/b.cpp": source()})
            self.assertEqual(self.paths(Path(folder)), {"ARCHITECTURE.md", "a.cpp"})

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_with_git_are_those_it_does_not_ignore(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "--quiet", folder], check=True, capture_output=True)
            write_tree(Path(folder), {".gitignore": "out/\n", "a.cpp": source(), "out/b.cpp": source()})
            self.assertEqual(self.paths(Path(folder)), {".gitignore", "ARCHITECTURE.md", "a.cpp"})


class the_layer_table(unittest.TestCase):
    layers = tidy.parse_layers(ARCHITECTURE)

    def test_understands_nothing_and_lists(self):
        self.assertEqual(self.layers.grants["base"], frozenset())
        self.assertEqual(self.layers.grants["io"], {"base", "coro", "stream", "runtime"})

    def test_lets_every_layer_include_itself(self):
        self.assertTrue(self.layers.may("base", "base"))

    def test_gives_layers_of_one_row_the_same_grant_but_not_each_other(self):
        self.assertEqual(self.layers.grants["tls"], self.layers.grants["http"])
        self.assertFalse(self.layers.may("tls", "http"))
        self.assertFalse(self.layers.may("http", "tls"))

    def test_understands_as_above_plus(self):
        self.assertEqual(self.layers.grants["websocket"], {"base", "coro", "stream", "http"})

    def test_understands_public_headers_of_anything(self):
        self.assertTrue(self.layers.may("lab", "websocket"))
        self.assertTrue(self.layers.may("tests", "websocket"))
        self.assertFalse(self.layers.is_library("lab"))
        self.assertTrue(self.layers.is_library("base"))

    def test_knows_who_touches_the_kernel(self):
        self.assertEqual(self.layers.kernel, {"runtime"})

    def test_knows_which_tests_look_inside(self):
        self.assertEqual(self.layers.private_tests, {"tests/runtime", "tests/sim", "tests/laws"})

    def test_ends_with_its_last_row(self):
        self.assertNotIn("none", self.layers.grants)

    def test_with_an_unknown_word_is_an_error(self):
        found = check({}, ARCHITECTURE.replace("| `coro` | base |", "| `coro` | base, magic |"))
        self.assertEqual([finding.rule for finding in found], ["layer-table"])
        self.assertIn("magic", found[0].message)

    def test_that_is_missing_is_an_error(self):
        for architecture in (None, "# No table here\n"):
            found = check({}, architecture)
            self.assertEqual([finding.rule for finding in found], ["layer-table"])
            self.assertEqual(found[0].path, "ARCHITECTURE.md")


class reading_cpp(unittest.TestCase):
    def test_blanks_comments_and_literals_in_place(self):
        for text, code in (
            ("int i; // why\nint j;", "int i;       \nint j;"),
            ("a /* b\nc */ d", "a     \n     d"),
            ('f("x;y", \'{\');', 'f("   ", \' \');'),
            ('f("a\\"b");', 'f("    ");'),
            ("int n = 10'000; // it's", "int n = 10'000;        "),
            ("char c = L'x', d = u8'\\'';", "char c = L' ', d = u8'  ';"),
            ('auto s = R"(a "b" // c)"; int i;', "auto s = R" + " " * 13 + '"; int i;'),
            ('"//" + x // y', '"  " + x     '),
        ):
            with self.subTest(text=text):
                found = tidy.strip_cpp(text)
                self.assertEqual(len(found), len(text))
                self.assertEqual(found.count("\n"), text.count("\n"))
                self.assertEqual(found, code)

    def test_finds_includes_but_not_in_comments(self):
        text = '#include <a/b.hpp>\n// #include <c.hpp>\n#  include "d.hpp"  // why\n'
        found = [(include.line, str(include)) for include in tidy.SourceFile("x.cpp", text).includes]
        self.assertEqual(found, [(1, "<a/b.hpp>"), (3, '"d.hpp"')])

    def test_measures_functions_not_classes(self):
        body = "    work();\n" * 60
        text = (
            "namespace gyre {\n"
            "template <class T>\n"
            "class box : public base<T> {\n"
            "    box() : a_{1}, b_{2} {\n" + body + "    }\n"
            "};\n"
            "template <class T>\n"
            "auto fetch(T x) -> task<T> {\n" + body + "}\n"
            'TEST_CASE("a long story") {\n' + body + "}\n"
            "}\n"
        )
        found = list(tidy.functions(tidy.SourceFile("x.cpp", text)))
        self.assertEqual([name for _, _, name in found], ["box()", "fetch()", '"a long story"'])
        self.assertEqual([length for _, length, _ in found], [62, 62, 62])


class the_command(unittest.TestCase):
    def run_on(self, tree: dict[str, str], *options: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as output:
            write_tree(Path(folder), tree)
            return tidy.main(["--root", folder, *options]), output.getvalue()

    def test_succeeds_on_a_clean_tree(self):
        self.assertEqual(self.run_on(test_of("int i;\n")), (0, "tidy: 0 findings in 2 files\n"))
        self.assertEqual(self.run_on(test_of("int i;\n"), "--quiet"), (0, ""))

    def test_fails_with_a_list_and_a_count(self):
        code, output = self.run_on(test_of("int i; \n\tint j;\n"), "--quiet")
        self.assertEqual(code, 1)
        self.assertEqual(output.count("\n"), 3)
        self.assertTrue(output.endswith("tidy: 2 findings in 2 files\n"))

    def test_prints_what_is_long_without_failing(self):
        long_test = test_of('TEST_CASE("a saga") {\n' + "    work();\n" * 500 + "}\n")
        code, output = self.run_on(long_test)
        self.assertEqual(code, 0)
        self.assertIn("506 lines  tests/simulation/thing_test.cpp\n", output)
        self.assertIn('thing_test.cpp:5 "a saga"\n', output)
        self.assertEqual(self.run_on(long_test, "--quiet"), (0, ""))


if __name__ == "__main__":
    unittest.main()
