#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The table of other libraries' parts, docs/inventory.md, is complete and true of the code.

A row of a table of seven columns says of one part what Asio, Corosio or Capy, and tokio call it, what gyre
calls it, whether gyre has it (yes, partly, no), and why or where. Code spans are names. Checked is that

- each name of another library is in its list, tools/inventory/LIBRARY.txt, which a program made;
- each name of those lists is in the table, or is excused in tools/inventory_exceptions.toml with the reason;
- each name of gyre is declared in include/gyre, members in their class or its bases;
- each part that include/gyre declares is in the table, or is excused, and no excuse is idle; of a name in
  several headers one may be excused by itself;
- yes has a name of gyre's, partly a name and a reason, no a reason; the counts above the tables are theirs.

    tools/inventory.py [--root DIR] [--fix]         check, and print the counts; --fix writes them down
    tools/inventory.py --extract SOURCE FILE...     print the names of a source, one a line, for the lists:
        asio (its quickref.xml), headers (a header of all headers), rustdoc (the all.html of crates)
"""

import argparse
import fnmatch
import re
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fallible import types_named

TABLE = "docs/inventory.md"
LISTS = "tools/inventory"
EXCEPTIONS = "tools/inventory_exceptions.toml"
LIBRARIES = ("asio", "corosio", "tokio")
VERDICTS = ("yes", "partly", "no")
COUNTS = ("<!-- counts: tools/inventory.py --fix writes them -->\n", "<!-- end of counts -->\n")

# What begins at the first column is declared in a namespace. A function is a part if it has a contract, which
# it may share with the declaration in the line before.
CLASS = re.compile(r"(?:class|struct|enum class|concept)\s+(\w+)\b(?!::| *;)|using (\w+) =")
FUNCTION = re.compile(r"^[^/{}=(]*?\b(\w+)\s*\(")
NOISE = re.compile(r"\[\[.*?\]\]|GYRE_\w+(?:\([^)]*\))?")
SPAN = re.compile(r"`([^`]+)`")
UNSHARED = re.compile(r"$|#|namespace |static_assert|extern ")  # Behind these no contract goes on.
PROTOCOL = re.compile(r"^(?:tls|http2?|websocket|web)::")  # Their namespaces are named in the table.


@dataclass
class Row:
    line: int
    family: str
    names: dict[str, list[str]]  # Of each library, and of gyre.
    verdict: str
    why: str


@dataclass
class Library:
    names: set[str]
    excuses: dict[str, list[str]] = field(default_factory=dict)


def read_table(text: str) -> tuple[list[Row], list[str]]:
    rows, findings, family = [], [], ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("## "):
            family = line[3:]
        cells = [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
        if not line.startswith("|") or not family or cells[0] in ("part", "---"):
            continue
        if len(cells) != 7:
            findings.append(f"{TABLE}:{number}: {len(cells)} cells instead of 7")
            continue
        names = {who: SPAN.findall(cell) for who, cell in zip((*LIBRARIES, "gyre"), cells[1:5])}
        names["gyre"] = [PROTOCOL.sub("", name) for name in names["gyre"]]
        rows.append(Row(number, family, names, cells[5], cells[6]))
    return rows, findings


def declared_in(text: str) -> list[str]:
    """The parts that a header declares."""
    found, documented = [], False
    for line in text.split("\n"):
        plain = NOISE.sub("", line).strip()
        if line.startswith("///"):
            documented = True
        elif UNSHARED.match(line) is not None:
            documented = False
        elif line.startswith(("template", "requires", "    requires")):
            continue
        elif not line[0].isspace():
            match = CLASS.match(plain) or (documented and FUNCTION.match(plain))
            name = next(filter(None, match.groups()), "") if match else ""
            if name and not name.startswith("operator"):
                found.append(name)
    return list(dict.fromkeys(found))


class Declarations:
    """What the public headers declare."""

    KEYWORDS = frozenset(("class", "struct", "final", "public", "using", "template"))

    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers
        self.parts = {f"{header}:{name}": name
                      for header, text in headers.items() for name in declared_in(text)}
        self.names = set(self.parts.values())
        self.definitions: dict[str, list[str]] = {}

    def of(self, name: str) -> list[str]:
        if name not in self.definitions:
            with_it = {header: text for header, text in self.headers.items() if f" {name}" in text}
            self.definitions[name] = types_named(name, with_it)
        return self.definitions[name]

    def has_member(self, name: str, member: str, depth: int = 0) -> bool:
        """Whether the class, or what it is derived from or an alias of, says `member`."""
        for definition in self.of(name):
            if re.search(rf"\b{member}\b", definition):
                return True
            heading = definition.split("{", 1)[0] if definition.endswith("}") else definition
            others = set(re.findall(r"\b[a-z_]\w+", heading)) - {name} - self.KEYWORDS
            if depth < 4 and any(self.has_member(other, member, depth + 1) for other in others):
                return True
        return False

    def has(self, name: str) -> bool:
        first, _, member = name.partition("::")
        return self.has_member(first, member) if member else first in self.names


def read_list(path: Path) -> set[str]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return {line for line in lines if line and not line.startswith("#")}


def not_covered(names: set[str], mentioned: set[str],
                excuses: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """The names that neither a mention nor an excuse covers, and the excuses that cover none."""
    left, idle = names - mentioned, []
    covered: set[str] = set()
    for pattern in (pattern for patterns in excuses.values() for pattern in patterns):
        matching = set(fnmatch.filter(left, pattern))
        if not matching:
            idle.append(pattern)
        covered |= matching
    return sorted(left - covered), idle


def check_rows(rows: list[Row], lists: dict[str, Library], gyre: Declarations) -> list[str]:
    findings = []
    for row in rows:
        where = f"{TABLE}:{row.line}"
        if row.verdict not in VERDICTS:
            findings.append(f"{where}: `{row.verdict}` is none of {', '.join(VERDICTS)}")
        if row.verdict != "no" and not row.names["gyre"]:
            findings.append(f"{where}: {row.verdict}, but no name of gyre's")
        if row.verdict != "yes" and not row.why:
            findings.append(f"{where}: {row.verdict}, but no reason")
        for library in LIBRARIES:
            known = lists[library].names
            findings += [f"{where}: {library} has no `{name}`" for name in row.names[library]
                         if name not in known and name.rpartition("::")[0] not in known]
        findings += [f"{where}: gyre declares no `{name}`" for name in row.names["gyre"]
                     if not gyre.has(name)]
    return findings


def counts_of(rows: list[Row]) -> str:
    lines = ["| family | parts | yes | partly | no | in none of the three |", "|---|---|---|---|---|---|"]
    for family in [*dict.fromkeys(row.family for row in rows), "all"]:
        of_family = [row for row in rows if family in (row.family, "all")]
        count = Counter(row.verdict for row in of_family)
        alone = sum(1 for row in of_family if not any(row.names[library] for library in LIBRARIES))
        numbers = [len(of_family), *(count[verdict] for verdict in VERDICTS), alone]
        lines.append(f"| {family} | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join(lines) + "\n"


def check(root: Path, fix: bool) -> tuple[list[str], list[Row]]:
    text = (root / TABLE).read_text(encoding="utf-8")
    rows, findings = read_table(text)
    excuses = tomllib.loads((root / EXCEPTIONS).read_text(encoding="utf-8"))
    lists = {name: Library(read_list(root / LISTS / f"{name}.txt"), excuses.get(name, {}))
             for name in LIBRARIES}
    public = root / "include/gyre"
    gyre = Declarations({path.relative_to(public).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
                         for path in sorted(public.rglob("*.hpp"))})

    findings += check_rows(rows, lists, gyre)
    spans = {who: {name for row in rows for name in row.names[who]} for who in (*LIBRARIES, "gyre")}
    words = {word for name in spans["gyre"] for word in (name, name.partition("::")[0])}
    excused = {place for patterns in excuses.get("gyre", {}).values() for place in patterns}
    often = {name for name, many in Counter(gyre.parts.values()).items() if many > 1}
    spans["gyre"] = {place for place, name in gyre.parts.items()
                     if name in words and not (name in often and place in excused)}
    lists["gyre"] = Library(set(gyre.parts), excuses.get("gyre", {}))
    for who, library in lists.items():
        missing, idle = not_covered(library.names, spans[who], library.excuses)
        findings += [f"{TABLE}: {who}'s `{name}` is neither here nor excused" for name in missing]
        findings += [f"{EXCEPTIONS}: {who}: `{pattern}` excuses nothing" for pattern in idle]

    begin, end = COUNTS
    if begin not in text or end not in text:
        return [*findings, f"{TABLE}: no place for the counts"], rows
    head, rest = text.split(begin, 1)
    old, tail = rest.split(end, 1)
    if old != (new := counts_of(rows)):
        if fix:
            (root / TABLE).write_text(head + begin + new + end + tail, encoding="utf-8")
        else:
            findings.append(f"{TABLE}: the counts are not those of the rows")
    return findings, rows


# What the lists are made by.


def names_of_asio(text: str) -> list[str]:
    """The parts of Asio's quick reference, which groups them: no requirements and traits of templates."""
    found, heading = [], ""
    for line in text.split("\n"):
        if (match := re.search(r"<bridgehead[^>]*>([^<]+)<", line)) is not None:
            heading = match[1].lower()
        match = re.search(r"<member><link[^>]*>([^<]+)</link>(.*)</member>", line)
        left_out = heading.endswith(("requirements", "traits"))
        if match is not None and not left_out and "deprecated" not in match[2]:
            found.append(match[1])
    return found


