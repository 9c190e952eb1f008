#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""docs/reference.md, a page with each public header, its names, and the first sentence that is said of each.

Names are the classes, enumerations, concepts and aliases that tools/headers.py finds in include/gyre, and
functions and constants with a contract, without those in tools/not_public.toml. A sentence is the first of
the comment with three slashes above a declaration, or above the one in the line before, or of a comment
beside it. A class is followed by its public members and those of its public classes, overloads in one row; an
enumeration by its values, a function by its parameters and result, an alias by its type. If no signature
shows a result, `@return` does; `@param` shows how an argument is called. Left out are special members,
operators without a comment, functions that only `co_await` or a structured binding calls, an `override`
without a comment, and all below a comment `Implementation`.
Checked is that

- each name has a sentence; members need none;
- each function with a clause `Errors` yields an error or an `io_result`, or what an argument decides;
- each name that the guide's C++ has behind `gyre::`, `http::` or another namespace of gyre's is on the page;
- the page is what would be written.

    tools/reference.py [--root DIR] [--fix]         --fix writes the page
"""

import fnmatch
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from headers import Declaration, declarations, is_stale, run

PAGE = "docs/reference.md"
GUIDE = "docs/guide"
NOT_PUBLIC = "tools/not_public.toml"

LAYERS = {
    "base": "Results, errors, buffers, time, checks",
    "coro": "Tasks and what they are told",
    "sync": "What tasks wait for, share and send each other; groups, timeouts, stops",
    "runtime": "Loops and pools of loops",
    "stream": "Streams without a kernel: adapters, codecs, copies",
    "io": "Sockets, files, processes, names, servers",
    "interop": "Callbacks, futures, Boost.Asio; not in `gyre/gyre.hpp`",
    "tls": "TLS; component `tls`",
    "http": "HTTP/1; component `http`",
    "http2": "HTTP/2; component `http2`",
    "websocket": "WebSocket; component `websocket`",
    "web": "HTTP over TLS, files, URLs; component `web`",
    "test": "Worlds, scripts and faults for tests; component `test`",
}
LABEL = re.compile(r"@\w|(?:Errors|Cancellation|Threads|Cost)(?:, \w+)*: ")
ERRORS = re.compile(r".*\bErrors(?:, \w+)*: +(?! |none\b)")
# A full stop ends a sentence where a capital letter, a name in code or nothing follows.
SENTENCE = re.compile(r"(.+?(?<!e\.g)(?<!i\.e)[.?!])(?= +[A-Z`(\"]|$)")
CALLED = re.compile(r" *(\w+) +(Called .*)")  # What is said of an argument.
UNNAMED = re.compile(r"(?<=[\w>&*]) \w+(?=,|\)| =)")  # What is left out without its parameters' names.
BY_VALUE = re.compile(r"\bconst ([^,()&]+)&(?!&)")
HEADING = """\
# Reference

<!-- Written by tools/reference.py --fix; the sentences stand in the headers. -->

Each public name with the first sentence of its contract, below its header and what that is for. The header
has the rest: errors, cancellation, threads, cost. `#include <gyre/gyre.hpp>` brings the headers of the core;
all names are in namespace `gyre`. Below a class are its members, below an enumeration its values, below a
function how it is called, below an alias its type. An option is a member that is set before a call, with its
value where it is not set. Functions are shortened: no `std::`, `const&` and `noexcept`; behind `->` is what
they yield, where `co_await` stands before them only when they are awaited. A task is awaited too. A class
that is from another one has the members of that as well. What is `move-only` cannot be copied, what is
`immovable` stays where it was made; where neither is said, the header tells.

