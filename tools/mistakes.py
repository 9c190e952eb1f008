#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""docs/guide/mistakes.md quotes what compilers and programs really say.

In front of a block of the page stands who says it, about what, and how many lines of it are shown:

    <!-- said: clang++ 19 task_dropped 3 -->    a compiler, of tests/compile_fail/task_dropped.cpp, without
                                                the names of included files
    <!-- said: mistakes two_loops 2 -->         the program tests/mistakes, with that argument

`tools/mistakes.py --compiler "clang++ 19" --recorded DIR --program PATH [--fix]`: the compiler's words are
in DIR, a file each, where the tests of tests/compile_fail left them; the program is run. Blocks of other
compilers are left alone. A block that differs is printed, and the exit code is 1; `--fix` writes the page.
Not compared are numbers of lines and columns, times, the width of margins and, of programs that g++ built,
names of functions, which the page has from clang.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PAGE = "docs/guide/mistakes.md"
BLOCK = re.compile(r"^<!-- said: (\S+(?: \d+)?) (\S+) (\d+) -->\n(?:```text\n(.*?)^```$)?",
                   re.MULTILINE | re.DOTALL)
PROGRAM = "mistakes"
PATIENCE_SECONDS = 120


def said_here(options: argparse.Namespace, who: str, what: str) -> list[str] | None:
    """All lines of the program, or of the compiler; None if this build has no such compiler."""
    if who not in (PROGRAM, options.compiler):
        return None
    if who == PROGRAM:
        done = subprocess.run([options.program, what], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, timeout=PATIENCE_SECONDS)
        text = done.stdout.decode()
    else:
        text = (options.recorded / what).read_text(encoding="utf-8")
        text = re.sub(r"\A(In file included from .*\n|                 from .*\n)*", "", text)
    text = re.sub(r"(?<![\w/])(\.\./)+", "", text.replace(f"{options.root}/", ""))
    # A cache that clones share may have compiled the object in another one.
    return re.sub(r"(?<= at )/\S*?/(?=(?:include|src|tests)/)", "", text).rstrip("\n").split("\n")


def comparable(line: str, names_functions: bool) -> str:
    line = re.sub(r"^ *\d* \|", "|", line)
    line = re.sub(r"\.([ch]pp)(:\d+)+", r".\1", line)
    line = re.sub(r"\d+ ms$", "ms", line)
    line = re.sub("[\u2018\u2019]", "'", line)  # As the locale has them.
    if not names_functions:
        line = re.sub(r"^(  at \S+) in .*", r"\1", line)
        line = re.sub(r"the task was in .* at ", "the task was in a function at ", line)
        line = re.sub(r"^( *).* at (\S+), ms$", r"\1a function at \2", line)
    return line.rstrip()


def check(page: str, said: Callable[[str, str], list[str] | None],
          names_functions: bool) -> tuple[str, list[str], int]:
    """The page as it should read, the findings, and how many blocks were compared."""
    findings: list[str] = []
    compared = 0

    def compare(block: re.Match) -> str:
        nonlocal compared
        who, what, count, written = block.groups()
        where = f"{PAGE}:{page.count(chr(10), 0, block.start()) + 1}"
        if written is None:
            findings.append(f"{where}: no block of text follows")
        elif (lines := said(who, what)) is not None:
            compared += 1
            lines = lines[: int(count)]
            if [comparable(line, names_functions) for line in written.split("\n")[:-1]] != [
                    comparable(line, names_functions) for line in lines]:
                findings.append(f"{where}: {who} says of {what}:\n" + "\n".join(lines))
                return block[0].replace(f"```text\n{written}", "\n".join(["```text", *lines, ""]))
        return block[0]

    return BLOCK.sub(compare, page), findings, compared


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compares the page of mistakes with what is said of them.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR")
    parser.add_argument("--compiler", required=True, help='such as "clang++ 19"')
    parser.add_argument("--recorded", type=Path, required=True, metavar="DIR", help="what it has said")
    parser.add_argument("--program", required=True, metavar="PATH", help="tests/mistakes, as it is built")
    parser.add_argument("--fix", action="store_true", help="write the page")
    options = parser.parse_args(arguments)

    file = options.root / PAGE
    right, findings, compared = check(file.read_text(encoding="utf-8"),
                                      lambda who, what: said_here(options, who, what),
                                      options.compiler.startswith("clang"))
    if options.fix:
        file.write_text(right, encoding="utf-8")
    print(*findings, f"mistakes: {compared} blocks compared, {len(findings)} findings", sep="\n")
    return 1 if findings or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
