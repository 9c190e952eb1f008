#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""What docs/guide/mistakes.md says that compilers and programs say is what they say.

In front of a block of the page stands who says it, about what, and how many lines of it are shown:

    <!-- said: clang++ 19 task_dropped 3 -->    a compiler, of tests/compile_fail/task_dropped.cpp; begins
                                                behind the names of included files
    <!-- said: mistakes two_loops 2 -->         the program tests/mistakes, with that argument

`tools/mistakes.py --compiler "clang++ 19" --recorded DIR --program PATH [--fix]`: what the compiler has said
is in DIR, a file each, left there by the tests of tests/compile_fail (`ctest -R compile_fail:`, then
build/dev/tests/compile_fail/said); the program is run. Blocks of other compilers are left alone. Each block
that differs is printed, and the exit code is 1; `--fix` writes the page. Numbers of lines and columns, times
and the width of margins are not compared; nor, of what g++ has built, are names of functions, which the page
has as clang tells them.
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PAGE = "docs/guide/mistakes.md"
MARK = re.compile(r"^<!-- said: (\S+(?: \d+)?) (\S+) (\d+) -->$")
PROGRAM = "mistakes"
PATIENCE_SECONDS = 120


@dataclass
class Sayings:
    """What is said here: by the compiler of this build, and by the program that it has built."""

    root: Path
    compiler: str
    recorded: Path
    program: str

    def of(self, who: str, what: str) -> list[str] | None:
        """All lines; none if this build has no such compiler."""
        if who == PROGRAM:
            done = subprocess.run([self.program, what], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False, timeout=PATIENCE_SECONDS)
            text = done.stdout.decode()
        elif who == self.compiler:
            text = behind_includes((self.recorded / what).read_text(encoding="utf-8"))
        else:
            return None
        text = re.sub(r"(?<![\w/])(\.\./)+", "", text.replace(f"{self.root}/", ""))
        # A cache that clones share may have compiled the object in another one.
        text = re.sub(r"(?<= at )/\S*?/(?=(?:include|src|tests)/)", "", text)
        return text.rstrip("\n").split("\n")


def behind_includes(text: str) -> str:
    return re.sub(r"\A(In file included from .*\n|                 from .*\n)*", "", text)


def comparable(line: str, names_functions: bool) -> str:
    line = re.sub(r"^ *\d* \|", "|", line)
    line = re.sub(r"\.([ch]pp)(:\d+)+", r".\1", line)
    line = re.sub(r"\d+ ms$", "ms", line)
    line = re.sub("[\u2018\u2019]", "'", line)  # As the locale has them.
    if names_functions:
        return line.rstrip()
    line = re.sub(r"^(  at \S+) in .*", r"\1", line)
    line = re.sub(r"the task was in .* at ", "the task was in a function at ", line)
    return re.sub(r"^( *).* at (\S+), ms$", r"\1a function at \2", line).rstrip()


def check(page: str, sayings: Sayings) -> tuple[str, list[str], int]:
    """The page as it should read, what is wrong with it as it is, and how many blocks were compared."""
    lines, result, findings = page.split("\n"), [], []
    names_functions = sayings.compiler.startswith("clang")
    at = compared = 0
    while at < len(lines):
        result.append(lines[at])
        match = MARK.match(lines[at])
        at += 1
        if match is None:
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n] == "```"), None)
        if end is None or lines[at] != "```text":
            findings.append(f"{PAGE}:{at}: no block of text follows")
            continue
        said = sayings.of(match[1], match[2])
        if said is None:
            continue
        compared += 1
        said = said[: int(match[3])]
        written = [comparable(line, names_functions) for line in lines[at + 1 : end]]
        if written != [comparable(line, names_functions) for line in said]:
            findings.append(f"{PAGE}:{at}: {match[1]} says of {match[2]}:\n" + "\n".join(said))
            result += [lines[at], *said]
        else:
            result += lines[at:end]
        at = end
    return "\n".join(result), findings, compared


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compares the page of mistakes with what is said of them.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR")
    parser.add_argument("--compiler", required=True, help='such as "clang++ 19"')
    parser.add_argument("--recorded", type=Path, required=True, metavar="DIR", help="what it has said")
    parser.add_argument("--program", required=True, metavar="PATH", help="tests/mistakes, as it is built")
    parser.add_argument("--fix", action="store_true", help="write the page")
    options = parser.parse_args(arguments)

    file = options.root / PAGE
    text = file.read_text(encoding="utf-8")
    sayings = Sayings(options.root, options.compiler, options.recorded, options.program)
    right, findings, compared = check(text, sayings)
    if options.fix:
        file.write_text(right, encoding="utf-8")
    for finding in findings:
        print(finding)
    print(f"mistakes: {compared} blocks compared, {len(findings)} findings")
    return 1 if findings or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
