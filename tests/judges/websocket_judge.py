# SPDX-License-Identifier: BSL-1.0
#
# RFC 6455 and RFC 7692 by the Autobahn suite, and by the two WebSocket libraries that most peers use.
"""Judges WebSocket servers and clients.

The suite plays the peer that misbehaves: a client that tries every case against a server, or a server to
which a client connects once for each case. Its cases are its own; only its outcome is read here.
"""

from __future__ import annotations

import fnmatch
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import toolbox
from subjects import (
    BUILD,
    HERE,
    HOST,
    CannotStart,
    Subject,
    accepts,
    end_group,
    fill,
    free_port,
    run,
    serving,
)
from verdicts import FAILED, Row, verdict

SUITE_SECONDS_MAX = 7200  # Sections 9, 12 and 13 compute a lot, and other work may share the machine.
PEER_SECONDS_MAX = 120
RIGHT = ("OK", "INFORMATIONAL")

# pip --target leaves namespace packages to site, which only looks at folders that it is told of.
WSTEST = "import site, sys; site.addsitedir(sys.argv.pop(1)); from autobahntestsuite.wstest import run; run()"


def suite(mode: str, spec: dict, folder: Path) -> list[str]:
    """The command of the suite in one of its modes."""
    site = toolbox.get("autobahn") / "site"
    path = folder / f"{mode}.json"
    path.write_text(json.dumps(spec), encoding="ascii")
    return [str(toolbox.find("python2.7")), "-c", WSTEST, str(site), "--mode", mode, "--spec", str(path),
            "--webport", "0"]


def fresh_folder(subject: Subject) -> Path:
    folder = BUILD / "reports" / f"{subject.name}-{subject.role}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def number(case: str) -> tuple[int, ...]:
    return tuple(int(part) for part in case.split("."))


def all_cases() -> list[str]:
    """As the suite itself numbers them."""
    listing = "import site, sys; site.addsitedir(sys.argv[1])\n" \
              "from autobahntestsuite.case import Cases\n" \
              "print(' '.join(c.__name__[4:].replace('_', '.') for c in Cases))"
    status, out = run([toolbox.find("python2.7"), "-c", listing, str(toolbox.get("autobahn") / "site")], 60)
    if status != 0:
        raise CannotStart(f"the suite does not list its cases: {out.strip()[-200:]}")
    return out.splitlines()[-1].split()


def chosen_cases(patterns: Sequence[str]) -> list[str]:
    return [case for case in all_cases() if any(fnmatch.fnmatchcase(case, each) for each in patterns)]


def read_report(folder: Path, cases: Sequence[str], agent: str) -> list[Row]:
    """A row for each case; one that the suite says nothing of has failed."""
    index = folder / "index.json"
    found = json.loads(index.read_text(encoding="utf-8")) if index.exists() else {}
    by_case = found.get(agent) or next(iter(found.values()), {})
    rows = []
    for case in sorted(cases, key=number):
        if case not in by_case:
            rows.append(Row(f"autobahn {case}", FAILED, said="the suite reports nothing"))
            continue
        message, close = by_case[case]["behavior"], by_case[case]["behaviorClose"]
        rows.append(verdict(f"autobahn {case}", message in RIGHT and close in RIGHT,
                            f"messages {message}, close {close} ({by_case[case]['remoteCloseCode']})"))
    return rows


def judge_server(subject: Subject, cases: Sequence[str]) -> list[Row]:
    with serving(subject) as server:
        try:
            rows = suite_of_server(subject, server.port, cases)
        except toolbox.Missing:
            rows = newer_suite_of_server(subject, server.port, cases)
        rows += peers_of_server(f"ws://{HOST}:{server.port}/")
        rows.append(verdict("the server outlives its clients", server.alive(), "it has ended"))
    return rows


def suite_of_server(subject: Subject, port: int, cases: Sequence[str]) -> list[Row]:
    folder, chosen = fresh_folder(subject), chosen_cases(cases)
    spec = {"outdir": str(folder), "cases": chosen, "exclude-cases": [], "exclude-agent-cases": {},
            "servers": [{"agent": subject.name, "url": f"ws://{HOST}:{port}"}]}
    status, out = run(suite("fuzzingclient", spec, folder), SUITE_SECONDS_MAX)
    rows = read_report(folder, chosen, subject.name)
    return [*rows, verdict("the suite came to its end", status == 0, out.strip()[-200:])]


