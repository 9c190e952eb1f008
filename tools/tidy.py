#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The rules of docs/STYLE.md that no well-kept tool knows.

Run it from anywhere: `tools/tidy.py [--root DIR]`. Each broken rule is printed as `path:line: rule: message`
and the exit code is 1. `./dev check` runs this and the tools for layout, naming, spelling and licences.

Exceptions stand in tools/tidy_exceptions.toml and nowhere else, so that a review sees every new one. An
exception that excuses nothing any more is a broken rule itself.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from posixpath import dirname, join, normpath

COLUMNS_MAX = 110
CAPTION_WORDS_MIN = 6
EXCEPTIONS = "tools/tidy_exceptions.toml"

EMPTY_NAME = r"common|details?|helpers?|impl|misc|utils?|utilities"  # They say nothing about what is inside.

KERNEL_HEADER = (
    r"(asm|asm-generic|arpa|linux|net|netinet|netpacket|sys)/.*"
    r"|(aio|dirent|fcntl|ifaddrs|mqueue|netdb|poll|pthread|pwd|sched|signal|spawn|syscall|termios|unistd)\.h"
    r"|liburing.*"
)
FRAMEWORK_HEADER = r"boost/.*|asio(/.*|\.hpp)|uv\.h|event2?/.*"
COSTLY_HEADER = r"liburing(/.*|\.h)|openssl/.*|iostream"
# A replayed journal gives the same answers: time, chance, threads and addresses decide nothing.
IMPURE_HEADER = (
    r"c(?:stdio|time|locale|signal)|chrono|random|thread|mutex|shared_mutex|condition_variable|atomic|future"
    r"|filesystem|format|print|syncstream|unordered_(?:map|set)|.*stream|iomanip|ios|.*[./].*"
)

# -------- Reading C++ as text --------

