#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""docs/reference.md, a page with each public header, its names, and the first sentence that is said of each.

Names are the parts that tools/inventory.py finds in include/gyre, and constants with a contract, without
what table [gyre] of tools/inventory_exceptions.toml excuses. A sentence is the first of the comment with
three slashes above a declaration, or above the one in the line before, or of a comment beside it. A class
is followed by its public members and those of its public classes: data as it is declared, functions and
constructors shortened (tools/signatures.py), overloads as one; an enumeration by its values, a function by
how it is called, an alias by its type. Whether a class moves is told as far as tools/mobility.py finds it
out. What no signature tells of a result is taken from `@return`, of an argument that is called from its
`@param`. Left out are special members, operators without a comment, what only `co_await` or a structured
binding calls, an `override` without a comment, and what stands below a comment `Implementation`.
Checked is that

- each name has a sentence, which members need not have: their number is told;
- each name that the guide's C++ has behind `gyre::`, `http::` or another namespace of gyre's is on the page;
- the page is what would be written.

    tools/reference.py [--root DIR] [--fix]         check, and print the counts; --fix writes the page
"""

import argparse
import fnmatch
import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from inventory import CLASS, FUNCTION, NOISE, UNSHARED, Declarations
from inventory import EXCEPTIONS as NOT_PUBLIC
from mobility import BASE, BODY, mobility_in
from signatures import (
    AT_ONCE,
    add_overload,
    alias_of,
    awaited_in,
    body_at,
    declaration_at,
    signature_of,
    without_noise,
)

PAGE = "docs/reference.md"
GUIDE = "docs/guide"

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
MEMBERS = ("value", "option", "member", "constant", "constructor", "function")
LABEL = re.compile(r"@\w|(?:Errors|Cancellation|Threads|Cost)(?:, \w+)*: ")
BESIDE = re.compile(r"[^/]//+<? *(.+)$")
# A full stop ends a sentence where a capital letter, a name in code or nothing follows.
SENTENCE = re.compile(r"(.+?(?<!e\.g)(?<!i\.e)[.?!])(?= +[A-Z`(\"]|$)")

CALLED = re.compile(r" *(\w+) +(Called .*)")  # What is said of an argument.
ACCESS = re.compile(r"(public|protected|private):$")
OPERATOR = re.compile(r"[^/{}]*?\b(operator(?:\(\)|\[\]|[^\s\w(]+))\(")
NO_MEMBER = re.compile(r"friend |using |static_assert|enum |class |struct |template <std::size_t"
                       r"|.*\boperator\b|.*\b_?await_\w+\(|.*= (?:default|delete);|.*~\w+\(|.*\b_\w+\(")
# What is declared for the compiler's message.
NOT_PROVIDED = re.compile(r"= delete;$|^ *static_assert\(sizeof\([^)]*\) == 0", re.MULTILINE)
OVERRIDES = re.compile(r"\b(?:override|final)\b")  # Without a comment it is as what it is derived from says.
HEAD = re.compile(r"(?:template <(?!std::size_t)|requires\b).*[^;{}]$")
PLUMBING = re.compile(r"class \w+_awaiter|await_|get_return_object")
# Type, name, and what it is before anything is set.
DATA = re.compile(r"(?:static constexpr |mutable )?([\w:<>(),*& ]+ \w+(?: = [^;]+|\{[^;]*\}|\[\w+\])?);$")
NAME = re.compile(r"(\w+)(?=\(| = |\{|\[|$)")  # The first such of a member.
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
class Member:
    kind: str
    codes: list[str]  # Of functions that are overloaded: each.
    sentence: str


@dataclass
class Name:
    header: str  # As `io/acceptor`.
    name: str
    kind: str
    namespace: str
    sentence: str
    caption: str  # Of the header.
    codes: list[str] = field(default_factory=list)  # Of a function: each overload.
    members: list[Member] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    mobility: str = ""  # Of a class: `move-only`, `immovable`, or nothing.

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


def sentence_of(lines: list[str], codes: list[str]) -> str:
    """Of a comment on functions; with how arguments are called, and what is returned, if no signature tells
    that."""
    said = [first_sentence(lines)]
    for at, line in enumerate(lines):
        label, _, first = line.strip().partition(" ")
        text = CALLED.match(first)
        if label == "@param" and text is not None:
            said.append(f"`{text[1]}`: {lowered([text[2], *lines[at + 1 :]])}")
        elif label == "@return" and not any(" -> " in code for code in codes):
            said.append(f"Yields: {lowered([first, *lines[at + 1 :]])}")
    return " ".join(filter(None, said))


def lowered(lines: list[str]) -> str:
    sentence = first_sentence(lines)
    return sentence[:1].lower() + sentence[1:]


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


def values_of(body: str) -> list[Member]:
    """The values of an enumeration; those of which nothing is said are one."""
    found: list[Member] = []
    comment: list[str] = []
    for line in re.sub(r"=\n +", "= ", body).split("\n"):
        words = line.strip()
        if words.startswith("//"):
            comment = [*comment, words.removeprefix("///")] if words.startswith("///") else comment
            continue
        plain, _, beside = words.partition("  //")
        said = first_sentence(comment or [beside.lstrip("/<")])
        values = [value.strip() for value in plain.split(",") if value.strip()]
        if values and found and not said and not found[-1].sentence:
            found[-1].codes += values
        elif values:
            found.append(Member("value", values, said))
        comment = []
    return found


def members_of(name: str, body: str, awaited: dict[str, str], public: bool) -> list[Member]:
    """The public members of a class, and of the public classes in it."""
    found: list[Member] = []
    body = "\n".join(line.removeprefix("    ") for line in body.split("\n"))
    comment: list[str] = []
    code = beside = ""
    within = False  # A function or a class.
    start = 0
    for line in body.split("\n"):
        place, start = start, start + len(line) + 1
        words = line.strip()
        if within:
            within = not line.startswith("}")
        elif (match := ACCESS.match(line)) is not None:
            public, comment = match[1] == "public", []
        elif not code and words.startswith("//"):
            public = public and not words.startswith("// Implementation")
            comment = [*comment, words.removeprefix("///")] if words.startswith("///") else comment
        elif not words or words.startswith("#"):
            comment = [] if not code else comment
        elif not code and HEAD.match(words):
            continue
        else:
            if (match := BODY.match(body, place)) is not None and not code:
                if public and not PLUMBING.search(match[0]):
                    inner = inner_members(match, awaited)
                    for each in inner:
                        each.codes = [NAME.sub(rf"{match[2]}::\1", one, count=1) for one in each.codes]
                    found += inner
                within, comment = match[4] is None, []
                continue
            plain, _, said = words.partition("  //")
            code = f"{code} {plain}".strip()
            beside = f"{beside} {said.lstrip('/<').strip()}".strip()
            if not code.endswith(("{", "}", ";")) or code.count("(") != code.count(")"):
                continue
            if code.endswith("}") and "(" not in code:  # The first part of a value.
                continue
            within = code.endswith("{")
            inside = body[start : body.find("\n}", start)] if within else ""
            said = comment or [beside]
            if public and is_member(code, bool(first_sentence(said))):
                add_member(found, name, code, said, awaited, (inside, body))
            comment, code, beside = [], "", ""
    return found


def is_member(code: str, has_contract: bool) -> bool:
    if NO_MEMBER.match(code):
        return has_contract and OPERATOR.match(code) is not None
    return has_contract or OVERRIDES.search(code) is None


def inner_members(match: re.Match, awaited: dict[str, str]) -> list[Member]:
    kind, name, body = match[1], match[2], match[4] or match[5] or ""
    if kind == "enum class":
        return values_of(body)
    return members_of(name, body, awaited, kind == "struct")


def add_member(found: list[Member], owner: str, code: str, comment: list[str], awaited: dict[str, str],
               within: tuple[str, str]) -> None:
    """`within`: the function's body, and that of its class."""
    code = NOISE.sub("", code).strip()
    said = first_sentence(comment)
    function = OPERATOR.match(code) or FUNCTION.match(code)
    if function is None or function[0].count("<") > function[0].count(">"):
        if (match := DATA.match(code)) is not None:
            kind = "option" if owner.endswith("_options") else "member"
            found.append(Member("constant" if code.startswith("static") else kind, [match[1]], said))
        return
    kind = "constructor" if function[1] == owner else "function"
    body = f"{code}\n{within[0]}"
    if NOT_PROVIDED.search(body):
        return
    signature = signature_of(code, function[1], awaited, body, within[1])
    if (match := AT_ONCE.search(body)) is not None:
        same = [one for each in found for one in each.codes
                if re.match(rf"(?:static )?{match[1]}\(io_context& on\b.* -> ", one)]
        signature += "".join(f" -> {one.rpartition(' -> ')[2]}" for one in same[:1])
    said = sentence_of(comment, [signature])
    if kind == "constructor" and re.match(rf"{owner}\((?:{owner}(?:<.*>)?(?:&&?)? \w*)?\)$", signature):
        return
    for each in found:
        same = re.escape(function[1])
        if each.kind == kind and re.match(rf"(?:static |co_await )*{same}\(", each.codes[0]):
            add_overload(each.codes, signature)
            each.sentence = each.sentence or said
            return
    found.append(Member(kind, [signature], said))