The [guide](guide/README.md) tells what to use when, the [inventory](inventory.md) what Asio, Corosio and
tokio call it, [versions](VERSIONING.md) what is promised of these names.
"""


@dataclass
class Entry:
    """A row of the page: a name, or a member of one."""

    kind: str
    codes: list[str]  # Of functions that are overloaded: each.
    sentence: str


@dataclass
class Name(Entry):
    header: str  # As `io/acceptor`.
    name: str
    namespace: str
    members: list[Entry] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    mobility: str = ""

    @property
    def layer(self) -> str:
        return self.header.partition("/")[0]

    @property
    def place(self) -> str:
        return f"{self.header}:{self.name}"

    @property
    def qualified(self) -> str:
        inner = self.namespace.removeprefix("gyre").removeprefix("::")
        return f"{inner}::{self.name}" if inner else self.name


# -------- What is said --------


def first_sentence(lines: list[str]) -> str:
    """Of a comment: of its first paragraph, without labels and parameters."""
    paragraph: list[str] = []
    for line in lines:
        words = line.strip()
        if (not words and paragraph) or LABEL.match(words):
            break
        if words:
            paragraph.append(words)
    text = " ".join(paragraph)
    match = SENTENCE.match(text)
    return match[1] if match is not None else text


def lowered(lines: list[str]) -> str:
    sentence = first_sentence(lines)
    return sentence[:1].lower() + sentence[1:]


def sentence_of(declared: Declaration) -> str:
    """With how arguments of a function are called, and what it returns, if its signature does not tell."""
    lines = declared.comment
    said = [first_sentence(lines or [declared.beside])]
    if declared.kind not in ("function", "constructor", "operator"):
        return said[0]
    for at, line in enumerate(lines):
        label, _, first = line.strip().partition(" ")
        text = CALLED.match(first)
        if label == "@param" and text is not None:
            said.append(f"`{text[1]}`: {lowered([text[2], *lines[at + 1 :]])}")
        elif label == "@return" and not declared.yields:
            said.append(f"Yields: {lowered([first, *lines[at + 1 :]])}")
    return " ".join(filter(None, said))


def caption_of(text: str) -> str:
    """The first sentence of what a header says of itself, behind the licence."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//") or line.startswith("///"):
            break
        if "SPDX" not in line:
            lines.append(line.removeprefix("//"))
    return first_sentence(lines)


# -------- How declarations are shown --------


def shortened(code: str) -> str:
    code = re.sub(r" ([&*]+)(?=[ ,)>]|$)", r"\1", code).replace("unsigned int", "unsigned")  # Clang's way.
    short = BY_VALUE.sub(r"\1", code)
    return re.sub(r"\bstd::|(?<![\w>])gyre::| (?=[),])|(?<=\() | (?= )", "", short)


def code_of(declared: Declaration) -> str:
    if declared.kind in ("value", "member", "constant"):
        return declared.code
    if declared.kind == "alias":
        return shortened(declared.code)
    before = ("static " if declared.static else "") + ("co_await " if declared.awaited else "")
    after = f" -> {shortened(declared.yields)}" if declared.yields else ""
    return f"{before}{shortened(declared.code)}{after}"


def add(rows: list[Entry], declared: Declaration, owner: str = "") -> None:
    """A row for a member of the class `owner`. An overload, or a value without a sentence, shares a row."""
    code, said = code_of(declared), sentence_of(declared)
    kind = "function" if declared.kind == "operator" else declared.kind
    if kind == "member" and owner.endswith("_options"):
        kind = "option"
    if kind == "value" and rows and rows[-1].kind == kind and not said and not rows[-1].sentence:
        rows[-1].codes.append(code)
        return
    called = code.partition("(")[0].rpartition(" ")[2]
    for row in rows if kind in ("function", "constructor") else ():
        if row.kind == kind and row.codes[0].partition("(")[0].rpartition(" ")[2] == called:
            # One that differs in the names of parameters only is for another kind of argument.
            if UNNAMED.sub("", code) not in (UNNAMED.sub("", one) for one in row.codes):
                row.codes.append(code)
            row.sentence = row.sentence or said
            return
    rows.append(Entry(kind, [code], said))


def is_shown(member: Declaration) -> bool:
    has_contract = bool(first_sentence(member.comment or [member.beside]))
    if member.kind == "operator" or member.overrides:
        return has_contract and not member.name.startswith("operator co_await")
    return not member.name.startswith("await_")


def is_part(declared: Declaration) -> bool:
    if declared.kind in ("operator", "constructor", "member"):
        return False
    return declared.kind not in ("function", "constant") or bool(declared.comment)


def parts(root: Path) -> list[Name]:
    """The names that public headers declare in namespaces, in their order; overloads are one."""
    found: dict[tuple[str, str], Name] = {}
    for declared in filter(is_part, declarations(root)):
        key = (declared.header, declared.name)
        code = code_of(declared) if declared.kind in ("alias", "function") else ""
        name = found.get(key)
        if name is None and declared.kind == "specialization":
            continue
        if name is None:
            name = found[key] = Name(declared.kind, [], "", *key, declared.namespace)
        name.sentence = name.sentence or sentence_of(declared)
        if code and name.kind == declared.kind:
            overload: list[Entry] = [Entry(name.kind, name.codes, "")] if name.codes else []
            add(overload, declared)
            name.codes = overload[0].codes
        known = {code for member in name.members for code in member.codes}
        for member in filter(is_shown, declared.members):
            if code_of(member) not in known:
                add(name.members, member, declared.name)
        name.bases += declared.bases
        name.mobility = name.mobility or declared.mobility
    return list(found.values())


