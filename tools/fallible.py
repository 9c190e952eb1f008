#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Public functions that can fail, and what each yields.

A function whose contract has an `Errors` clause (docs/STYLE.md, rule 3) yields an io_result, or is awaited
for one: no failure of the world is an exception. This reads the public headers, follows what a function
returns to what its await yields, and prints

    header:line: name: what it yields

Run it from anywhere: `tools/fallible.py [--root DIR] [--check]`. A function that yields anything else, or
whose type cannot be followed, is a finding, and the exit code is 1. `--check` prints the findings only.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

# What stands for what something else yields: the awaitable, function or coroutine that was passed.
FORWARDED = re.compile(r"\b(?:Result|result|result_type|awaited|any_result|any_in_result|received)\b")
# An error by itself is a value as well: of what has no other result.
VALUES = re.compile(r"\bio_result\b|\berror\b")
ERRORS = re.compile(r"///.*\bErrors(?:, \w+)*: +(.*)")
NAME = re.compile(r"(operator\(\)|[A-Za-z_]\w*)\s*\(")
ATTRIBUTES = re.compile(r"\[\[.*?\]\]|\bGYRE_\w+\b|\b(?:static|inline|constexpr|virtual|friend|explicit)\b|"
                        r"template\s*<[^;{]*?>(?=\s*(?:requires|\[\[|\w))|requires\s*\([^)]*\)")


@dataclass(frozen=True)
class Fallible:
    path: str
    line: int
    name: str
    yields: str  # Empty: it could not be found out, or is no value.

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}: {self.yields or 'yields no io_result'}"


def declaration_at(lines: list[str], at: int) -> str:
    """What is declared from line `at` on, with its body if that stands there."""
    text = ""
    for line in lines[at : at + 40]:
        text += line.split("//")[0].rstrip() + " "
        if text.count("{") == text.count("}") and text.rstrip().endswith((";", "}")):
            break
    return " ".join(text.split())


def contracts(text: str) -> list[tuple[int, str]]:
    """(line, declaration) of every contract that speaks of errors which are not none."""
    lines = text.split("\n")
    found = []
    block: list[str] = []
    for number, line in enumerate(lines):
        if line.strip().startswith("///"):
            block.append(line)
            continue
        if block and line.strip():
            clauses = [match[1] for match in map(ERRORS.search, block) if match]
            if clauses and not all(re.match(r"none[.;]?$", clause.strip()) for clause in clauses):
                found.append((number, declaration_at(lines, number)))
        block = []
    return found


def types_named(name: str, headers: dict[str, str]) -> list[str]:
    """The definitions of the class or alias called `name`: their text, without what follows them."""
    found = []
    for text in headers.values():
        for match in re.finditer(rf"\b(?:class|struct)\s+(?:\[\[nodiscard\]\]\s+)?{name}\b[^;{{]*\{{", text):
            depth, end = 1, match.end()
            while depth > 0 and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            found.append(match[0] + text[match.end() : end])
        found += [match[1] for match in re.finditer(rf"\busing\s+{name}\s*=([^;]*);", text)]
    return found


def arguments_of(text: str) -> str:
    """What stands in front of the `>` that ends a list of template arguments."""
    depth = 1
    for at, character in enumerate(text):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if depth == 0:
            return text[:at]
    return text


def yield_of(type_text: str, headers: dict[str, str], depth: int = 0) -> str:
    """What awaiting a value of this type yields, or that value itself."""
    if "submission<" in type_text:
        type_text = arguments_of(type_text.split("submission<", 1)[1]).split(",", 1)[-1]
    if VALUES.search(type_text):
        return VALUES.search(type_text)[0]
    for name in re.findall(r"\b([a-z_]\w*)\(", type_text):
        if any(re.search(rf"\bio_result<.*> {name}\(", text) for text in headers.values()):
            return "io_result"
    if FORWARDED.search(type_text):
        return "what it is given yields"
    if depth > 5:
        return ""
    for name in re.findall(r"[a-z_]\w*", type_text):
        for definition in types_named(name, headers):
            if not definition.endswith("}"):
                result = yield_of(definition, headers, depth + 1)
            else:
                heads = re.findall(r"([^;{}]*?)\b(?:await_resume|operator\(\))\s*\(", definition)
                inherited = definition.split("{", 1)[0].partition(":")[2]
                results = (yield_of(each, headers, depth + 1) for each in [*heads, inherited])
                result = next(filter(None, results), "")
            if result:
                return result
    # A parameter of a template: whatever is put there.
    return "what it is given yields" if re.search(r"\b[A-Z][a-z]\w*\b", type_text) else ""


def read(path: str, headers: dict[str, str]) -> list[Fallible]:
    found = []
    for line, declaration in contracts(headers[path]):
        plain = " ".join(ATTRIBUTES.sub(" ", declaration).split())
        if re.match(r"(class|struct|enum|namespace|using|concept)\b", plain):
            continue
        name = NAME.search(plain)
        if name is None:
            continue
        returned = plain[: name.start()].strip()
        if returned.startswith("auto"):
            returned = plain[name.start() :]
        found.append(Fallible(path, line + 1, name[1], yield_of(returned, headers)))
    return found


def read_all(root: Path) -> list[Fallible]:
    headers = {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in sorted((root / "include").rglob("*.hpp"))
    }
    return [each for path in headers for each in read(path, headers)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Public functions that can fail, and what each yields.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--check", action="store_true", help="print the findings only")
    arguments = parser.parse_args()
    all_found = read_all(arguments.root)
    findings = [each for each in all_found if not each.yields]
    for each in findings if arguments.check else all_found:
        print(each)
    if not arguments.check:
        print(f"{len(all_found)} functions can fail, {len(findings)} of them without an io_result")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
