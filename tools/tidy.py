#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The style rules of docs/STYLE.md that a program can check.

Run it from anywhere: `tools/tidy.py [--root DIR] [--quiet]`. Each broken rule is printed as
`path:line: rule: message`, then a count, and the exit code is 1. Long files and functions are
printed too, as advice: they fail nothing.

What is inside, top to bottom: the exceptions we grant; reading C++ as text; the project's files;
the layer table, parsed from ARCHITECTURE.md; one small function per rule; the table of rules;
the advice. Exceptions stand in this file and nowhere else, so that a review sees every new one.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath

COLUMNS_MAX = 110
CAPTION_WORDS_MIN = 6
FILE_LINES_ADVISED = 400
FUNCTION_LINES_ADVISED = 50
ADVICE_ROWS_MAX = 10

# ---------------------------------------------------------------------------------------------
# The exceptions we grant
# ---------------------------------------------------------------------------------------------

# Modules without a twin of their own, and the file that tests them instead.
TESTED_ELSEWHERE = {
    # The seam: one set of laws judges every backend and tier, so that none has private habits.
    "runtime/loop_backend": "tests/laws/backend_laws_test.cpp",
    "runtime/uring_backend": "tests/laws/backend_laws_test.cpp",
    "runtime/epoll_backend": "tests/laws/backend_laws_test.cpp",
    "runtime/perform": "tests/laws/backend_laws_test.cpp",
    # Plain records and their submission mean nothing apart from the backend that executes them.
    "runtime/operation": "tests/laws/backend_laws_test.cpp",
    "runtime/source": "tests/laws/backend_laws_test.cpp",
    "runtime/submit": "tests/laws/backend_laws_test.cpp",
    "runtime/system_host": "tests/laws/backend_laws_test.cpp",
    "runtime/host": "tests/laws/backend_laws_test.cpp",
    "runtime/handle": "tests/laws/backend_laws_test.cpp",
    "runtime/waker": "tests/laws/backend_laws_test.cpp",
    # Where rings are refused, late or early, is where their lives are judged.
    "runtime/choose_backend": "tests/runtime/fallback_test.cpp",
    "runtime/uring_backend_life": "tests/runtime/fallback_test.cpp",
    # What a failed step ends is seen from outside, by whoever listens or binds.
    "io/socket_steps": "tests/io/acceptor_test.cpp",
    "runtime/call": "tests/runtime/thread_pool_test.cpp",
    # The simulated backend obeys the same laws as the real ones.
    "sim/sim_backend": "tests/laws/backend_laws_test.cpp",
    # Numbers and struct layouts of the kernel: the ring that uses them is what can be wrong.
    "runtime/uring_abi": "tests/runtime/uring_ring_test.cpp",
    # The words of the trade: whatever can be wrong about them shows in what is made of them.
    "exchange/core/types": "exchange/tests/core/events_test.cpp",
    "exchange/core/commands": "exchange/tests/core/partition_test.cpp",
    "exchange/core/venue": "exchange/tests/core/partition_test.cpp",
    "exchange/core/check": "exchange/tests/core/slab_test.cpp",
    # Plain answers of the two SoupBinTCP machines, and of the decoder of commands.
    "exchange/codec/soup_step": "exchange/tests/codec/soup_server_test.cpp",
    "exchange/codec/soup_output": "exchange/tests/codec/soup_server_test.cpp",
    "exchange/codec/book_page": "exchange/tests/codec/book_codec_test.cpp",
    "exchange/codec/message_rejected": "exchange/tests/codec/command_codec_test.cpp",
    # One set of laws judges both sides of the exchange's seam, and all of their parts.
    "exchange/net/executor_traits": "exchange/tests/net/gyre_traits_test.cpp",
    "exchange/net/gyre_connector": "exchange/tests/net/gyre_traits_test.cpp",
    "exchange/net/gyre_timer": "exchange/tests/net/gyre_traits_test.cpp",
    "exchange/net/gyre_signal_set": "exchange/tests/net/gyre_traits_test.cpp",
    "exchange/net/stop_token": "exchange/tests/net/gyre_traits_test.cpp",
    "exchange/net/asio_acceptor": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_buffers": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_connector": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_datagram_batch": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_datagram_operations": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_event": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_io_result": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_loop": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_signal_set": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_socket": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_stream_socket": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_timer": "exchange/tests/net/asio_traits_test.cpp",
    "exchange/net/asio_udp_socket": "exchange/tests/net/asio_traits_test.cpp",
    # How a configuration is read shows in what is said of bad ones.
    "exchange/management/json_section": "exchange/tests/management/config_test.cpp",
    "exchange/management/json_syntax": "exchange/tests/management/config_test.cpp",
}