def excuses(root: Path) -> list[str]:
    table = tomllib.loads((root / NOT_PUBLIC).read_text(encoding="utf-8"))
    return [pattern for patterns in table.values() for pattern in patterns]


def public_names(root: Path) -> list[Name]:
    """The parts without those that are excused."""
    patterns = excuses(root)
    return [name for name in parts(root) if not any(fnmatch.fnmatch(name.place, each) for each in patterns)]


# -------- What is checked --------


def without_error(root: Path) -> list[str]:
    """Functions that can fail, and whose caller would not see that."""
    findings = []
    for declared in declarations(root):
        for each in (declared, *declared.members):
            fails = each.kind in ("function", "constructor") and any(map(ERRORS.match, each.comment))
            if fails and not each.given and not re.search(r"\bio_result\b|\berror\b", each.yields):
                findings.append(f"include/gyre/{declared.header}.hpp:{each.line}: {each.name} can fail, and "
                                f"yields `{each.yields}`")
    return findings


def missing_in_guide(root: Path, names: list[Name]) -> list[str]:
    """What C++ in the guide names, and the page does not."""
    spaces = {name.namespace.removeprefix("gyre").removeprefix("::") for name in names} - {""}
    known = spaces | {name.qualified for name in names}
    first = "|".join(sorted(spaces)) or "gyre"
    named = re.compile(rf"(?<![\w:])(?:gyre::((?:\w+::)*\w+)|((?:{first})::\w+))")
    findings = []
    for file in sorted((root / GUIDE).rglob("*.md")):
        where = file.relative_to(root).as_posix()
        within = False
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            within = line == "```cpp" or (within and line != "```")
            for name in (one or other for one, other in named.findall(line) if within):
                outer = [name[: at.start()] for at in re.finditer("::", name)]
                if name not in known and not known.intersection(outer) - spaces:
                    findings.append(f"{where}:{number}: `{name}` is not in {PAGE}")
    return findings


def in_cell(text: str) -> str:
    """As Markdown of a table: a bar would end the cell, and an angle outside of code begin a tag."""
    parts = re.split(r"(`[^`]*`)", text.replace("|", "\\|"))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def page_of(names: list[Name], root: Path) -> str:
    lines = [HEADING]
    known = {name.name for name in names}
    for layer, what in LAYERS.items():
        of_layer = [name for name in names if name.layer == layer]
        if not of_layer:
            continue
        lines += [f"## {layer}", "", f"{what}.", "",
                  "| header, name | is a | first sentence |", "|---|---|---|"]
        header = ""
        for name in of_layer:
            if name.header != header:
                header = name.header
                link = f"[{header}.hpp](../include/gyre/{header}.hpp)"
                text = (root / f"include/gyre/{header}.hpp").read_text(encoding="utf-8")
                lines.append(f"| **{link}** | | {in_cell(caption_of(text))} |")
            called = "".join(f"<br>&emsp;{in_cell(f'`{code}`')}" for code in name.codes)
            bases = [f"from `{base}`" for base in name.bases if base in known]
            kind = ", ".join(filter(None, [name.kind, name.mobility, *bases]))
            lines.append(f"| **`{name.qualified}`**{called} | {kind} | {in_cell(name.sentence)} |")
            for each in name.members:
                between = ", " if each.kind == "value" else "<br>&emsp;"
                codes = between.join(in_cell(f"`{code}`") for code in each.codes)
                lines.append(f"| &emsp;{codes} | {each.kind} | {in_cell(each.sentence)} |")
        lines.append("")
    return "\n".join(lines)


def check(root: Path, fix: bool) -> tuple[list[str], str]:
    names = public_names(root)
    findings = [f"include/gyre/{name.header}.hpp: layer `{name.layer}` has no place on the page"
                for name in names if name.layer not in LAYERS]
    findings += [f"include/gyre/{name.header}.hpp: {name.name} has no sentence"
                 for name in names if not name.sentence]
    findings += without_error(root) + missing_in_guide(root, names)
    if is_stale(root / PAGE, page_of(names, root), fix):
        findings.append(f"{PAGE}: not what the headers say; --fix writes it")
    members = [each.sentence for name in names for each in name.members]
    return findings, (f"reference: {len(names)} names, and {len(members)} rows of members, "
                      f"{members.count('')} of them without a sentence")


if __name__ == "__main__":
    sys.exit(run(check, __doc__.splitlines()[0], sys.argv[1:]))