def read(header: str, text: str, others: dict[str, str]) -> list[Name]:
    """What a header declares in namespaces, in its order; of one name, the first that has a sentence.
    `others` are what awaitable classes of all headers yield."""
    found: dict[str, Name] = {}
    caption = caption_of(text)
    comment: list[str] = []
    namespaces: list[str] = []
    begun = False  # What the comment is of.
    without = without_noise(text)
    lines = without.split("\n")
    awaited = {**others, **awaited_in(without)}
    for number, line in enumerate(text.split("\n")):
        plain = NOISE.sub("", line).strip()
        if line.startswith("///"):
            comment = [*([] if begun else comment), line.removeprefix("///")]
            begun = False
            continue
        if line.startswith(("template", "requires", "    requires")):
            continue
        if UNSHARED.match(line) is not None:
            comment = []
        if (match := NAMESPACE.match(line)) is not None:
            namespaces.append(match[1])
        elif line.startswith("}  // namespace"):
            namespaces.pop()
        elif line and not line[0].isspace() and not line.startswith("//"):
            begun = True
            code = plain.partition("//")[0]
            match = CLASS.match(plain) or (comment and (CONSTANT.match(code) or FUNCTION.match(plain)))
            name = next(filter(None, match.groups()), "") if match else ""
            if not name or name.startswith("operator"):
                continue
            beside = BESIDE.search(line)
            said = first_sentence(comment or ([beside[1]] if beside is not None else []))
            if name not in found:
                found[name] = Name(header, name, kind_of(plain), "::".join(namespaces), said, caption)
            elif not found[name].sentence:
                found[name].sentence = said
            if found[name].kind == "alias":
                found[name].codes = [alias_of(NOISE.sub("", declaration_at(lines, number)))]
            if found[name].kind == kind_of(plain) == "function":
                declaration = declaration_at(lines, number)
                body = "" if declaration.endswith(";") else body_at(lines, number)
                if NOT_PROVIDED.search(declaration + body):
                    continue
                signature = signature_of(declaration, name, awaited, body, without)
                add_overload(found[name].codes, signature)
                if found[name].sentence == said:
                    found[name].sentence = sentence_of(comment, [signature])
    for match in BODY.finditer(without):
        if (name := found.get(match[2])) is not None:
            known = {code for member in name.members for code in member.codes}
            name.members += [each for each in inner_members(match, awaited) if not known & set(each.codes)]
            bases = BASE.findall(match[3])
            name.bases += [base for access, base in bases if access or match[1] == "struct"]
    return list(found.values())


