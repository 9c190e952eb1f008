#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Does a comparison of two runs see what is there, and only that? Of a real change the size is unknown, so one
# is planted whose size is known.
"""run.py sensitivity FOLDER [--blocks N]: a slowdown that `compare` must name, and a no-op.

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

from analyse import compare
from analyse.frame import Run, load

LAB = Path(__file__).resolve().parents[1]
FILE = "src/runtime/perform.cpp"
SEND = """    return outcome(::send(on.number, op.data, on.portion_of(op), MSG_DONTWAIT | MSG_NOSIGNAL));
"""
VARIANTS = {
    "as_it_is": SEND,
    "slower": """    const auto began = __builtin_ia32_rdtsc();
    const ssize_t sent = ::send(on.number, op.data, on.portion_of(op), MSG_DONTWAIT | MSG_NOSIGNAL);
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
SUITES, CASES = ("latency",), "*64*"  # Messages of 64 bytes: what a send costs is most of them.


def planted(source: str, variant: str) -> str:
    """Raises ValueError if the source has changed, so that nothing would be planted."""
    if source.count(SEND) != 1:
        raise ValueError(f"{FILE} does not send as sensitivity.py knows it")
    return source.replace(SEND, VARIANTS[variant])


def run(command: list[str], **how) -> subprocess.CompletedProcess:
    print("+", *command, file=sys.stderr, flush=True)
    return subprocess.run(command, check=True, **how)


def copy_sources(to: Path) -> None:
    root = LAB.parent
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


def measure(folder: Path, variant: str, blocks: int) -> Path:
    path = folder / f"{variant}.jsonl"
    path.unlink(missing_ok=True)
    run([sys.executable, "-B", str(LAB / "run.py"), *SUITES, "--build", str(folder / variant), "--quick",
         "--case", CASES, "--contenders", CONTENDERS, "--blocks", str(blocks), "--no-system-calls",
         "--json", str(path)], stdout=subprocess.DEVNULL)
    return path


def verdicts(before: Run, after: Run) -> Counter:
    """How many of gyre's rows have become what. A row that has vanished is worse."""
    found = Counter(each.verdict for each in compare.changes(before, after))
    found["worse"] += len(compare.vanished(before, after))
    return found


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="run.py sensitivity", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--blocks", type=int, default=12, metavar="N")
    asked = parser.parse_args(words)
    folder = asked.folder.resolve()
    copy_sources(folder / "sources")
    build(folder / "sources", folder)
    results = {each: measure(folder, each, asked.blocks) for each in VARIANTS}
    found = {}
    for variant in ("slower", "no_op"):
        print(f"== {variant}", flush=True)
        before, after = load(results["as_it_is"]), load(results[variant])
        compare.report(before, after, False, True)
        found[variant] = verdicts(before, after)
    named = found["slower"]["worse"] > 0
    quiet = found["no_op"]["worse"] == found["no_op"]["better"] == 0
    print(f"the slowdown {'is' if named else 'is NOT'} named; the no-op {'is not' if quiet else 'IS'}")
    return 0 if named and quiet else 1
