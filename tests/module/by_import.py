#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Programs of examples/, and so of the guide, compile by import as they do by include.

In place of its headers of gyre a program imports the modules, which are compiled here as a user would. A name
that a program uses, and no module exports, is an error of the compiler, at its place in the program. To be
quick, all programs are one source, each in a namespace of its own, and nothing is generated. Those that need
headers of others or of their own, and those of the adapter to Asio, which no module has, are left out.

    tests/module/by_import.py [--compiler NAME] [--root DIR] --folder DIR PROGRAM...
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INCLUDE = re.compile(r"^#include <(gyre/)?\S+>$", re.MULTILINE)
ELSEWHERE = re.compile(r'^#include (?:"|<gyre/interop/asio|<(?!gyre/)\w+/)', re.MULTILINE)
# Of the standard, what gyre's headers bring by the way and a program may have left out.
BY_THE_WAY = ("chrono", "coroutine", "cstddef", "exception", "functional", "memory", "optional", "span",
              "string", "string_view", "system_error", "tuple", "utility", "variant", "vector")
AT_ONCE = 2
PATIENCE_SECONDS = 240


def by_import(programs: dict[str, str], modules: list[str]) -> str:
    """One source of all programs, by name, without a header of gyre's."""
    headers = dict.fromkeys(f"#include <{name}>" for name in BY_THE_WAY)
    spaces = []
    for number, (name, text) in enumerate(programs.items()):
        headers |= dict.fromkeys(match[0] for match in INCLUDE.finditer(text) if not match[1])
        spaces.append(f'namespace program_{number} {{\n#line 1 "{name}"\n{INCLUDE.sub("", text)}\n}}')
    return "\n".join([*headers, *(f"import {name};" for name in modules), *spaces, ""])


class Compiler:
    def __init__(self, name: str, root: Path, folder: Path) -> None:
        self.command = [name, "-std=c++20", f"-I{root}/include", f"-fprebuilt-module-path={folder}"]
        self.root, self.folder = root, folder

    def said(self, *arguments: str) -> str:
        """Nothing, if all is well."""
        done = subprocess.run([*self.command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, timeout=PATIENCE_SECONDS)
        return done.stdout.decode() or "failed, and said nothing\n" if done.returncode != 0 else ""

    def said_of_module(self, name: str) -> str:
        return self.said("-x", "c++-module", "--precompile", f"{self.root}/modules/{name}.cppm",
                         "-o", f"{self.folder}/{name}.pcm")

    def said_of_programs(self, source: str) -> str:
        path = self.folder / "by_import.cpp"
        path.write_text(source, encoding="utf-8")
        return self.said("-fsyntax-only", "-ferror-limit=0", str(path))


def failure(compiler: Compiler, programs: dict[str, str]) -> str:
    modules = sorted(path.stem for path in (compiler.root / "modules").glob("gyre.*.cppm"))
    if said := compiler.said_of_module("gyre"):
        return said
    with ThreadPoolExecutor(AT_ONCE) as threads:
        said = "".join(threads.map(compiler.said_of_module, modules))
    return said or compiler.said_of_programs(by_import(programs, ["gyre", *modules]))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compiles programs that import gyre.")
    parser.add_argument("--compiler", default="clang++-19", metavar="NAME")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], metavar="DIR")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="for what is made")
    parser.add_argument("programs", nargs="+", type=Path)
    options = parser.parse_args(arguments)

    options.folder.mkdir(parents=True, exist_ok=True)
    texts = {str(path): path.read_text(encoding="utf-8") for path in options.programs}
    programs = {name: text for name, text in texts.items() if ELSEWHERE.search(text) is None}
    if said := failure(Compiler(options.compiler, options.root, options.folder), programs):
        print(said, end="")
        return 1
    print(f"{len(programs)} programs compile by import")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