def newer_suite_of_server(subject: Subject, port: int, cases: Sequence[str]) -> list[Row]:
    """The same cases by kosoku, for machines without Python 2.7. It does not say which it should have run, so
    its own report has to do."""
    folder = fresh_folder(subject)
    included = [word for case in cases for word in ("--include", case)]
    status, out = run([str(toolbox.get("python") / "bin" / "kosoku"), "--mode", "fuzzingclient",
                       f"{HOST}:{port}", "--outdir", str(folder), *included], SUITE_SECONDS_MAX)
    index = folder / "index.json"
    found = json.loads(index.read_text(encoding="utf-8")) if index.exists() else {}
    ran = [case for cases_of_agent in found.values() for case in cases_of_agent]
    rows = read_report(folder, ran, subject.name)
    return [*rows, verdict("kosoku came to its end", status in (0, 1) and bool(rows), out.strip()[-200:])]


def judge_client(subject: Subject, cases: Sequence[str]) -> list[Row]:
    """The client's command gets {url} and {agent}: README.md tells which paths it visits."""
    folder, port, chosen = fresh_folder(subject), free_port(), chosen_cases(cases)
    spec = {"outdir": str(folder), "url": f"ws://{HOST}:{port}", "cases": chosen, "exclude-cases": [],
            "exclude-agent-cases": {}}
    with (folder / "suite.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(suite("fuzzingserver", spec, folder), stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, start_new_session=True, cwd=folder)
    try:
        wait_for(port, process, folder)
        command = fill(subject.command, url=f"ws://{HOST}:{port}", agent=subject.name)
        status, out = run(command, SUITE_SECONDS_MAX)
    finally:
        end_group(process)
    rows = read_report(folder, chosen, subject.name)
    rows.append(verdict("the client came to its end", status == 0, out.strip()[-200:]))
    return rows + servers_of_client(subject)


def wait_for(port: int, process: subprocess.Popen, folder: Path) -> None:
    for _ in range(100):
        if accepts(port):
            return
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        break
    raise CannotStart(f"the suite does not serve; see {folder / 'suite.log'}")


# ---------------------------------------------------------------------------------------------
# Other people's libraries
# ---------------------------------------------------------------------------------------------

def library(name: str, script: str) -> list[str]:
    """The command of one of our small programs over somebody's library."""
    if name == "websockets":
        python = toolbox.get("python") / "bin" / "python"
        return [str(python), "-B", str(HERE / "references" / f"{script}.py")]
    return ["env", f"NODE_PATH={toolbox.get('node') / 'node_modules'}", toolbox.find("node"),
            str(HERE / "references" / f"{script}.js")]


def peers_of_server(url: str) -> list[Row]:
    rows = []
    for name in ("websockets", "ws"):
        try:
            status, out = run([*library(name, "websocket_visitor"), url], PEER_SECONDS_MAX)
        except toolbox.Missing as missing:
            rows.append(Row(f"client {name}", "skipped", said=str(missing)))
            continue
        rows.append(verdict(f"client {name}", status == 0, out.strip()[-200:]))
    return rows


def servers_of_client(subject: Subject) -> list[Row]:
    """The paths of the suite, served by other libraries; each of them counts what was echoed rightly."""
    rows = []
    for name in ("websockets", "ws"):
        try:
            host = Subject(f"{subject.name}-{name}", "host", (*library(name, "websocket_host"), "{port}"))
        except toolbox.Missing as missing:
            rows.append(Row(f"server {name}", "skipped", said=str(missing)))
            continue
        with serving(host) as server:
            command = fill(subject.command, url=f"ws://{HOST}:{server.port}", agent=subject.name)
            status, out = run(command, PEER_SECONDS_MAX)
            said = server.log.read_text(encoding="utf-8")
        rows.append(verdict(f"server {name}", status == 0 and "all echoed" in said,
                            f"client: {out.strip()[-120:]} server: {said.strip()[-120:]}"))
    return rows