def names_of_headers(text: str) -> list[str]:
    """What a header of all headers includes, without folders that every path has, and the suffix."""
    return [name for name in re.findall(r"^#include <boost/(\w+/[\w/]+)\.hpp>", text, re.MULTILINE)
            if "/detail/" not in name]


def names_of_rustdoc(text: str) -> list[str]:
    """The items of a crate, as rustdoc lists them in all.html."""
    crate = re.search(r'<a href="\.\./(\w+)/index\.html">', text)
    prefix = "" if crate is None or crate[1] == "tokio" else f"{crate[1]}::"
    items = re.findall(r'<li><a href="[^"]*\.html">([^<]+)</a></li>', text)
    return [prefix + item for item in items if not item.endswith("_t")]


EXTRACTORS = {"asio": names_of_asio, "headers": names_of_headers, "rustdoc": names_of_rustdoc}


def extract(source: str, files: list[str]) -> str:
    names = [name for file in files for name in EXTRACTORS[source](Path(file).read_text(encoding="utf-8"))]
    return "".join(f"{name}\n" for name in sorted(set(names)))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compares docs/inventory.md with what it speaks of.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR")
    parser.add_argument("--fix", action="store_true", help="write the counts into the document")
    parser.add_argument("--extract", choices=EXTRACTORS, metavar="SOURCE", help="print the names of a source")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args(arguments)

    if options.extract:
        print(extract(options.extract, options.files), end="")
        return 0
    findings, rows = check(options.root, options.fix)
    for finding in findings:
        print(finding)
    count = Counter(row.verdict for row in rows)
    print(f"inventory: {len(rows)} parts, " + ", ".join(f"{count[each]} {each}" for each in VERDICTS)
          + f"; {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
