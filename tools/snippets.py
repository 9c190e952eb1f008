#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Code that a document quotes is the code that is compiled and tested.

In a source file, a snippet stands between `// snippet: NAME` and `// end of snippet`. A document quotes
it by a comment in front of a code block:

    <!-- snippet: examples/hello.cpp NAME -->
    ```cpp
    ...
    ```

Run it from anywhere: `tools/snippets.py [--root DIR] [--fix]`. Each block that differs from its snippet is
printed as `path:line: message`, and the exit code is 1; `--fix` writes the snippets into the documents.
A snippet that no document quotes is an error, too: it would be taken for one that is.
"""

import argparse
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

BEGIN = re.compile(r"^[ \t]*// snippet: (\S+)[ \t]*$")
END = re.compile(r"^[ \t]*// end of snippet[ \t]*$")
QUOTE = re.compile(r"^<!-- snippet: (\S+) (\S+) -->$")
SOURCE_FOLDERS = ("examples", "include", "exchange", "lab", "tests")
SOURCE_SUFFIXES = {".cpp", ".hpp"}


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def read_snippets(path: str, text: str) -> tuple[dict[str, str], list[Finding]]:
    """The snippets of one source file by name, without the indentation that they share."""
    snippets: dict[str, str] = {}
    findings = []
    name, begun, lines = "", 0, []
    for number, line in enumerate(text.split("\n"), 1):
        if (match := BEGIN.match(line)) is not None:
            if name:
                findings.append(Finding(path, number, f"`{name}` has not ended here"))
            if match[1] in snippets:
                findings.append(Finding(path, number, f"a second snippet `{match[1]}`"))
            name, begun, lines = match[1], number, []
        elif END.match(line):
            if not name:
                findings.append(Finding(path, number, "the end of a snippet that has not begun"))
            snippets[name] = textwrap.dedent("\n".join(lines)).strip("\n") + "\n"
            name = ""
        elif name:
            lines.append(line)
    if name:
        findings.append(Finding(path, begun, f"`{name}` never ends"))
    snippets.pop("", None)
    return snippets, findings


def all_snippets(root: Path) -> tuple[dict[tuple[str, str], str], list[Finding]]:
    found, findings = {}, []
    for folder in SOURCE_FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SOURCE_SUFFIXES:
                path = file.relative_to(root).as_posix()
                snippets, wrong = read_snippets(path, file.read_text(encoding="utf-8"))
                findings += wrong
                found.update({(path, name): text for name, text in snippets.items()})
    return found, findings


def check_document(path: str, text: str, snippets: dict[tuple[str, str], str],
                   quoted: set[tuple[str, str]]) -> tuple[str, list[Finding]]:
    """The document as it should read, and what is wrong with it as it is."""
    lines, findings = text.split("\n"), []
    result, at = [], 0
    while at < len(lines):
        result.append(lines[at])
        match = QUOTE.match(lines[at])
        at += 1
        if match is None:
            continue
        wanted = snippets.get((match[1], match[2]))
        end = end_of_block(lines, at)
        if wanted is None:
            findings.append(Finding(path, at, f"{match[1]} has no snippet `{match[2]}`"))
        elif end is None:
            findings.append(Finding(path, at, "no code block follows, or it never ends"))
        else:
            quoted.add((match[1], match[2]))
            if "\n".join(lines[at + 1 : end]) + "\n" != wanted:
                findings.append(Finding(path, at + 1, f"differs from `{match[2]}` in {match[1]}"))
            result += [lines[at], *wanted.rstrip("\n").split("\n")]
            at = end
    return "\n".join(result), findings


def end_of_block(lines: list[str], at: int) -> int | None:
    """The line that closes the code block which begins at `at`, if one does."""
    if at >= len(lines) or not lines[at].startswith("```"):
        return None
    return next((number for number in range(at + 1, len(lines)) if lines[number] == "```"), None)


def documents(root: Path) -> list[Path]:
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def check(root: Path, fix: bool) -> list[Finding]:
    snippets, findings = all_snippets(root)
    quoted: set[tuple[str, str]] = set()
    for file in documents(root):
        text = file.read_text(encoding="utf-8")
        path = file.relative_to(root).as_posix()
        right, wrong = check_document(path, text, snippets, quoted)
        if fix and right != text:
            file.write_text(right, encoding="utf-8")
            wrong = [each for each in wrong if "differs" not in each.message]
        findings += wrong
    for path, name in sorted(snippets.keys() - quoted):
        findings.append(Finding(path, 1, f"no document quotes the snippet `{name}`"))
    return findings


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compares code in documents with the files it is from.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent,
                        metavar="DIR", help="the project to check (default: the one this file is in)")
    parser.add_argument("--fix", action="store_true", help="write the snippets into the documents")
    options = parser.parse_args(arguments)

    findings = check(options.root, options.fix)
    for finding in findings:
        print(finding)
    print(f"snippets: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