# System headers outside the layer that touches the kernel, file by file.
KERNEL_HEADERS_GRANTED = {
    # io/ names the kernel's numbers and lays out its structs, for the operations it fills in; it calls
    # nothing but conversions of text.
    "src/io/acceptor.cpp": {"sys/socket.h"},
    "src/io/datagram_batch.cpp": {"sys/socket.h", "sys/uio.h"},
    "src/io/udp_socket.cpp": {"netinet/in.h", "sys/socket.h", "sys/uio.h"},
    "src/io/endpoint.cpp": {"sys/socket.h", "netinet/in.h", "sys/un.h", "arpa/inet.h"},
    "src/io/serve.cpp": {"sys/socket.h"},
    "src/io/signals.cpp": {"poll.h"},
    "src/io/socket_options.cpp": {"sys/socket.h", "netinet/in.h", "netinet/tcp.h"},
    "src/io/stream_socket.cpp": {"sys/socket.h", "sys/uio.h", "poll.h"},
    # Asio's side of the exchange's seam asks the kernel for what Asio has no words for.
    "exchange/net/asio_udp_socket.cpp": {"net/if.h", "netinet/in.h", "sys/socket.h"},
    # And its laws ask the kernel what was really set.
    "exchange/tests/net/datagram_laws.hpp": {"netinet/in.h", "sys/socket.h"},
    "exchange/tests/net/stream_laws.hpp": {"netinet/in.h", "netinet/tcp.h", "sys/socket.h"},
    # Where a thread runs is no operation of a loop's: it is asked for before there is one.
    "exchange/management/affinity.cpp": {"sched.h"},
}

# Test folders that may look behind the public headers, beside those the layer table names.
PRIVATE_TESTS_GRANTED = {"tests/laws"}  # The laws drive loop_backend itself.

# Programs that show what a compiler gets wrong must contain what it gets wrong.
COROUTINE_RULES_WAIVED = ("tests/toolchain/",)

TODO_AREAS = ("api", "docs", "perf", "port", "sim", "test")

# Names that say nothing about what is inside.
EMPTY_NAMES = {
    "common", "detail", "details", "helper", "helpers", "impl", "misc", "util", "utils", "utilities",
}

KERNEL_HEADER = re.compile(
    r"(asm|asm-generic|arpa|linux|net|netinet|netpacket|sys)/.*"
    r"|(aio|dirent|fcntl|ifaddrs|mqueue|netdb|poll|pthread|pwd|sched|signal|spawn|syscall|termios|unistd)\.h"
    r"|liburing.*"
)
FRAMEWORK_HEADER = re.compile(r"boost/.*|asio(/.*|\.hpp)|uv\.h|event2?/.*")
FRAMEWORK_LAYER = "interop"
PUBLIC_HEADER_BANNED = re.compile(r"liburing(/.*|\.h)|openssl/.*|iostream")

# What a part that stands on nothing but the standard library may not take from there either: whoever
# replays a journal must get the same answers, so nothing may come from outside.
PURE_PARTS = {"exchange/core"}
IMPURE_HEADER = re.compile(
    r"c(?:stdio|time|locale|signal)|chrono|random|thread|mutex|shared_mutex|condition_variable|atomic|future"
    r"|filesystem|format|print|syncstream|unordered_(?:map|set)|.*stream|iomanip|ios|.*[./].*"
)

# Applications whose code may call the system directly: tests provoke it, the lab measures it.
SYSTEM_HEADERS_WELCOME = {"tests", "lab", "examples"}

# The same for folders of others: the exchange is measured by the lab's means, and these are tested.
SYSTEM_HEADERS_WELCOME_FOLDERS = {"exchange/bench", "exchange/tests"}

# ---------------------------------------------------------------------------------------------
# Reading C++ as text
# ---------------------------------------------------------------------------------------------