# Identifiers and numbers are matched too, so that neither R"( nor the quote of 10'000 is misread.
CPP_TOKEN = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<literal> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
                 | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    | [A-Za-z_]\w* | \.?\d(?:[eEpP][+-]|['\w.])*
    """,
    re.VERBOSE | re.DOTALL,
)
NOT_NEWLINE = re.compile(r"[^\n]")
BRACKET = re.compile(r"[()\[\]{}]")
INITIALISER = re.compile(r"\{([^;{}]*)\}")
CONTROL_HEADER = re.compile(r"\s*(?:else\s+)?(?:if|while|for|switch)\b\s*(?:constexpr\s*)?(?=\()")


def strip_cpp(text: str) -> str:
    """`text` with comments and the insides of literals blanked; every offset stays the same."""

    def blank(match: re.Match) -> str:
        if match["literal"]:
            return match[0][0] + NOT_NEWLINE.sub(" ", match[0][1:-1]) + match[0][-1]
        return NOT_NEWLINE.sub(" ", match[0]) if match["comment"] else match[0]

    return CPP_TOKEN.sub(blank, text)


def closing(code: str, opening: int) -> int:
    """The offset of the bracket that closes the one at `opening`, or the end of `code`."""
    depth = 0
    for match in BRACKET.finditer(code, opening):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    return len(code)


def awaiting_statements(code: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each statement with co_await, roughly: what stands between semicolons and the braces
    of blocks, without the `if (...)` in front of it. Braces without a semicolon are initialisers."""
    flat, changed = code, 1
    while changed:
        flat, changed = INITIALISER.subn(r"(\1)", flat)
    for match in re.finditer(r"[^;{}]+", flat):
        start = match.start()
        while header := CONTROL_HEADER.match(flat, start, match.end()):
            start = closing(flat, header.end()) + 1
        if "co_await" in flat[start : match.end()]:
            yield start, flat[start : match.end()]


# -------- The project's files, and the exceptions that are granted --------


@dataclass
class SourceFile:
    path: str
    text: str

    @cached_property
    def code(self) -> str:
        """The text with comments and the insides of literals blanked."""
        return strip_cpp(self.text)

    @cached_property
    def includes(self) -> list[tuple[int, str]]:
        """Line and target, as it is written: `<a/b.hpp>` or `"c.hpp"`."""
        # Found in the code, so that a commented one does not count; read from the text.
        found = re.finditer(r"^[ \t]*#[ \t]*include[ \t]*", self.code, re.MULTILINE)
        targets = [re.compile(r'<[^>\n]+>|"[^"\n]+"').match(self.text, match.end()) for match in found]
        return [(self.line_at(target.start()), target[0]) for target in targets if target]

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1


class Exceptions:
    """Rule -> path -> what is excused there; the latter two are patterns as in the shell."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tables: dict[str, dict[str, list[str]]] = tomllib.loads(text)
        self.used: set[tuple[str, str, str]] = set()

    def excuse(self, rule: str, path: str, subject: str) -> bool:
        entries = [(rule, key, word) for key, words in self.tables.get(rule, {}).items() for word in words]
        found = [entry for entry in entries if fnmatchcase(path, entry[1]) and fnmatchcase(subject, entry[2])]
        self.used.update(found[:1])
        return bool(found)

    def dead(self) -> Iterator[tuple[int, str]]:
        tables = self.tables.items()
        entries = {(rule, key, word) for rule, table in tables for key in table for word in table[key]}
        for rule, key, pattern in entries - self.used:
            offset = self.text.index(f'"{key}"', self.text.index(f"[{rule}]"))
            line = self.text.count("\n", 0, offset) + 1
            yield line, f"{rule}: `{pattern}` for {key} excuses nothing any more"


class Project:
    """The texts of all files that belong to the project, by path, and the layer table they must obey."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.files = [SourceFile(path, text) for path, text in texts.items()]
        self.paths = texts.keys()
        self.exceptions = Exceptions(texts.get(EXCEPTIONS, ""))
        self.layers = parse_layers(texts.get("ARCHITECTURE.md", ""))

    def resolve(self, file: SourceFile, target: str) -> str:
        """The project's file that an include means, or "" if it comes from elsewhere."""
        folders = ["include", "src", "", "tests"]
        for folder in [dirname(file.path), *folders] if target[0] == '"' else folders:
            if (path := normpath(join(folder, target[1:-1]))) in self.paths:
                return path
        # A header that does not exist yet still belongs to a layer.
        return join("include", target[1:-1]) if target[1:].startswith("gyre/") else ""


def read_texts(root: Path) -> dict[str, str]:
    """What git tracks or would track."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    paths = [root / path for path in sorted(set(listing.split("\0")))]  # Also deleted ones, while tracked.
    contents = {str(path.relative_to(root)): path.read_bytes() for path in paths if path.is_file()}
    return {path: text.decode(errors="replace") for path, text in contents.items() if b"\0" not in text}


# -------- The layer table of ARCHITECTURE.md --------


@dataclass(frozen=True)
class Layers:
    grants: dict[str, set[str]]  # Layer, part or application -> the rows it may include; `*` is all.
    kernel: set[str]  # Layers that may touch the kernel.
    private_tests: set[str]  # Test folders that may look into src/.

    def is_strict(self, name: str) -> bool:
        return name in self.grants and "*" not in self.grants[name]


def parse_layers(markdown: str) -> Layers:
    """Each row below `| layer | may include`: its names, what is granted to them, and the kernel or not."""
    _, heading, table = markdown.partition("\n| layer | may include")
    if not heading:
        raise SystemExit("tidy: ARCHITECTURE.md has no table headed `| layer | may include ... |`")
    layers, above = Layers({"*": set()}, set(), set()), set()
    rows = [line.split("|")[1:-1] for line in takewhile(lambda row: row[:1] == "|", table.split("\n")[2:])]
    for names, granted, kernel in rows:
        above = parse_grant(granted, above)
        layers.grants.update(dict.fromkeys(re.findall(r"`([\w/-]+)`", names), above))
        if kernel.strip("* ").startswith("yes"):
            layers.kernel.update(re.findall(r"`([\w/-]+)`", names))
        if "src/" in granted:
            layers.private_tests.update(re.findall(r"`(tests/\w+)`", granted))
    if unknown := set().union(*layers.grants.values()) - layers.grants.keys():
        raise SystemExit(f"tidy: ARCHITECTURE.md grants `{min(unknown)}`, which has no row of its own")
    return layers


def parse_grant(cell: str, above: set[str]) -> set[str]:
    """Understands `nothing`, `base, coro`, `as above, plus http`, `public headers of anything`.
    Remarks in brackets and whatever follows a semicolon grant no layer."""
    text = re.sub(r"\([^)]*\)|;.*|`", "", cell).strip()
    text = text.replace("public headers of anything", "*").removeprefix("nothing")
    granted = set(re.findall(r"[\w/-]+|\*", re.sub(r"^as above|\bplus\b|\band\b", " ", text)))
    return granted | (above if text.startswith("as above") else set())


def place_of(path: str, layers: Layers) -> tuple[str, str]:
    """Where a file stands: "umbrella", "public" or "private" (src/) and the layer, or "" and its row."""
    if path == "include/gyre/gyre.hpp":
        return "umbrella", ""
    if layer := re.match(r"(include/gyre|src)/(?:(\w+)/)?", path):
        return "private" if layer[1] == "src" else "public", layer[2] or ""
    return "", max((name for name in layers.grants if path.startswith(name + "/")), key=len, default="")


def why_forbidden(layers: Layers, includer: str, included: str) -> str:
    """Why the file `includer` may not include `included`; empty if it may."""
    (kind, name), (kind_there, there) = place_of(includer, layers), place_of(included, layers)
    allowed = layers.grants.get(name, set())
    folder = "/".join(includer.split("/")[:2])
    if kind_there == "private" and kind != "private" and folder not in layers.private_tests:
        return f"src/ is private; only {', '.join(sorted(layers.private_tests))} may look inside"
    if re.match(r"lab/(?!kit/)", included) and not includer.startswith("lab/"):
        return "of the lab, other folders include lab/kit only"
    if "/tests/" in f"/{included}" and "/tests/" not in f"/{includer}":
        return "only tests include tests"
    if kind_there == "umbrella" and kind:
        return "the umbrella header is for applications"
    if (kind == "umbrella" and kind_there) or "*" in allowed or there in {name, *allowed}:
        return ""
    return f"`{name}` may not include `{there}` (only itself and: {', '.join(sorted(allowed)) or 'nothing'})"


# -------- The rules: each finding is a line, a message, and the word by which an exception names it --------

Findings = Iterator[tuple[int, str, str]]
Check = Callable[[SourceFile, Project], Findings]


def matches(pattern: str, message: str, part: str = "code") -> Check:
    """Finds `pattern` in the code, the text or the awaiting statements; an exception names its group."""
    compiled = re.compile(pattern, re.MULTILINE)

    def check(file: SourceFile, _: Project) -> Findings:
        parts = awaiting_statements(file.code) if part == "awaiting" else [(0, getattr(file, part))]
        for offset, text in parts:
            for match in compiled.finditer(text):
                yield file.line_at(offset + match.start(compiled.groups)), message, match[compiled.groups]

    return check


def system_headers(pattern: str, message: str) -> Check:
    """Finds headers that are none of the project's; an exception names the header."""

    def check(file: SourceFile, project: Project) -> Findings:
        for line, target in file.includes:
            if re.fullmatch(pattern, target[1:-1]) and not project.resolve(file, target):
                yield line, f"{target}: {message}", target[1:-1]

    return check


def check_caption(file: SourceFile, _: Project) -> Findings:
    comment = re.match(r"(?://.*\n|[ \t]*\n)*", file.text)[0]
    if len(re.sub(r"//.*SPDX-.*|/", "", comment).split()) < CAPTION_WORDS_MIN:
        yield 1, "say why this header exists, in a comment after the licence and before any code", ""


def check_layers(file: SourceFile, project: Project) -> Findings:
    layers, (kind, name) = project.layers, place_of(file.path, project.layers)
    if kind in {"public", "private"} and not layers.is_strict(name):
        yield 1, "this folder is not a layer of the table in ARCHITECTURE.md", name
    elif kind or name:
        for line, target in file.includes:
            there = project.resolve(file, target)
            if any(place_of(there, layers)) and (reason := why_forbidden(layers, file.path, there)):
                yield line, f"{target}: {reason}", target[1:-1]


def check_kernel_headers(file: SourceFile, project: Project) -> Findings:
    kind, name = place_of(file.path, project.layers)
    if (kind or name) and name not in project.layers.kernel:
        yield from system_headers(KERNEL_HEADER, "only `runtime` touches the kernel")(file, project)


def check_twin(file: SourceFile, project: Project) -> Findings:
    """A module is tested by the test of its name, or by one for which an exception names the module."""
    match = re.fullmatch(r"(?:include/gyre/|src/)?((exchange/)?(\w+/\w+))\.(?:hpp|cpp)", file.path)
    kind, name = place_of(file.path, project.layers)
    if not match or not project.layers.is_strict(name) or not (kind or match[2]):
        return
    twin = f"{match[2] or ''}tests/{match[3]}_test.cpp"
    if twin not in project.paths:
        table = project.exceptions.tables.get("twin", {})
        tests = [test for test in table if test in project.paths and match[1] in table[test]]
        project.exceptions.used.update(("twin", test, match[1]) for test in tests)
        if not tests:
            yield 1, f"its test is missing: {twin}", ""


def check_name(file: SourceFile, _: Project) -> Findings:
    for name in file.path.split("/"):
        # The head of a compound comes last: `string_utils` are utils, a `detail_page` is a page.
        if re.fullmatch(EMPTY_NAME, re.split(r"[_-]", name.split(".")[0].removesuffix("_test"))[-1]):
            yield 1, f"the name `{name}` says nothing about what is inside; name the noun", name


def check_await_condition(file: SourceFile, _: Project) -> Findings:
    """One of the things that g++ 12 miscompiles in coroutines; docs/STYLE.md tells the reasons."""
    for match in re.finditer(r"\b(if|while|switch)\s*(?:constexpr\s*)?\(", file.code):
        if "co_await" in file.code[match.end() : closing(file.code, match.end() - 1)]:
            yield file.line_at(match.start()), "co_await in a condition: await first, then branch", match[1]


LAMBDA_START = re.compile(r"(?<![\w\])\[])\[(?![\[\]])|\b(?:return|co_await|co_return|co_yield)\s*\[(?!\])")


def check_lambda_coroutine(file: SourceFile, _: Project) -> Findings:
    """Finds `[captures](...) -> task<...> {...}(`. In the library clang-tidy forbids all captures."""
    code = file.code
    for match in LAMBDA_START.finditer(code):
        after = closing(code, match.end() - 1) + 1
        if parameters := re.compile(r"\s*\(").match(code, after):
            after = closing(code, parameters.end() - 1) + 1
        if body := re.compile(r"[^;{}()\[\]]*\{").match(code, after):
            end = closing(code, body.end() - 1) + 1
            is_coroutine = re.search(r"\btask\s*<|\bco_(?:await|return|yield)\b", code[after:end])
            if is_coroutine and re.compile(r"\s*\)?\s*\(").match(code, end):
                yield file.line_at(match.start()), "a lambda's captures die before this coroutine runs", ""


ANY, HEADER, CPP = r".", r".*\.hpp$", r".*\.[hc]pp$"
CODE = r".*\.(hpp|cpp|cmake|py|sh|c|h)$|(.*/)?CMakeLists\.txt$|dev$|\.ci/run$"
LIBRARY, PUBLIC = r"(src|include/gyre)/(?!interop/).*pp$", r"include/gyre/.*pp$"
TESTS, PURE = r"((exchange|lab)/)?tests/.*pp$", r"exchange/core/.*pp$"
NOTE = r"\b(F[I]XME\b|T[O]DO\b(?!\((?:api|docs|perf|port|sim|test)\)))"
# `co_await gyre::sleep_for(...)` is a timer that the test's loop owns; these block the thread.
THREAD_SLEEP = r"\bthis_thread\b(?!\s*::\s*(?:yield|get_id)\b)|\b\w*nanosleep\b"
SLEEP = THREAD_SLEEP + r"|(?<!co_await\s)(?<![\w.:>])(?:::)?u?sleep\s*\("
SPLIT_NAME = r"\bTEST_CASE\w*\(\s*\"[^\"]*[][;*?\\]"  # By ctest, or by doctest's filter.
MACRO = r"^[ \t]*#[ \t]*((?:define|elif|if\w*)\b(?:[ \t]*\w+)?)"
NO_LICENCE = r"\A(?!(?:.*\n)?.*SPDX-License-[I]dentifier:)"
TERNARY, NEW = r"\A(?=[\s\S]*\?)[\s\S]*?(\bco_await\b)", r"\b(new|throw)\b[\s\S]*?\bco_await\b"

# Name, the paths that it looks at, and what it looks for.
RULES: list[tuple[str, str, Check]] = [
    ("licence", CODE, matches(NO_LICENCE, "name the licence in the first two lines", "text")),
    ("caption", HEADER, check_caption),
    ("layers", CPP, check_layers),
    ("kernel-header", CPP, check_kernel_headers),
    ("framework-header", LIBRARY, system_headers(FRAMEWORK_HEADER, "only `interop` includes frameworks")),
    ("pure-part", PURE, system_headers(IMPURE_HEADER, "this part computes from its input alone")),
    ("public-header", PUBLIC, system_headers(COSTLY_HEADER, "users of the header would pay for this")),
    ("twin", CPP, check_twin),
    ("name", ANY, check_name),
    ("note", CODE, matches(NOTE, "a note names its area: api, docs, perf, port, sim or test", "text")),
    ("macro", CPP, matches(MACRO, "the preprocessor lives in `base`")),
    ("pragma-once", HEADER, matches(r"\A(?![\s\S]*^#pragma once\b)", "a header needs `#pragma once`")),
    ("sleep", TESTS, matches(SLEEP, "a test waits for an event, never for time to pass")),
    ("test-name", TESTS, matches(SPLIT_NAME, "ctest would not find this test by its name", "text")),
    ("line-length", CODE, matches(f".{{{COLUMNS_MAX + 1}}}", f"over {COLUMNS_MAX} columns", "text")),
    ("final-newline", ANY, matches(r"[^\n]\Z", "the last line has no newline", "text")),
    ("await-condition", CPP, check_await_condition),
    ("await-ternary", CPP, matches(TERNARY, "co_await and ?: in one statement: use two", "awaiting")),
    ("await-new", CPP, matches(NEW, "co_await inside `new` or `throw`: await it first", "awaiting")),
    ("lambda-coroutine", CPP, check_lambda_coroutine),
]


def check_project(project: Project) -> list[str]:
    findings = [
        (file.path, line, rule, message)
        for rule, paths, check in RULES
        for file in project.files
        if re.match(paths, file.path)
        for line, message, subject in check(file, project)
        if not project.exceptions.excuse(rule, file.path, subject)
    ]
    findings += [(EXCEPTIONS, line, "dead-exception", text) for line, text in project.exceptions.dead()]
    return [f"{path}:{line}: {rule}: {message}" for path, line, rule, message in sorted(findings)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR")
    project = Project(read_texts(parser.parse_args().root))
    findings = check_project(project)
    print(*findings, f"tidy: {len(findings)} findings in {len(project.files)} files", sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
