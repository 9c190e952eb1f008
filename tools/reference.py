#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""docs/reference.md, a page with each public header, its names, and the first sentence that is said of each.

Names are the parts that tools/inventory.py finds in include/gyre, and constants with a contract, without what
table [gyre] of tools/inventory_exceptions.toml excuses. A sentence is the first of the comment with three
slashes above a declaration, or of a comment beside it. A class that is called `*_options` is followed by its
members, as they are declared. Checked is that

- each name has a sentence;
- the page is what would be written.

    tools/reference.py [--root DIR] [--fix]         check, and print the counts; --fix writes the page
"""

import argparse
import fnmatch
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from inventory import CLASS, FUNCTION, NOISE, Declarations
from inventory import EXCEPTIONS as NOT_PUBLIC

PAGE = "docs/reference.md"

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
NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
CONSTANT = re.compile(r"(?:inline )?constexpr (?!.*\boperator\b)[\w:<>, *]*?\b(\w+)\s*(?:=|\{)")
KINDS = {"class": "class", "struct": "class", "enum class": "enumeration", "concept": "concept",
         "using": "alias"}
LABEL = re.compile(r"@\w|(?:Errors|Cancellation|Threads|Cost)(?:, \w+)*: ")
BESIDE = re.compile(r"[^/]//+<? *(.+)$")
# A full stop ends a sentence where a capital letter, a name in code or nothing follows.
OPTIONS = re.compile(r"(?:class|struct) (\w*_options)\b[^;]*\{$")
# Of a class that has functions, too: type, name, and what it is before anything is set.
OPTION = re.compile(r"(?!static|explicit|using|friend|\[\[|template|.*= default;)"
                    r"[\w:<>(),*& ]+ \w+(?: = [^;]+|\{[^;]*\})?;$")
SENTENCE = re.compile(r"(.+?(?<!e\.g)(?<!i\.e)[.?!])(?= +[A-Z`(\"]|$)")
HEADING = """\
# Reference

<!-- Written by tools/reference.py --fix; the sentences stand in the headers. -->

Each public name with the first sentence of its contract, below its header and what that is for. The header
has the rest: errors, cancellation, threads, cost. `#include <gyre/gyre.hpp>` brings the headers of the core;
all names are in namespace `gyre`. An option is a member of the class above it, with its value where it is
not set.

The [guide](guide/README.md) tells what to use when, the [inventory](inventory.md) what Asio, Corosio and
tokio call it, [versions](VERSIONING.md) what is promised of these names.
"""


@dataclass
class Name:
    header: str  # As `io/acceptor`.
    name: str
    kind: str
    namespace: str
    sentence: str
    caption: str  # Of the header.
    options: list[tuple[str, str]] = field(default_factory=list)  # Declaration and sentence.

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


def caption_of(text: str) -> str:
    """The first sentence of what a header says of itself, behind the licence."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//") or line.startswith("///"):
            break
        if "SPDX" not in line:
            lines.append(line.removeprefix("//"))
    return first_sentence(lines)


def kind_of(plain: str) -> str:
    first = re.match(r"class|struct|enum class|concept|using", plain)
    if first is not None:
        return KINDS[first[0]]
    return "constant" if CONSTANT.match(plain) else "function"


def options_of(text: str) -> dict[str, list[tuple[str, str]]]:
    """Of each class of options its members: how they are declared, and what is said of them."""
    found: dict[str, list[tuple[str, str]]] = {}
    options: list[tuple[str, str]] | None = None
    comment: list[str] = []
    code = beside = ""
    for line in text.split("\n"):
        words = line.strip()
        if (match := OPTIONS.match(line)) is not None:
            options, comment = found.setdefault(match[1], []), []
        elif line.startswith("}"):
            options = None
        elif options is None or words.startswith("//"):
            comment = [*comment, words.removeprefix("///")] if words.startswith("///") else []
        elif not code and (not words or line[4] in " }"):  # Between members, or within a function.
            comment = []
        else:
            plain, _, said = words.partition("  //")
            code = f"{code} {plain}".strip()
            beside = f"{beside} {said.lstrip('/<').strip()}".strip()
            if code.endswith(("{", "}", ";")):
                if OPTION.match(code):
                    options.append((code.removesuffix(";"), first_sentence(comment or [beside])))
                comment, code, beside = [], "", ""
    return found


