# SPDX-License-Identifier: BSL-1.0
#
# resolv.conf(5) and nsswitch.conf(5) as glibc, musl and gyre read them.
#
# Each row of name_settings_rows.py is a file, a name and name servers. All three resolvers are run with
# it; the questions that arrive, the outcome and the time that it takes must be the same for gyre as for
# glibc, or what the row says, with its reason (docs/decisions/0062-settings-of-names.md).
"""Compares three resolvers, and prints a table of line, glibc, musl, ours.

    name_settings.py ASK_GYRE [--only WORD]

Ends with 77, which ctest takes for skipped, where namespaces are refused or musl is not installed.
"""

import concurrent.futures
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from name_room import Missing, ask
from name_settings_rows import ROWS

SKIPPED = 77
SOURCE = Path(__file__).with_name("ask_libc.c")
COMPILERS = {"glibc": ["cc"], "musl": ["musl-gcc", "-static"]}
AT_ONCE = 12  # Rows; most of them wait for a server that is silent.
SLACK = 3  # Seconds that a busy machine may add.

# getaddrinfo(3), netdb.h; and what gyre prints.
OUTCOMES = {
    "error -2": "no host", "error -5": "no data", "error -3": "try again", "error -4": "failed",
    "error -11": "no host",  # EAI_SYSTEM: there is no source that could have been asked.
    "error no such host or service": "no host", "error no such record": "no data",
    "error timed out": "try again", "error name server failure": "try again",
}


def outcome_of(printed):
    if printed and printed[0].startswith(("error", "status")):
        return OUTCOMES.get(printed[0], printed[0])
    return " ".join(sorted(set(printed)))


def short(server):
    return server.removeprefix("127.0.0.")


def path_of(asked):
    """The questions by name, in the order of the names: their types, and the servers that were asked.

    Types that took one way are joined, since A and AAAA may be asked for at the same time.
    """
    ways = {}
    for server, name, kind, marks in asked:
        step = short(server) + "".join(f"/{mark}" for mark in marks)
        ways.setdefault(name, {}).setdefault(kind, []).append(step)
    texts = []
    for name, by_kind in ways.items():
        joined = {}
        for kind, steps in sorted(by_kind.items()):
            joined.setdefault(" ".join(steps), []).append(kind)
        texts += [f"{name or '.'} {'+'.join(kinds)} @{steps}" for steps, kinds in joined.items()]
    return "; ".join(texts) or "nothing"


def seen(row, answer):
    """What one resolver did, without the time."""
    if row.any_server:
        answer = {**answer, "asked": [["any", *each[1:]] for each in answer["asked"]]}
    return f"{path_of(answer['asked'])} -> {outcome_of(answer['printed'])}"


def ask_all(row, programs):
    room = {"etc": {"resolv.conf": row.resolv, "hosts": row.hosts, "host.conf": "multi on\n"},
            "servers": row.servers, "host": row.host, "variables": row.variables,
            "programs": [[program, row.name, *([row.family] if row.family else [])]
                         for program in programs.values()]}
    for file, text in (("resolv.conf", row.resolv), ("nsswitch.conf", row.nsswitch)):
        room["etc"].pop(file, None)
        if text is not None:
            room["etc"][file] = text
    return dict(zip(programs, ask(room)))


def faults_of(row, answers):
    glibc, ours = answers["glibc"], answers["gyre"]
    wanted = row.ours if row.ours is not None else seen(row, glibc)
    if seen(row, ours) != wanted:
        yield f"asked and found: {seen(row, ours)}, where {wanted} is due"
    if row.ours is None and ours["seconds"] > glibc["seconds"] + SLACK:
        yield f"took {ours['seconds']:.1f} s, and glibc {glibc['seconds']:.1f}"
    if row.ours is not None and wanted == seen(row, glibc):
        yield "does as glibc does, so no other answer is to be written down"


def judge(row, programs):
    """What all three did, and what is wrong with it; a busy machine has a second try."""
    answers = ask_all(row, programs)
    if list(faults_of(row, answers)):
        answers = ask_all(row, programs)
    return row, answers, list(faults_of(row, answers))


def printed_row(row, answers):
    cells = [f"{seen(row, each)} ({each['seconds']:.0f} s)" for each in answers.values()]
    if cells[2] == cells[0]:
        cells[2] = "as glibc"
    if cells[1] == cells[0]:
        cells[1] = "as glibc"
    return f"| {row.title} | {' | '.join(cells)} | {row.reason} |"


def built_programs(folder, ask_gyre):
    programs = {}
    for name, compiler in COMPILERS.items():
        if shutil.which(compiler[0]) is None:
            raise Missing(f"`{compiler[0]}` is not installed")
        programs[name] = f"{folder}/ask_{name}"
        subprocess.run([*compiler, "-o", programs[name], str(SOURCE)], check=True)
    return {**programs, "gyre": str(Path(ask_gyre).resolve())}


def main(arguments):
    ask_gyre, *others = arguments
    only = others[others.index("--only") + 1] if "--only" in others else ""
    rows = [row for row in ROWS if only in row.title]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = built_programs(folder, ask_gyre)
        ask({"etc": {}, "servers": {}, "host": "it", "variables": {}, "programs": []})
        print("| line | glibc | musl | gyre | why |\n|---|---|---|---|---|")
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for row, answers, faults in pool.map(lambda row: judge(row, programs), rows):
                print(printed_row(row, answers))
                for fault in faults:
                    failed += 1
                    print(f"WRONG: {row.title}: {fault}")
    print(f"{len(rows)} rows, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