# Identifiers and numbers are matched too, so that neither R"( nor the quote of 10'000 is misread.
CPP_TOKEN = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<raw> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)" )
    | (?P<literal> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
    | [A-Za-z_]\w* | \.?\d(?:[eEpP][+-]|['\w.])*
    """,
    re.VERBOSE | re.DOTALL,
)
NOT_NEWLINE = re.compile(r"[^\n]")
BRACKETS = {"(": ")", "[": "]", "{": "}"}


def strip_cpp(text: str) -> str:
    """`text` with comments and the insides of literals blanked; every offset stays the same."""

    def blank(match: re.Match) -> str:
        found = match.group()
        if match["comment"]:
            return NOT_NEWLINE.sub(" ", found)
        if match["raw"] or match["literal"]:
            return found[0] + NOT_NEWLINE.sub(" ", found[1:-1]) + found[-1]
        return found

    return CPP_TOKEN.sub(blank, text)


def closing(code: str, opening: int) -> int:
    """The offset of the bracket that closes the one at `opening`, or the end of `code`."""
    begin, end = code[opening], BRACKETS[code[opening]]
    depth = 0
    for match in re.compile(f"[{re.escape(begin + end)}]").finditer(code, opening):
        depth += 1 if match.group() == begin else -1
        if depth == 0:
            return match.start()
    return len(code)


def blocks(code: str) -> list[tuple[int, int]]:
    """The brace pairs that hold statements. Braces without a semicolon are taken for initialisers,
    except an empty pair where a body must stand."""
    found, open_braces = [], []
    for match in re.finditer(r"[{};]", code):
        if match.group() == "{":
            open_braces.append([match.start(), False])
        elif match.group() == ";":
            for brace in open_braces:
                brace[1] = True
        elif open_braces:
            start, has_statement = open_braces.pop()
            if has_statement or is_empty_body(code, start, match.start()):
                found.append((start, match.start()))
    return sorted(found)


def is_empty_body(code: str, start: int, end: int) -> bool:
    before = code[max(0, start - 40) : start].rstrip()
    return not code[start + 1 : end].strip() and bool(
        re.search(r"(\)|\b(?:const|do|else|noexcept|override|try))$", before)
    )


def statements(code: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each statement, roughly: what stands between semicolons and block braces,
    without the `if (...)` or the like in front of it."""
    start = 0
    for cut in [*statement_cuts(code, blocks(code)), len(code)]:
        begin = skip_control_headers(code, start, cut)
        yield begin, code[begin:cut]
        start = cut + 1


def statement_cuts(code: str, pairs: list[tuple[int, int]]) -> list[int]:
    """Where one statement ends and the next begins."""
    semicolons = {match.start() for match in re.finditer(";", code)}
    return sorted(semicolons.union(*pairs))


CONTROL_HEADER = re.compile(r"\s*(?:else\s+)?(?:if|while|for|switch)\b\s*(?:constexpr\s*)?(?=\()")


def skip_control_headers(code: str, start: int, end: int) -> int:
    while (match := CONTROL_HEADER.match(code, start, end)) is not None:
        start = closing(code, match.end()) + 1
    return min(start, end)


# ---------------------------------------------------------------------------------------------
# The project's files
# ---------------------------------------------------------------------------------------------

CODE = {"cpp", "cmake", "python", "shell"}
CPP = {"cpp"}
SUFFIX_KINDS = {
    ".hpp": "cpp", ".h": "cpp", ".cpp": "cpp", ".cc": "cpp", ".c": "cpp",
    ".cmake": "cmake", ".py": "python", ".sh": "shell", ".bash": "shell", ".md": "docs",
}
FOLDERS_SKIPPED = {".git", ".cache", "__pycache__", "build"}


@dataclass(frozen=True)
class Include:
    line: int
    target: str
    quoted: bool

    def __str__(self) -> str:
        return f'"{self.target}"' if self.quoted else f"<{self.target}>"


class SourceFile:
    """One file: its text, and its text as code (comments and literals blanked)."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.kind = kind_of(path, text)
        self.is_header = path.endswith((".hpp", ".h"))

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def code(self) -> str:
        return strip_cpp(self.text)

    @cached_property
    def includes(self) -> list[Include]:
        found = []
        # Found in the code, so that a commented one does not count; read from the text.
        for match in re.finditer(r"^[ \t]*#[ \t]*include[ \t]*", self.code, re.MULTILINE):
            target = re.compile(r'<([^>\n]+)>|"([^"\n]+)"').match(self.text, match.end())
            if target:
                found.append(Include(self.line_at(match.start()), target[1] or target[2], bool(target[2])))
        return found

    @cached_property
    def line_starts(self) -> list[int]:
        return [0] + [match.end() for match in re.finditer("\n", self.text)]

    def line_at(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset)


def kind_of(path: str, text: str) -> str:
    name = PurePosixPath(path)
    if name.name == "CMakeLists.txt":
        return "cmake"
    if name.suffix:
        return SUFFIX_KINDS.get(name.suffix, "")
    shebang = text.split("\n", 1)[0]
    if not shebang.startswith("#!"):
        return ""
    return "python" if "python" in shebang else "shell" if re.search(r"\b(ba)?sh\b", shebang) else ""


class Project:
    """All files below `root` that belong to the project, and the layer table they must obey."""

    def __init__(self, root: Path) -> None:
        self.files = [file for path in list_paths(root) if (file := read_source(root, path))]
        self.paths = {file.path for file in self.files}
        self.layers, self.layers_error = Layers({}, frozenset(), frozenset()), ""
        try:
            self.layers = parse_layers((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
        except FileNotFoundError:
            self.layers_error = "missing, and with it the layer table"
        except LayerTableError as error:
            self.layers_error = str(error)

    def resolve(self, file: SourceFile, include: Include) -> str | None:
        """The project's file that `include` means, or nothing if it comes from elsewhere."""
        folders = ["include", "src", "", "tests"]
        if include.quoted:
            folders.insert(0, dirname(file.path))
        for folder in folders:
            path = normpath(join(folder, include.target))
            if path in self.paths:
                return path
        # A header that does not exist yet still belongs to a layer.
        return join("include", include.target) if include.target.startswith("gyre/") else None


def list_paths(root: Path) -> list[str]:
    """What git tracks or would track; where git has no answer, whatever lies there."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    # A folder may lie inside somebody else's repository, so only a .git of its own counts.
    if (root / ".git").exists() and shutil.which("git"):
        listing = subprocess.run(command, check=False, capture_output=True, text=True)
        if listing.returncode == 0:
            return sorted(set(filter(None, listing.stdout.split("\0"))))
    paths = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in FOLDERS_SKIPPED]
        paths += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(paths)


def read_source(root: Path, path: str) -> SourceFile | None:
    where = root / path
    if where.is_symlink() or not where.is_file():  # A deleted file may still be tracked.
        return None
    content = where.read_bytes()
    return SourceFile(path, "" if b"\0" in content else content.decode("utf-8", errors="replace"))


# ---------------------------------------------------------------------------------------------
# The layer table
# ---------------------------------------------------------------------------------------------

ANYTHING = "*"


class LayerTableError(Exception):
    pass


@dataclass(frozen=True)
class Layers:
    grants: dict[str, frozenset[str]]  # Layer or application -> the layers it may include.
    kernel: frozenset[str]  # Layers that may touch the kernel.
    private_tests: frozenset[str]  # Test folders that may include what lies in src/.

    def may(self, includer: str, included: str) -> bool:
        granted = self.grants.get(includer, frozenset())
        return includer == included or included in granted or ANYTHING in granted

    def is_library(self, name: str) -> bool:
        return name in self.grants and ANYTHING not in self.grants[name]


def parse_layers(markdown: str) -> Layers:
    rows = list(layer_table_rows(markdown))
    names = {name for cells in rows for name in row_names(cells)}
    grants: dict[str, frozenset[str]] = {}
    kernel, private_tests = set(), set()
    above: frozenset[str] = frozenset()
    for cells in rows:
        above = parse_grant(cells[1], above, names)
        for name in row_names(cells):
            grants[name] = above
            if len(cells) > 2 and cells[2].strip("* ").startswith("yes"):
                kernel.add(name)
        if "src/" in cells[1]:
            private_tests.update(re.findall(r"`(tests/\w+)`", cells[1]))
    return Layers(grants, frozenset(kernel), frozenset(private_tests | PRIVATE_TESTS_GRANTED))


def layer_table_rows(markdown: str) -> Iterator[list[str]]:
    """The cells of each row below the heading `| layer | may include ...`."""
    lines = iter(markdown.split("\n"))
    if not any(re.match(r"\|\s*layer\s*\|\s*may include", line) for line in lines):
        raise LayerTableError("no table headed `| layer | may include ... |`")
    for line in lines:
        if not line.startswith("|"):
            return
        if not re.fullmatch(r"[|\s:-]+", line):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def row_names(cells: list[str]) -> list[str]:
    return re.findall(r"`([\w/-]+)`", cells[0])


def parse_grant(cell: str, above: frozenset[str], names: set[str]) -> frozenset[str]:
    """Understands `nothing`, `base, coro`, `as above, plus http`, `public headers of anything`.
    Remarks in brackets and whatever follows a semicolon grant no layer."""
    text = re.sub(r"\([^)]*\)", "", cell).split(";")[0].replace("`", "").strip()
    if text == "nothing":
        return frozenset()
    if text == "public headers of anything":
        return frozenset({ANYTHING})
    granted = set(above) if text.startswith("as above") else set()
    for name in re.findall(r"[\w/-]+", re.sub(r"^as above|\bplus\b|\band\b", " ", text)):
        if name not in names:
            raise LayerTableError(f"the layer table grants `{name}`, which has no row of its own")
        granted.add(name)
    return frozenset(granted)


@dataclass(frozen=True)
class Place:
    """Where a file stands in the house."""

    kind: str  # "umbrella", "public" (include/gyre/L), "private" (src/L), "part" or "application".
    name: str  # The layer, the part (exchange/core) or the application.
    folder: str  # For applications: the first two folders.


def place_of(path: str) -> Place | None:
    parts = path.split("/")
    if path == "include/gyre/gyre.hpp":
        return Place("umbrella", "", "")
    if path.startswith("include/gyre/"):
        return Place("public", parts[2] if len(parts) > 3 else "", "")
    if parts[0] == "src":
        return Place("private", parts[1] if len(parts) > 2 else "", "")
    if parts[0] == "exchange" and len(parts) > 2 and parts[1] not in {"tests", "bench"}:
        return Place("part", "/".join(parts[:2]), "")
    if parts[0] in {"examples", "exchange", "lab", "tests"}:
        return Place("application", parts[0], "/".join(parts[:2]))
    return None


def why_forbidden(layers: Layers, here: Place, there: Place) -> str:
    """Why a file `here` may not include one that stands `there`; empty if it may."""
    if here.kind == "part" and layers.is_library(here.name):
        if layers.may(here.name, there.name):
            return ""
        allowed = ", ".join(sorted(layers.grants[here.name])) or "nothing"
        return f"`{here.name}` may not include `{there.name}` (only itself and: {allowed})"
    if there.kind in {"application", "part"}:
        if here.kind not in {"application", "part"}:
            return f"the library may not include anything of {there.name}/"
        if there.name == "lab" != here.name and there.folder != "lab/kit":
            return "of the lab, other folders include lab/kit only"
        return "only tests include tests" if is_test(there) and not is_test(here) else ""
    if there.kind == "private":
        return why_private_forbidden(layers, here, there)
    if there.kind == "umbrella":
        allowed = here.kind in {"application", "part"}
        return "" if allowed else "the umbrella header is for applications"
    if here.kind in {"umbrella", "part"} or layers.may(here.name, there.name):
        return ""
    allowed = ", ".join(sorted(layers.grants.get(here.name, ()))) or "nothing"
    return f"layer `{here.name}` may not include `{there.name}` (only itself and: {allowed})"


def is_test(place: Place) -> bool:
    return place.name == "tests" or place.folder == "exchange/tests"


def why_private_forbidden(layers: Layers, here: Place, there: Place) -> str:
    if here.kind == "private":
        allowed = layers.may(here.name, there.name)
        return "" if allowed else f"layer `{here.name}` may not include `{there.name}`"
    if here.kind in {"application", "part"}:
        if here.folder in layers.private_tests:
            return ""
        return f"src/ is private; only {', '.join(sorted(layers.private_tests))} may look inside"
    return "a public header may not include a private one: src/ is not installed"


# ---------------------------------------------------------------------------------------------
# The rules, one function each
# ---------------------------------------------------------------------------------------------

Findings = Iterator[tuple[int, str]]


def check_licence(file: SourceFile, _: Project) -> Findings:
    if not any("SPDX-License-Identifier: BSL-1.0" in line for line in file.lines[:2]):
        yield 1, "the first two lines must hold `SPDX-License-Identifier: BSL-1.0`"


def check_caption(file: SourceFile, project: Project) -> Findings:
    caption = []
    for line in file.lines:
        if line.strip() and not line.startswith("//"):
            break
        if "SPDX-" not in line:
            caption += line.strip("/ \t").split()
    words_min = 1 if mirrors_header(file.path, project) else CAPTION_WORDS_MIN
    if len(caption) < words_min:
        yield 1, "say why this file exists, in a comment after the licence and before any code"


def mirrors_header(path: str, project: Project) -> bool:
    """True for x.cpp beside x.hpp, or src/L/x.cpp for include/gyre/L/x.hpp: they share a caption."""
    match = re.fullmatch(r"(.+)\.cpp", path)
    if not match:
        return False
    module = match[1].removeprefix("src/")
    return not project.paths.isdisjoint({f"{match[1]}.hpp", f"include/gyre/{module}.hpp"})


def check_layers(file: SourceFile, project: Project) -> Findings:
    here = place_of(file.path)
    if here is None or project.layers_error:
        return
    if here.kind in {"public", "private"} and not project.layers.is_library(here.name):
        yield 1, "this folder is not a layer of the table in ARCHITECTURE.md"
        return
    for include in file.includes:
        there = place_of(project.resolve(file, include) or "")
        if there and (reason := why_forbidden(project.layers, here, there)):
            yield include.line, f"{include}: {reason}"


def check_kernel_headers(file: SourceFile, project: Project) -> Findings:
    here = place_of(file.path)
    if here is None or here.name in SYSTEM_HEADERS_WELCOME:
        return
    if here.folder in SYSTEM_HEADERS_WELCOME_FOLDERS:
        return
    if here.name in project.layers.kernel or project.layers_error:
        return
    granted = KERNEL_HEADERS_GRANTED.get(file.path, set())
    for include in file.includes:
        if KERNEL_HEADER.fullmatch(include.target) and include.target not in granted:
            yield include.line, f"{include}: only `runtime` touches the kernel"


def check_framework_headers(file: SourceFile, _: Project) -> Findings:
    here = place_of(file.path)
    if here is None or here.kind in {"application", "part"} or here.name == FRAMEWORK_LAYER:
        return
    for include in file.includes:
        if FRAMEWORK_HEADER.fullmatch(include.target):
            yield include.line, f"{include}: only `{FRAMEWORK_LAYER}` includes foreign frameworks"


def check_pure_parts(file: SourceFile, project: Project) -> Findings:
    here = place_of(file.path)
    if here is None or here.name not in PURE_PARTS:
        return
    for include in file.includes:
        if project.resolve(file, include) is None and IMPURE_HEADER.fullmatch(include.target):
            yield include.line, f"{include}: `{here.name}` computes, from its input alone"


def check_public_headers(file: SourceFile, _: Project) -> Findings:
    if not file.path.startswith("include/gyre/"):
        return
    for include in file.includes:
        if PUBLIC_HEADER_BANNED.fullmatch(include.target):
            yield include.line, f"{include}: users of a public header must not pay for this one"


def check_twin(file: SourceFile, project: Project) -> Findings:
    match = re.fullmatch(r"(?:include/gyre/|src/)?(\w+/\w+|exchange/\w+/\w+)\.(?:hpp|cpp)", file.path)
    here = place_of(file.path)
    if not match or here is None or here.kind not in {"public", "private", "part"}:
        return
    if here.kind == "part" and not project.layers.is_library(here.name):
        return
    if first_of_module(match[1], project) != file.path:
        return
    where = match[1].removeprefix("exchange/")
    tests = "exchange/tests" if here.kind == "part" else "tests"
    twin = TESTED_ELSEWHERE.get(match[1], f"{tests}/{where}_test.cpp")
    if twin not in project.paths:
        yield 1, f"its test is missing: {twin}"


def first_of_module(module: str, project: Project) -> str:
    """The file that speaks for a module, so that a missing test is reported once."""
    folders = [""] if module.startswith("exchange/") else ["include/gyre/", "src/"]
    candidates = [f"{folder}{module}.{suffix}" for folder in folders for suffix in ("hpp", "cpp")]
    return next((path for path in candidates if path in project.paths), "")


def check_name(file: SourceFile, project: Project) -> Findings:
    if says_nothing(PurePosixPath(file.path).name.split(".")[0]):
        yield 1, "this file's name says nothing about what is inside; name the noun"
    for folder in map(str, PurePosixPath(file.path).parents):
        first = min((path for path in project.paths if path.startswith(folder + "/")), default="")
        if says_nothing(PurePosixPath(folder).name) and first == file.path:
            yield 1, f"the folder name `{folder}` says nothing about what is inside"


def says_nothing(stem: str) -> bool:
    """The head of a compound comes last: `string_utils` are utils, a `detail_page` is a page."""
    return re.split(r"[_-]", stem.removesuffix("_test"))[-1] in EMPTY_NAMES


FIX_ME = re.compile(r"\bFIX" r"ME\b")
TO_DO = re.compile(r"\bTO" r"DO\b(?!\((?:" + "|".join(TODO_AREAS) + r")\))")


def check_fixme(file: SourceFile, _: Project) -> Findings:
    for number, line in enumerate(file.lines, 1):
        if FIX_ME.search(line):
            yield number, "fix it, or leave a note with an area"


def check_todo(file: SourceFile, _: Project) -> Findings:
    for number, line in enumerate(file.lines, 1):
        if TO_DO.search(line):
            yield number, f"name an area, never a person: one of {', '.join(TODO_AREAS)}"


def check_using_namespace(file: SourceFile, _: Project) -> Findings:
    if file.is_header:
        for match in re.finditer(r"\busing\s+namespace\b", file.code):
            yield file.line_at(match.start()), "a header must not open a namespace for its readers"


def check_macros(file: SourceFile, _: Project) -> Findings:
    if file.path.startswith(("include/gyre/base/", "src/base/")):
        return
    pattern = re.compile(r"^[ \t]*#[ \t]*(define|if|ifdef|ifndef|elif)\b[ \t]*(\w*)", re.MULTILINE)
    for match in pattern.finditer(file.code):
        doctest = match[1] == "define" and match[2].startswith("DOCTEST_CONFIG_")
        if not (doctest and file.path.startswith(("tests/", "lab/", "exchange/tests/"))):
            yield file.line_at(match.start(1)), f"#{match[1]}: the preprocessor lives in `base` only"


def check_pragma_once(file: SourceFile, _: Project) -> Findings:
    if file.is_header and not re.search(r"^#pragma once\b", file.code, re.MULTILINE):
        yield 1, "a header needs `#pragma once`"


# `co_await gyre::sleep_for(...)` is a timer that the test's loop owns; these block the thread.
THREAD_SLEEP = re.compile(
    r"\bthis_thread\s*::\s*sleep_(?:for|until)\b"
    r"|(?<!co_await\s)(?<![\w.:>])(?:::)?(?:sleep|usleep|nanosleep)\s*\("
)


def check_sleep(file: SourceFile, _: Project) -> Findings:
    if file.path.startswith(("tests/", "exchange/tests/")):
        for match in THREAD_SLEEP.finditer(file.code):
            yield file.line_at(match.start()), "a test waits for an event, never for time to pass"


def check_line_length(file: SourceFile, _: Project) -> Findings:
    for number, line in enumerate(file.lines, 1):
        if len(line) > COLUMNS_MAX:
            yield number, f"{len(line)} columns; {COLUMNS_MAX} is the limit"


def check_tabs(file: SourceFile, _: Project) -> Findings:
    for number, line in enumerate(file.lines, 1):
        if "\t" in line:
            yield number, "a tab; we indent with spaces"


def check_trailing_space(file: SourceFile, _: Project) -> Findings:
    for number, line in enumerate(file.lines, 1):
        if line != line.rstrip():
            yield number, "trailing whitespace"


def check_final_newline(file: SourceFile, _: Project) -> Findings:
    if file.text and not file.text.endswith("\n"):
        yield len(file.lines), "the last line has no newline"


# What g++ 12 miscompiles in coroutines; docs/STYLE.md tells the reasons.


def coroutine_rules_apply(file: SourceFile) -> bool:
    return "co_await" in file.code and not file.path.startswith(COROUTINE_RULES_WAIVED)


def check_await_condition(file: SourceFile, _: Project) -> Findings:
    if not coroutine_rules_apply(file):
        return
    for match in re.finditer(r"\b(if|while|switch)\s*(?:constexpr\s*)?\(", file.code):
        opening = match.end() - 1
        if re.search(r"\bco_await\b", file.code[opening : closing(file.code, opening)]):
            yield file.line_at(match.start()), f"co_await in the condition of `{match[1]}`: await it first"


def check_await_ternary(file: SourceFile, _: Project) -> Findings:
    if not coroutine_rules_apply(file):
        return
    for offset, statement in statements(file.code):
        awaiting = re.search(r"\bco_await\b", statement)
        if awaiting and "?" in statement:
            yield file.line_at(offset + awaiting.start()), "co_await and ?: in one statement: use two"


def check_await_new(file: SourceFile, _: Project) -> Findings:
    if not coroutine_rules_apply(file):
        return
    for offset, statement in statements(file.code):
        match = re.search(r"\b(new|throw)\b.*?\bco_await\b", statement, re.DOTALL)
        if match:
            yield file.line_at(offset + match.start()), f"co_await inside `{match[1]}`: await it first"


LAMBDA_START = re.compile(r"(?<![\w\])\[])\[(?![\[\]])|\b(?:return|co_await|co_return|co_yield)\s*\[(?!\])")


def check_lambda_coroutine(file: SourceFile, _: Project) -> Findings:
    if not file.path.startswith(COROUTINE_RULES_WAIVED):
        for match in LAMBDA_START.finditer(file.code):
            if is_coroutine_called_at_once(file.code, match.end() - 1):
                yield file.line_at(match.start()), "a lambda's captures die before this coroutine runs"


def is_coroutine_called_at_once(code: str, bracket: int) -> bool:
    """Is there `[captures](...) -> task<...> {...}(` at `bracket`?"""
    if not code[bracket + 1 : closing(code, bracket)].strip():
        return False
    after = closing(code, bracket) + 1
    if (parameters := re.compile(r"\s*\(").match(code, after)) is not None:
        after = closing(code, parameters.end() - 1) + 1
    body = re.compile(r"[^;{}()\[\]]*\{").match(code, after)
    if body is None:
        return False
    end = closing(code, body.end() - 1)
    is_coroutine = re.search(r"\btask\s*<|\bco_(?:await|return|yield)\b", code[after:end])
    return bool(is_coroutine and re.compile(r"\s*\)?\s*\(").match(code, end + 1))


# ---------------------------------------------------------------------------------------------
# The table of rules
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    name: str
    kinds: set[str]  # The kinds of file it looks at; empty means all.
    check: Callable[[SourceFile, Project], Findings]


RULES = (
    Rule("licence", CODE, check_licence),
    Rule("caption", CPP, check_caption),
    Rule("layers", CPP, check_layers),
    Rule("kernel-header", CPP, check_kernel_headers),
    Rule("framework-header", CPP, check_framework_headers),
    Rule("pure-part", CPP, check_pure_parts),
    Rule("public-header", CPP, check_public_headers),
    Rule("twin", CPP, check_twin),
    Rule("name", set(), check_name),
    Rule("fixme", CODE, check_fixme),
    Rule("todo", CODE, check_todo),
    Rule("using-namespace", CPP, check_using_namespace),
    Rule("macro", CPP, check_macros),
    Rule("pragma-once", CPP, check_pragma_once),
    Rule("sleep", CPP, check_sleep),
    Rule("line-length", CODE, check_line_length),
    Rule("tab", CODE | {"docs"}, check_tabs),
    Rule("trailing-space", CODE | {"docs"}, check_trailing_space),
    Rule("final-newline", CODE | {"docs"}, check_final_newline),
    Rule("await-condition", CPP, check_await_condition),
    Rule("await-ternary", CPP, check_await_ternary),
    Rule("await-new", CPP, check_await_new),
    Rule("lambda-coroutine", CPP, check_lambda_coroutine),
)


@dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


def check_project(project: Project) -> list[Finding]:
    findings = [
        Finding(file.path, line, rule.name, message)
        for file in project.files
        for rule in RULES
        if not rule.kinds or file.kind in rule.kinds
        for line, message in rule.check(file, project)
    ]
    if project.layers_error:  # Without the table, half of the rules would pass by not looking.
        findings.append(Finding("ARCHITECTURE.md", 1, "layer-table", project.layers_error))
    return sorted(findings)


# ---------------------------------------------------------------------------------------------
# Advice: what is long may do two things
# ---------------------------------------------------------------------------------------------


def long_files(project: Project) -> list[tuple[int, str]]:
    lengths = [(file.text.count("\n"), file.path) for file in project.files if file.kind in CODE]
    return sorted((row for row in lengths if row[0] > FILE_LINES_ADVISED), reverse=True)


def long_functions(project: Project) -> list[tuple[int, str]]:
    rows = []
    for file in project.files:
        if file.kind in CPP:
            for line, length, name in functions(file):
                if length > FUNCTION_LINES_ADVISED:
                    rows.append((length, f"{file.path}:{line} {name}"))
    return sorted(rows, reverse=True)


def functions(file: SourceFile) -> Iterator[tuple[int, int, str]]:
    """Line, length and name of each outermost function, roughly: a block whose header has an
    argument list and names no class or namespace."""
    pairs = blocks(file.code)
    cuts = statement_cuts(file.code, pairs)
    end_of_last = -1
    for start, end in pairs:
        before = bisect_left(cuts, start)
        header_start = cuts[before - 1] + 1 if before else 0
        header = file.code[header_start:start]
        if start > end_of_last and is_function_header(header):
            end_of_last = end
            first, last = file.line_at(start), file.line_at(end)
            yield first, last - first + 1, function_name(file.text[header_start:start])


def is_function_header(header: str) -> bool:
    flat, changed = header, True
    while changed:  # Peel `(...)` and `<...>` from the inside out: template <class T> is no class.
        peeled = re.sub(r"\([^()]*\)|<[^<>]*>", " ", flat)
        changed, flat = peeled != flat, peeled
    return "(" in header and not re.search(r"\b(class|struct|union|enum|namespace|concept)\b", flat)


def function_name(header: str) -> str:
    case = re.search(r'\bTEST_CASE\w*\(\s*"([^"]*)', header)
    if case:
        return f'"{case[1]}"'
    name = re.search(r"([\w:~]+)\s*\(", re.sub(r"//[^\n]*", "", header))
    return f"{name[1]}()" if name else "a function"


def print_advice(title: str, rows: list[tuple[int, str]]) -> None:
    if rows:
        print(title)
    for length, where in rows[:ADVICE_ROWS_MAX]:
        print(f"  {length:5} lines  {where}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Checks the style rules of docs/STYLE.md.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent,
                        metavar="DIR", help="the project to check (default: the one this file is in)")
    parser.add_argument("--quiet", action="store_true", help="print broken rules only, no advice")
    options = parser.parse_args(arguments)

    project = Project(options.root)
    findings = check_project(project)
    if not options.quiet:
        print_advice(f"Files over {FILE_LINES_ADVISED} lines (advice):", long_files(project))
        print_advice(f"Functions over {FUNCTION_LINES_ADVISED} lines (advice):", long_functions(project))
    for finding in findings:
        print(finding)
    if findings or not options.quiet:
        print(f"tidy: {len(findings)} findings in {len(project.files)} files")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