def read(header: str, text: str) -> list[Name]:
    """What a header declares in namespaces, in its order; of one name, the first that has a sentence."""
    found: dict[str, Name] = {}
    caption = caption_of(text)
    comment: list[str] = []
    namespaces: list[str] = []
    for line in text.split("\n"):
        plain = NOISE.sub("", line).strip()
        if line.startswith("///"):
            comment.append(line.removeprefix("///"))
            continue
        if line.startswith(("template", "requires", "    requires")):
            continue
        if (match := NAMESPACE.match(line)) is not None:
            namespaces.append(match[1])
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif line and not line[0].isspace():
            code = plain.partition("//")[0]
            match = CLASS.match(plain) or (comment and (CONSTANT.match(code) or FUNCTION.match(plain)))
            name = next(filter(None, match.groups()), "") if match else ""
            if name and not name.startswith("operator"):
                beside = BESIDE.search(line)
                said = first_sentence(comment or ([beside[1]] if beside is not None else []))
                if name not in found:
                    found[name] = Name(header, name, kind_of(plain), "::".join(namespaces), said, caption)
                elif not found[name].sentence:
                    found[name].sentence = said
        if line and not line.startswith("//"):  # A clause of a standard may stand between.
            comment = []
    for name, options in options_of(text).items():
        if name in found:
            found[name].options = options
    return list(found.values())


def public_names(root: Path) -> tuple[list[Name], list[str]]:
    """And findings: what only one of the two readers of headers has seen."""
    public = root / "include/gyre"
    headers = {path.relative_to(public).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
               for path in sorted(public.rglob("*.hpp"))}
    tables = tomllib.loads((root / NOT_PUBLIC).read_text(encoding="utf-8")).get("gyre", {})
    excuses = [pattern for patterns in tables.values() for pattern in patterns]
    names = [name for header, text in headers.items() for name in read(header, text)]
    unseen = set(Declarations(headers).parts) - {name.place for name in names}
    names = [name for name in names if not any(fnmatch.fnmatch(name.place, excuse) for excuse in excuses)]
    findings = [f"include/gyre/{name.header}.hpp: layer `{name.layer}` has no place on the page"
                for name in names if name.layer not in LAYERS]
    return names, findings + [f"{place}: not read" for place in sorted(unseen)]


def in_cell(text: str) -> str:
    """As Markdown of a table: a bar would end the cell, and an angle outside of code begin a tag."""
    parts = re.split(r"(`[^`]*`)", text.replace("|", "\\|"))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;") for part in parts)


def page_of(names: list[Name]) -> str:
    lines = [HEADING]
    for layer, what in LAYERS.items():
        of_layer = [name for name in names if name.layer == layer]
        if not of_layer:
            continue
        lines += [f"## {layer}", "", f"{what}.", "", "| header, name | is a | |", "|---|---|---|"]
        header = ""
        for name in of_layer:
            if name.header != header:
                header = name.header
                link = f"[{header}.hpp](../include/gyre/{header}.hpp)"
                lines.append(f"| **{link}** | | {in_cell(name.caption)} |")
            lines.append(f"| `{name.qualified}` | {name.kind} | {in_cell(name.sentence)} |")
            lines += [f"| {in_cell(f'`{code}`')} | option | {in_cell(said)} |" for code, said in name.options]
        lines.append("")
    return "\n".join(lines)


def check(root: Path, fix: bool) -> tuple[list[str], list[Name]]:
    names, findings = public_names(root)
    findings += [f"include/gyre/{name.header}.hpp: {name.name} has no sentence"
                 for name in names if not name.sentence]
    page = page_of(names)
    path = root / PAGE
    if not path.exists() or path.read_text(encoding="utf-8") != page:
        if fix:
            path.write_text(page, encoding="utf-8")
        else:
            findings.append(f"{PAGE}: not what the headers say; --fix writes it")
    return findings, names


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compares docs/reference.md with the public headers.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR")
    parser.add_argument("--fix", action="store_true", help="write the page")
    options = parser.parse_args(arguments)

    findings, names = check(options.root, options.fix)
    for finding in findings:
        print(finding)
    said = sum(1 for name in names if name.sentence)
    print(f"reference: {len(names)} names, {said} of them with a sentence; {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