def public_names(root: Path) -> tuple[list[Name], list[str]]:
    """And findings: what only one of the two readers of headers has seen."""
    public = root / "include/gyre"
    headers = {path.relative_to(public).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
               for path in sorted(public.rglob("*.hpp"))}
    tables = tomllib.loads((root / NOT_PUBLIC).read_text(encoding="utf-8")).get("gyre", {})
    excuses = [pattern for patterns in tables.values() for pattern in patterns]
    awaited = awaited_in("\n".join(without_noise(text) for text in headers.values()))
    names = [name for header, text in headers.items() for name in read(header, text, awaited)]
    mobility = mobility_in("\n".join(without_noise(text) for text in headers.values()))
    for name in names:
        name.mobility = mobility.get(name.name, "") if name.kind == "class" else ""
    unseen = set(Declarations(headers).parts) - {name.place for name in names}
    names = [name for name in names if not any(fnmatch.fnmatch(name.place, excuse) for excuse in excuses)]
    findings = [f"include/gyre/{name.header}.hpp: layer `{name.layer}` has no place on the page"
                for name in names if name.layer not in LAYERS]
    return names, findings + [f"{place}: not read" for place in sorted(unseen)]


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


def page_of(names: list[Name]) -> str:
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
                lines.append(f"| **{link}** | | {in_cell(name.caption)} |")
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


def check(root: Path, fix: bool) -> tuple[list[str], list[Name]]:
    names, findings = public_names(root)
    findings += [f"include/gyre/{name.header}.hpp: {name.name} has no sentence"
                 for name in names if not name.sentence]
    findings += missing_in_guide(root, names)
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
    members = [(each.kind, len(each.codes) if each.kind == "value" else 1, each.sentence)
               for name in names for each in name.members]
    counts = Counter(dict.fromkeys(MEMBERS, 0))
    for kind, number, _ in members:
        counts[kind] += number
    untold = sum(number for _, number, sentence in members if not sentence)
    print("members: " + ", ".join(f"{number} {kind}s" for kind, number in counts.items()))
    print(f"reference: {len(names)} names, {said} of them with a sentence, and {counts.total()} members, "
          f"{untold} of them without; {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
