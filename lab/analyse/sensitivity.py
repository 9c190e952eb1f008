#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Does a comparison of two runs see what is there, and only that? Nobody knows of a real change how large it
# is, so one is planted whose size is known.
"""planted.py FOLDER [--repetitions N] [--turns N]: a slowdown that compare.py must name, and a no-op.

Copies the sources to FOLDER and builds the lab three times: as it is, with each of gyre's sends to a socket
made to take a tenth longer, and with an instruction in the same place that does nothing. Measures each, with
Asio beside it, and compares the first with the other two. Ends with 0 if the slowdown is named worse in a row
at least, and the no-op is named in none.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import compare
from evidence import Run

HERE = Path(__file__).resolve().parent
FILE = "src/runtime/perform.cpp"
SEND = """    return outcome(::send(on.number, op.data, on.portion_of(op.size), MSG_DONTWAIT | MSG_NOSIGNAL));
"""
VARIANTS = {
    "as_it_is": SEND,
    "slower": """    const auto began = __builtin_ia32_rdtsc();
    const ssize_t sent = ::send(on.number, op.data, on.portion_of(op.size), MSG_DONTWAIT | MSG_NOSIGNAL);
    const int failure = errno;
    const auto ended = __builtin_ia32_rdtsc();
    while (__builtin_ia32_rdtsc() - ended < (ended - began) / 10) {
    }
    errno = failure;
    return outcome(sent);
""",
    "no_op": """    asm volatile("nop");
""" + SEND,
}
CONTENDERS = "gyre_uring,gyre_epoll,asio_callback,asio_coroutine"
SUITES, CASES = ("latency", "echo"), "*64*"  # Messages of 64 bytes: what a send costs is most of them.


def planted(source: str, variant: str) -> str:
    """Raises ValueError if the source has changed, so that nothing would be planted."""
    if source.count(SEND) != 1:
        raise ValueError(f"{FILE} does not send as planted.py knows it")
    return source.replace(SEND, VARIANTS[variant])


def run(command: list[str], **how) -> subprocess.CompletedProcess:
    print("+", *command, file=sys.stderr, flush=True)
    return subprocess.run(command, check=True, **how)


def copy_sources(to: Path) -> None:
    root = HERE.parent
    names = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True,
                           text=True).stdout.split("\0")
    for name in filter(None, names):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)


def build(sources: Path, folder: Path) -> None:
    """Each variant's programs in a folder of its own; all but the one file is built once."""
    whole = folder / "build"
    run(["cmake", "--preset", "release", "-B", str(whole)], cwd=sources, stdout=subprocess.DEVNULL)
    source = (sources / FILE).read_text(encoding="utf-8")
    for variant in VARIANTS:
        (sources / FILE).write_text(planted(source, variant), encoding="utf-8")
        run(["cmake", "--build", str(whole), "--target", "lab"], stdout=subprocess.DEVNULL)
        shutil.rmtree(folder / variant / "lab", ignore_errors=True)
        shutil.copytree(whole / "lab", folder / variant / "lab",
                        ignore=lambda where, names: [each for each in names if each == "CMakeFiles"])
    (sources / FILE).write_text(source, encoding="utf-8")


def measure(folder: Path, variant: str, repetitions: int, turns: int) -> Path:
    path = folder / f"{variant}.json"
    run([sys.executable, "-B", str(HERE / "run.py"), *SUITES, "--build", str(folder / variant), "--quick",
         "--case", CASES, "--contenders", CONTENDERS, "--repetitions", str(repetitions),
         "--turns", str(turns), "--json", str(path)], stdout=subprocess.DEVNULL)
    return path


def verdicts(before: Run, after: Run) -> Counter:
    """How many of gyre's rows have become what. A row that has vanished is worse."""
    found = Counter(each.verdict for each in compare.changes(before, after))
    found["worse"] += len(compare.vanished(before, after))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--repetitions", type=int, default=10, metavar="N")
    parser.add_argument("--turns", type=int, default=4, metavar="N")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    sources = folder / "sources"
    copy_sources(sources)
    build(sources, folder)
    results = {each: measure(folder, each, arguments.repetitions, arguments.turns) for each in VARIANTS}
    found = {}
    for variant in ("slower", "no_op"):
        print(f"== {variant}", flush=True)
        pair = results["as_it_is"], results[variant]
        subprocess.run([sys.executable, "-B", str(HERE / "compare.py"), *map(str, pair), "--all"],
                       check=False)
        found[variant] = verdicts(*map(compare.load, pair))
    named = found["slower"]["worse"] > 0
    quiet = found["no_op"]["worse"] == found["no_op"]["better"] == 0
    print(f"the slowdown {'is' if named else 'is NOT'} named; the no-op {'is not' if quiet else 'IS'}")
    return 0 if named and quiet else 1


if __name__ == "__main__":
    sys.exit(main())
