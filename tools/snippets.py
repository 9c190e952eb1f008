#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""C++ that documents show is compiled and tested: each block quotes a source, or says why it does not.

In a source file, a snippet stands between `// snippet: NAME` and `// end of snippet`. A document quotes it,
or excuses its block, by a comment in the line in front:

    <!-- snippet: examples/hello.cpp NAME -->       <!-- not compiled: shows a mistake -->
    ```cpp                                          ```cpp

Run it from anywhere: `tools/snippets.py [--root DIR] [--fix]`. Findings are printed as `path:line: message`,
and the exit code is 1: a block that differs from its snippet, which `--fix` writes into the document; a block
without a comment; a comment without a block; a snippet that no document quotes.
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

BEGIN = re.compile(r"^[ \t]*// snippet: (\S+)[ \t]*$")
END = re.compile(r"^[ \t]*// end of snippet[ \t]*$")
MARK = re.compile(r"^<!-- (?:snippet: (\S+) (\S+)|not compiled: .*\S) -->$")
SOURCE_FOLDERS = ("examples", "include", "exchange", "lab", "tests")
SOURCE_SUFFIXES = {".cpp", ".hpp"}
BLOCK = "```cpp"

Snippets = dict[tuple[str, str], str]  # Path and name -> text.


def read_snippets(path: str, text: str) -> tuple[Snippets, list[str]]:
    """The snippets of one source file, without the indentation that their lines share."""
    found: Snippets = {}
    findings = []
    name, lines = "", []
    for number, line in enumerate(text.split("\n"), 1):
        begins, ends = BEGIN.match(line), END.match(line)
        if (begins and name) or (ends and not name):
            findings.append(f"{path}:{number}: a snippet in a snippet, or an end without a beginning")
        if begins:
            name, lines = begins[1], []
        elif ends and name:
            if (path, name) in found:
                findings.append(f"{path}:{number}: a second snippet `{name}`")
            found[path, name] = textwrap.dedent("\n".join(lines)).strip("\n")
            name = ""
        else:
            lines.append(line)
    return found, [*findings, *([f"{path}:1: `{name}` never ends"] if name else [])]


def check_document(path: str, text: str, snippets: Snippets, quoted: set) -> tuple[str, list[str]]:
    """The document as it should read, and its findings."""
    lines, findings, result, at = text.split("\n"), [], [], 0
    while at < len(lines):
        line, before = lines[at], lines[at - 1] if at > 0 else ""
        mark = MARK.match(before)
        result.append(line)
        at += 1
        if not line.startswith("```"):
            if mark is not None:
                findings.append(f"{path}:{at}: no code block follows")
            continue
        end = next((number for number in range(at, len(lines)) if lines[number] == "```"), len(lines))
        body = lines[at:end]
        if end == len(lines):
            findings.append(f"{path}:{at}: a code block that never ends")
        if (line == BLOCK) != (mark is not None):
            findings.append(f"{path}:{at}: C++ that is no quotation and not excused, or the other way round")
        elif mark is not None and mark[1]:
            wanted = snippets.get((mark[1], mark[2]))
            quoted.add((mark[1], mark[2]))
            if wanted is None:
                findings.append(f"{path}:{at}: {mark[1]} has no snippet `{mark[2]}`")
            elif body != wanted.split("\n"):
                findings.append(f"{path}:{at}: differs from `{mark[2]}` in {mark[1]}")
                body = wanted.split("\n")
        result += [*body, *lines[end : end + 1]]
        at = end + 1
    return "\n".join(result), findings


def check(root: Path, fix: bool) -> list[str]:
    snippets: Snippets = {}
    findings = []
    for file in (each for folder in SOURCE_FOLDERS for each in sorted((root / folder).rglob("*"))):
        if file.suffix in SOURCE_SUFFIXES:
            found, wrong = read_snippets(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
            snippets |= found
            findings += wrong
    quoted: set[tuple[str, str]] = set()
    for file in sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")]):
        text = file.read_text(encoding="utf-8")
        right, wrong = check_document(file.relative_to(root).as_posix(), text, snippets, quoted)
        if fix and right != text:
            file.write_text(right, encoding="utf-8")
            wrong = [each for each in wrong if ": differs from " not in each]
        findings += wrong
    return findings + [f"{path}:1: no document quotes the snippet `{name}`"
                       for path, name in sorted(snippets.keys() - quoted)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compares code in documents with the files it is from.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR")
    parser.add_argument("--fix", action="store_true", help="write the snippets into the documents")
    options = parser.parse_args(arguments)

    findings = check(options.root, options.fix)
    print(*findings, f"snippets: {len(findings)} findings", sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
