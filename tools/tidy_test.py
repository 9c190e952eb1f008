# SPDX-License-Identifier: BSL-1.0
"""Tests of tidy.py: for every rule, small trees that break it and small trees that keep it.

A tree is a dictionary from path to text. A tree that breaks a rule must break that rule and no other; a tree
that keeps it must be clean altogether. So each sample also guards all other rules against false alarms.
"""

import subprocess
import sys

import pytest
import tidy

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
| `lab/kit` | base | no |
| `examples`, `exchange`, `lab` | public headers of anything | through the library |
| `tests` | as above; `tests/runtime`, `tests/laws` also `src/` | |

| another table | with other words |
|---|---|
| `none` | of our business |
"""
LICENCE = "// SPDX-License-" + "Identifier: BSL-1.0\n"
SHELL_LICENCE = LICENCE.replace("//", "#")
CAPTION = "//\n// What would be missing without this file, in words.\n"
LAWS = "tests/laws/backend_laws_test.cpp"
FIX_ME, TO_DO = "FIX" + "ME", "TO" + "DO"


def source(code: str = "int answer();\n") -> str:
    return LICENCE + code


def header(code: str = "int answer();\n") -> str:
    return LICENCE + CAPTION + "#pragma once\n\n" + code


def test(code: str) -> dict[str, str]:
    """A tree with one test file: the place with the fewest other rules."""
    return {"tests/simulation/thing_test.cpp": source(code)}


test.__test__ = False


def module(path: str, text: str = "") -> dict[str, str]:
    """A tree with one file of the library and its twin."""
    name = path.removeprefix("include/gyre/").removeprefix("src/").rsplit(".", 1)[0]
    twin = f"tests/{name}_test.cpp".replace("tests/exchange/", "exchange/tests/")
    return {path: text or (header() if path.endswith(".hpp") else source()), twin: source()}


def includes(path: str, *targets: str) -> dict[str, str]:
    """A tree where `path` includes `targets`."""
    text = (header if path.endswith(".hpp") else source)("".join(f"#include {each}\n" for each in targets))
    return module(path, text) if path.startswith(("include/", "src/", "exchange/core/")) else {path: text}


def coroutine(body: str) -> dict[str, str]:
    return test("task<> run() {\n" + body + "\n}\n")


def exceptions(text: str) -> dict[str, str]:
    return {tidy.EXCEPTIONS: text}


LOOP_BACKEND = {"src/runtime/loop_backend.hpp": header(), "tests/runtime/loop_backend_test.cpp": source()}

BROKEN: dict[str, list[dict[str, str]]] = {
    "licence": [
        {"examples/hello.cpp": "int main() {}\n"},
        {"CMakeLists.txt": "project(gyre)\n"},
        {"tools/plot.py": "#!/usr/bin/python3\n\n" + SHELL_LICENCE},
        {"dev": "#!/bin/bash\nset -e\n"},
    ],
    "caption": [
        {"lab/clock.hpp": LICENCE + "#pragma once\n"},
        {"lab/clock.hpp": LICENCE + "//\n// Tells the time.\n#pragma once\n"},
        module("include/gyre/base/result.hpp", LICENCE + "#pragma once\n" + CAPTION),
    ],
    "layers": [
        includes("include/gyre/base/result.hpp", "<gyre/coro/task.hpp>"),
        includes("src/tls/stream.cpp", "<gyre/http/message.hpp>"),
        includes("include/gyre/http/client.hpp", "<gyre/websocket/connection.hpp>"),
        includes("include/gyre/io/tcp.hpp", "<gyre/gyre.hpp>") | {"include/gyre/gyre.hpp": header()},
        includes("include/gyre/runtime/kernel.hpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
        includes("include/gyre/gyre.hpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
        includes("src/stream/pipe.cpp", '"../runtime/loop_backend.hpp"') | LOOP_BACKEND,
        includes("tests/io/tcp_test.cpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
        includes("lab/run.cpp", '"../src/runtime/loop_backend.hpp"') | LOOP_BACKEND,
        includes("src/base/check.cpp", '"support/harness.hpp"') | {"tests/support/harness.hpp": header()},
        includes("lab/run.cpp", '"support/harness.hpp"') | {"tests/support/harness.hpp": header()},
        includes("lab/kit/clock.cpp", "<gyre/coro/task.hpp>"),
        includes("lab/kit/clock.cpp", '"../run.hpp"') | {"lab/run.hpp": header()},
        includes("exchange/core/book.cpp", "<gyre/base/result.hpp>"),
        includes("exchange/core/book.cpp", '"../codec/sbe.hpp"') | {"exchange/codec/sbe.hpp": header()},
        includes("exchange/codec/sbe.cpp", '"../tests/core/model.hpp"')
        | {"exchange/tests/core/model.hpp": header()},
        includes("src/base/check.cpp", '"../../exchange/core/slab.hpp"') | module("exchange/core/slab.hpp"),
        module("include/gyre/plumbing/pipe.hpp") | {"tests/plumbing/pipe_test.cpp": source()},
        {"include/gyre/version.hpp": header()},
    ],
    "kernel-header": [
        includes("include/gyre/io/tcp.hpp", "<sys/socket.h>"),
        includes("src/coro/frame.cpp", "<unistd.h>"),
        includes("src/http/client.cpp", "<linux/tcp.h>"),
        includes("src/stream/pipe.cpp", "<liburing/io_uring.h>"),
        includes("exchange/main.cpp", "<sys/epoll.h>"),
    ],
    "framework-header": [
        includes("include/gyre/io/tcp.hpp", "<boost/asio.hpp>"),
        includes("src/runtime/ring.cpp", "<uv.h>"),
    ],
    "pure-part": [
        includes("exchange/core/book.cpp", f"<{name}>")
        for name in ("chrono", "unordered_map", "sstream", "boost/container/flat_map.hpp")
    ],
    "public-header": [
        includes("include/gyre/runtime/ring.hpp", "<liburing.h>"),
        includes("include/gyre/tls/context.hpp", "<openssl/ssl.h>"),
        includes("include/gyre/base/check.hpp", "<iostream>"),
    ],
    "twin": [
        {"include/gyre/base/result.hpp": header()},
        {"src/runtime/timer_queue.cpp": source(), "tests/runtime/timer_test.cpp": source()},
        {"exchange/core/book.hpp": header(), "tests/core/book_test.cpp": source()},
    ],
    "name": [
        {"tests/simulation/string_utils.cpp": source()},
        {"lab/helpers/clock.cpp": source()},
        {"tools/misc/plot.py": SHELL_LICENCE},
        module("include/gyre/coro/task_impl.hpp"),
        {"exchange/detail/a.cpp": source()},
    ],
    "note": [
        test(f"// {FIX_ME}: later\n"),
        test(f"// {TO_DO}: faster\n"),
        test(f"// {TO_DO}(ada): faster\n"),
        {"lab/run.sh": f"{SHELL_LICENCE}# {TO_DO}\n"},
    ],
    "macro": [
        test("#define ANSWER 42\n"),
        test("#ifdef __linux__\n#endif\n"),
        module("src/runtime/ring.cpp", source("#  if 1\n#  endif\n")),
    ],
    "pragma-once": [
        {"lab/clock.hpp": LICENCE + CAPTION + "int i;\n"},
        {"lab/clock.hpp": LICENCE + CAPTION + "// #pragma once\n"},
    ],
    "sleep": [
        test("void f() { std::this_thread::sleep_for(1s); }\n"),
        test("void f() { usleep(100); }\n"),
        test("void f() { ::sleep(1); }\n"),
        test("using namespace std::this_thread;\n"),
        test("void f() { clock_nanosleep(); }\n"),
        {"lab/tests/pace.cpp": source("void f() { std::this_thread::sleep_for(1s); }\n")},
    ],
    "test-name": [
        test('TEST_CASE("it stays open; nothing is lost") {}\n'),
        test('TEST_CASE_TEMPLATE_DEFINE("any [of] them", T, all) {}\n'),
        test('TEST_CASE(\n    "what now?") {}\n'),
    ],
    "line-length": [test("// " + "x" * 108 + "\n"), {"CMakeLists.txt": SHELL_LICENCE + "#" * 111 + "\n"}],
    "final-newline": [test("int i;"), {"README.md": "Hello"}],
    "await-condition": [
        coroutine("    if (co_await ready) co_return;"),
        coroutine("    while (!(co_await next()).ok()) { work(); }"),
        coroutine("    switch (co_await kind()) { default: break; }"),
        coroutine("    do { work(); } while (co_await more());"),
        coroutine("    if (auto n = co_await size(); n > 0) co_return;"),
    ],
    "await-ternary": [
        coroutine("    auto n = ready ? co_await first() : co_await second();"),
        coroutine("    auto n = co_await (left ? a() : b());"),
        coroutine("    auto n = co_await read({a, b}) ? 1 : 2;"),
        coroutine("    if (ready) n = co_await read(x ? 1 : 2);"),
    ],
    "await-new": [
        coroutine("    auto* p = new node(co_await next());"),
        coroutine("    throw failure{co_await reason()};"),
    ],
    "lambda-coroutine": [
        coroutine("    group.spawn([&client]() -> task<> { co_await talk(client); }());"),
        coroutine("    auto t = [=, this]() -> gyre::task<int> { co_return 1; }();"),
        coroutine("    run(io, [a = b[0]](int) mutable -> task<> {\n    co_await f(a);\n}(7));"),
        coroutine("    spawn(([&] () -> task<> { for (;;) { co_await g(); } })());"),
    ],
    "dead-exception": [
        exceptions('[macro]\n"tests/*" = ["*"]\n'),
        exceptions('[kernel-header]\n"src/io/tcp.cpp" = ["poll.h", "unistd.h"]\n')
        | includes("src/io/tcp.cpp", "<poll.h>"),
        exceptions(f'[twin]\n"{LAWS}" = ["io/tcp"]\n') | module("src/io/tcp.cpp") | {LAWS: source()},
        exceptions('[no-such-rule]\n"a.cpp" = ["*"]\n'),
    ],
}

KEPT: list[dict[str, str]] = [
    {"examples/hello.cpp": source("int main() {}\n"), "CMakeLists.txt": SHELL_LICENCE + "project(gyre)\n"},
    {"tools/plot.py": "#!/usr/bin/python3\n" + SHELL_LICENCE, "dev": "#!/bin/bash\n" + SHELL_LICENCE},
    {"README.md": "# gyre\n" + "x" * 500 + f"\nNo {FIX_ME} reaches main.\n", "lab/data.csv": "1,2\n"},
    # layers
    includes("src/websocket/frame.cpp", "<gyre/http/message.hpp>", "<gyre/stream/buffered.hpp>"),
    includes("include/gyre/coro/task.hpp", "<gyre/coro/awaitable.hpp>", "<coroutine>"),
    module("include/gyre/base/result.hpp", header("// #include <gyre/io/tcp.hpp>\n")),
    includes("include/gyre/gyre.hpp", "<gyre/base/result.hpp>", "<gyre/io/tcp.hpp>"),
    includes("src/runtime/ring.cpp", '"loop_backend.hpp"') | LOOP_BACKEND,
    includes("src/io/tcp.cpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
    includes("tests/runtime/ring_test.cpp", '"runtime/loop_backend.hpp"') | LOOP_BACKEND,
    includes("exchange/main.cpp", "<gyre/gyre.hpp>", "<gyre/websocket/connection.hpp>"),
    includes("exchange/core/book.cpp", "<exchange/core/slab.hpp>") | module("exchange/core/slab.hpp"),
    includes("exchange/codec/sbe.cpp", "<exchange/core/slab.hpp>") | module("exchange/core/slab.hpp"),
    includes("exchange/tests/codec/sbe_test.cpp", '"../core/model.hpp"')
    | {"exchange/tests/core/model.hpp": header()},
    includes("exchange/bench/run.cpp", '"lab/kit/clock.hpp"')
    | includes("lab/kit/clock.hpp", "<gyre/base/result.hpp>"),
    # headers of others
    includes("include/gyre/runtime/kernel.hpp", "<sys/socket.h>"),
    includes("src/runtime/ring.cpp", "<linux/io_uring.h>", "<unistd.h>", "<liburing.h>"),
    includes("include/gyre/interop/asio.hpp", "<boost/asio.hpp>") | includes("lab/asio.cpp", "<uv.h>"),
    includes("exchange/core/book.cpp", "<algorithm>", "<bit>", "<vector>", "<cstdint>"),
    includes("exchange/net/session.cpp", "<chrono>", "<boost/asio.hpp>"),
    includes("src/tls/context.cpp", "<openssl/ssl.h>", "<iostream>"),
    includes("include/gyre/base/check.hpp", "<iosfwd>"),
    # twins and names
    module("include/gyre/base/result.hpp") | {"src/base/result.cpp": source()},
    module("src/runtime/timer_queue.cpp") | {"include/gyre/gyre.hpp": header()},
    module("exchange/core/book.hpp") | {"exchange/core/book.cpp": source(), "exchange/net/a.cpp": source()},
    {"exchange/common_stock.cpp": source(), "exchange/detailed_report.cpp": source()},
    # words
    test(f"int pre{FIX_ME};\n// {TO_DO}(perf): one copy too many.\n// {TO_DO}(port): other kernels.\n"),
    test("/*\n#define NOTHING\n*/\n"),
    test("// " + "x" * 107 + "\n// " + "\u00fc" * 107 + "\n"),
    test('const char* text = "sleep(1)";  // usleep(1) would be wrong.\n'),
    coroutine("    co_await gyre::sleep_for(1ms);\n    co_await sleep(1ms);\n    world.sleep(3);"),
    test("void f() { std::this_thread::yield(); }\n"),
    test('TEST_CASE("a name, and another") { CHECK(a[0] == "x;"); }\n'),
    {"lab/pace.cpp": source("void f() { std::this_thread::sleep_for(1s); }\n")},
    # coroutines
    coroutine("    auto ready = co_await wait();\n    if (ready) co_await proceed();"),
    coroutine('    if (text == "co_await") co_return;  // if (co_await x)\n    co_await x;'),
    coroutine("    auto size = large ? 4096 : 64;\n    auto n = co_await read(size);"),
    coroutine("    if (large ? a : b) co_await read();"),
    coroutine('    co_await say("really?");  // or not?'),
    coroutine("    co_await one();\n    for (auto x : xs) { y = x ? 1 : 2; }\n    co_await two();"),
    coroutine("    auto n = co_await read();\n    auto* p = new node(n);\n    co_await newer(p);"),
    coroutine("    if (bad) throw failure();\n    co_await read();"),
    coroutine("    group.spawn([]() -> task<> { co_return; }());"),
    coroutine("    on_every_backend([&](io_context& io) -> task<> { co_await talk(io); });"),
    coroutine("    int n = [&] { return 7; }();\n    co_await later(n);"),
    coroutine("    co_await table[n](7);\n    auto [e, n] = co_await read();\n    { f(n); }"),
    # exceptions that excuse something
    exceptions('[macro]\n"tests/*" = ["define DOCTEST_*"]\n') | test("#define DOCTEST_CONFIG_IMPLEMENT\n"),
    exceptions('[kernel-header]\n"src/io/tcp.cpp" = ["poll.h"]\n') | includes("src/io/tcp.cpp", "<poll.h>"),
    exceptions('[await-condition]\n"tests/*" = ["*"]\n') | coroutine("    if (co_await ready) co_return;"),
    exceptions(f'[twin]\n"{LAWS}" = ["io/tcp"]\n') | {"src/io/tcp.cpp": source(), LAWS: source()},
]


def check(tree: dict[str, str], architecture: str = ARCHITECTURE) -> list[str]:
    return tidy.check_project(tidy.Project(tree | {"ARCHITECTURE.md": architecture}))


def test_every_rule_has_samples():
    assert {rule for rule, _, _ in tidy.RULES} | {"dead-exception"} == set(BROKEN)


@pytest.mark.parametrize(("rule", "tree"), [(rule, tree) for rule, trees in BROKEN.items() for tree in trees])
def test_a_tree_that_breaks_a_rule_breaks_no_other(rule, tree):
    assert {finding.split(": ")[1] for finding in check(tree)} == {rule}


@pytest.mark.parametrize("tree", KEPT)
def test_a_tree_that_keeps_the_rules_is_clean(tree):
    assert check(tree) == []


def test_a_finding_names_path_line_rule_and_message():
    found = check(includes("src/io/tcp.cpp", "<cerrno>", "<gyre/base/error.hpp>", "<unistd.h>"))
    assert found == ["src/io/tcp.cpp:4: kernel-header: <unistd.h>: only `runtime` touches the kernel"]


def test_an_exception_excuses_only_what_it_names():
    tree = exceptions('[macro]\n"tests/*" = ["define DOCTEST_*"]\n')
    found = check(tree | test("#define DOCTEST_CONFIG_IMPLEMENT\n#define MORE\n"))
    assert found == ["tests/simulation/thing_test.cpp:3: macro: the preprocessor lives in `base`"]


def test_a_dead_exception_is_found_in_its_own_table():
    tree = exceptions('[await-new]\n"tests/*" = ["*"]\n\n[macro]\n"tests/*" = ["*"]\n')
    assert [finding.split(":")[1] for finding in check(tree | test("#define X\n"))] == ["2"]


def test_the_layer_table_is_understood():
    layers = tidy.parse_layers(ARCHITECTURE)
    assert layers.grants["base"] == set()
    assert layers.grants["io"] == {"base", "coro", "stream", "runtime"}
    assert layers.grants["tls"] == layers.grants["http"] == {"base", "coro", "stream"}
    assert layers.grants["websocket"] == {"base", "coro", "stream", "http"}
    assert layers.grants["lab"] == layers.grants["tests"] == {"*"}
    assert layers.is_strict("base")
    assert not layers.is_strict("lab")
    assert layers.kernel == {"runtime"}
    assert layers.private_tests == {"tests/runtime", "tests/laws"}
    assert "none" not in layers.grants


@pytest.mark.parametrize(
    ("architecture", "reason"),
    [("# No table\n", "no table"), (ARCHITECTURE.replace("`coro` | base", "`coro` | magic"), "`magic`")],
)
def test_a_layer_table_that_is_missing_or_wrong_ends_the_run(architecture, reason):
    with pytest.raises(SystemExit, match=reason):
        check({}, architecture)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("int i; // why\nint j;", "int i;       \nint j;"),
        ("a /* b\nc */ d", "a     \n     d"),
        ("f(\"x;y\", '{');", "f(\"   \", ' ');"),
        ('f("a\\"b");', 'f("    ");'),
        ("int n = 10'000; // it's", "int n = 10'000;        "),
        ("char c = L'x', d = u8'\\'';", "char c = L' ', d = u8'  ';"),
        ('auto s = R"(a "b" // c)"; int i;', "auto s = R" + " " * 13 + '"; int i;'),
        ('"//" + x // y', '"  " + x     '),
    ],
)
def test_comments_and_literals_are_blanked_in_place(text, code):
    assert tidy.strip_cpp(text) == code


def test_files_are_those_that_git_does_not_ignore(tmp_path):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True, capture_output=True)
    for path, text in {".gitignore": "out/\n", "a.cpp": "int i;\n", "out/b.cpp": "", "image": "\0"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert tidy.read_texts(tmp_path) == {".gitignore": "out/\n", "a.cpp": "int i;\n"}


def test_the_command_fails_with_a_list_and_a_count(tmp_path, capsys, monkeypatch):
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True, capture_output=True)
    (tmp_path / "ARCHITECTURE.md").write_text(ARCHITECTURE)
    monkeypatch.setattr(sys, "argv", ["tidy.py", "--root", str(tmp_path)])
    assert tidy.main() == 0
    assert capsys.readouterr().out == "tidy: 0 findings in 1 files\n"
    (tmp_path / "README.md").write_text("Hello")
    assert tidy.main() == 1
    assert capsys.readouterr().out == (
        "README.md:1: final-newline: the last line has no newline\ntidy: 1 findings in 2 files\n"
    )
