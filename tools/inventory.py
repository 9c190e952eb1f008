#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The table of other libraries' parts, docs/inventory.md, is true of the public headers.

A row of a table of seven columns says of one part what Asio, Corosio or Capy, and tokio call it, what gyre
calls it, whether gyre has it (yes, partly, no), and why or where. Code spans are names. Checked is that

- each name of gyre is declared in include/gyre, members in their class or its bases;
- each part of include/gyre is in the table, or in tools/not_public.toml, which excuses nothing else;
- yes has a name of gyre's, partly a name and a reason, no a reason; the counts above the tables are theirs.

    tools/inventory.py [--root DIR] [--fix]         --fix writes the counts
"""

import fnmatch
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from headers import declarations, is_stale, run
from reference import NOT_PUBLIC, excuses, parts

TABLE = "docs/inventory.md"
VERDICTS = ("yes", "partly", "no")
COUNTS = ("<!-- counts: tools/inventory.py --fix writes them -->\n", "<!-- end of counts -->\n")
SPAN = re.compile(r"`([^`]+)`")
PROTOCOL = re.compile(r"^(?:tls|http2?|websocket|web)::")  # Their namespaces are named in the table.


@dataclass
class Row:
    line: int
    family: str
    others: bool  # Another library has it.
    names: list[str]
    verdict: str
    why: str


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
        names = [PROTOCOL.sub("", name) for name in SPAN.findall(cells[4])]
        rows.append(Row(number, family, any(cells[1:4]), names, cells[5], cells[6]))
    return rows, findings


def declared(root: Path) -> set[str]:
    """Names, and `class::member` with the members of bases, and of the class that an alias stands for."""
    members: dict[str, set[str]] = defaultdict(set)
    others: dict[str, set[str]] = defaultdict(set)
    for each in declarations(root):
        name = each.name
        members[name] |= {one.name for one in each.members}
        others[name].update(each.bases, re.findall(r"\w+", each.code.partition("=")[2]))
        members[each.namespace.rpartition("::")[2]].add(name)
    for _ in range(4):
        for name in list(others):
            for other in others[name] & members.keys() - {name}:
                members[name] |= members[other]
    return members.keys() | {f"{name}::{one}" for name, of_it in members.items() for one in of_it}


def check_rows(rows: list[Row], known: set[str]) -> list[str]:
    findings = []
    for row in rows:
        where = f"{TABLE}:{row.line}"
        if row.verdict not in VERDICTS:
            findings.append(f"{where}: `{row.verdict}` is none of {', '.join(VERDICTS)}")
        if row.verdict != "no" and not row.names:
            findings.append(f"{where}: {row.verdict}, but no name of gyre's")
        if row.verdict != "yes" and not row.why:
            findings.append(f"{where}: {row.verdict}, but no reason")
        findings += [f"{where}: gyre declares no `{name}`" for name in row.names if name not in known]
    return findings


def check_parts(rows: list[Row], root: Path) -> list[str]:
    """Of a name in several headers, one may be excused by itself."""
    places = {part.place: part.name for part in parts(root) if part.kind != "constant"}
    patterns = excuses(root)
    excused = {place for pattern in patterns for place in fnmatch.filter(places, pattern)}
    words = {name.partition("::")[0] for row in rows for name in row.names}
    findings = [f"{TABLE}: gyre's `{place}` is neither here nor in {NOT_PUBLIC}"
                for place in sorted(places.keys() - excused) if places[place] not in words]
    return findings + [f"{NOT_PUBLIC}: `{pattern}` excuses nothing" for pattern in patterns
                       if not fnmatch.filter(places, pattern)]


def counts_of(rows: list[Row]) -> str:
    lines = ["| family | parts | yes | partly | no | in none of the three |", "|---|---|---|---|---|---|"]
    for family in [*dict.fromkeys(row.family for row in rows), "all"]:
        of_family = [row for row in rows if family in (row.family, "all")]
        count = Counter(row.verdict for row in of_family)
        alone = sum(not row.others for row in of_family)
        numbers = [len(of_family), *(count[verdict] for verdict in VERDICTS), alone]
        lines.append(f"| {family} | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join(lines) + "\n"


def check(root: Path, fix: bool) -> tuple[list[str], str]:
    text = (root / TABLE).read_text(encoding="utf-8")
    rows, findings = read_table(text)
    findings += check_rows(rows, declared(root)) + check_parts(rows, root)
    begin, end = COUNTS
    head, tail = text.partition(begin)[0], text.partition(end)[2]
    if is_stale(root / TABLE, head + begin + counts_of(rows) + end + tail, fix):
        findings.append(f"{TABLE}: the counts are not those of the rows")
    return findings, f"inventory: {len(rows)} parts"


if __name__ == "__main__":
    sys.exit(run(check, __doc__.splitlines()[0], sys.argv[1:]))
