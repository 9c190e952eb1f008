# SPDX-License-Identifier: BSL-1.0
#
# RFC 9113 and RFC 7541 by h2spec; nghttp2's own load generator and curl as peers; then the floods.
"""Judges HTTP/2 servers that speak it at once over plain TCP."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as ElementTree

import toolbox
from subjects import BUILD, HERE, HOST, Running, Subject, run, serving
from verdicts import FAILED, Row, verdict

SPEC_SECONDS_MAX = 600
PEER_SECONDS_MAX = 60
FLOOD_SECONDS_MAX = 300


def conformance(subject: Subject, server: Running, clear: bool = True) -> list[Row]:
    report = BUILD / "reports" / f"{subject.name}-h2spec.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = [str(toolbox.get("go") / "h2spec"), "--strict", "--host", HOST, "--port", str(server.port),
               "--timeout", "2", "--junit-report", str(report)]
    status, out = run(command if clear else [*command, "--tls", "--insecure"], SPEC_SECONDS_MAX)
    rows = []
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            rows.append(spec_row(case))
    if not rows:
        rows.append(Row("h2spec", FAILED, said=f"it ended with {status}: {out.strip()[-200:]}"))
    return rows


def spec_row(case: ElementTree.Element) -> Row:
    name = f"h2spec {case.get('package', '')} {case.get('classname', '')}".strip()
    skipped = case.find("skipped")
    trouble = case.find("failure") if case.find("failure") is not None else case.find("error")
    if skipped is not None:
        return Row(name, "skipped", said="h2spec skips it for this server")
    said = " ".join((trouble.text or "").split()) if trouble is not None else ""
    return verdict(name, trouble is None, said)


def load(server: Running) -> list[Row]:
    """h2load: every request has to be answered."""
    rows = []
    for clients, streams in ((1, 1), (10, 10), (4, 100)):
        name = f"h2load, {clients} clients, {streams} streams"
        status, out = run(["h2load", "-n", "2000", "-c", str(clients), "-m", str(streams),
                           f"http://{HOST}:{server.port}/"], PEER_SECONDS_MAX)
        found = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored", out)
        right = status == 0 and found is not None and found.groups() == ("2000", "0", "0")
        rows.append(verdict(name, right, found[0] if found else out.strip()[-200:]))
    return rows


def curl(server: Running) -> Row:
    status, out = run(["curl", "--silent", "--show-error", "--http2-prior-knowledge", "--output", "/dev/null",
                       "--write-out", "%{http_version} %{http_code}", f"http://{HOST}:{server.port}/"],
                      PEER_SECONDS_MAX)
    return verdict("curl", status == 0 and out.strip() == "2 200", out.strip()[-200:])


def go_client(server: Running) -> Row:
    command = [str(toolbox.get("go") / "peer"), "http2", f"http://{HOST}:{server.port}/"]
    status, out = run(command, PEER_SECONDS_MAX)
    return verdict("Go's x/net/http2", status == 0, out.strip()[-200:])


def floods(server: Running) -> list[Row]:
    python = toolbox.get("python") / "bin" / "python"
    status, out = run([str(python), "-B", str(HERE / "http2_adversary.py"), str(server.port),
                       str(server.process.pid)], FLOOD_SECONDS_MAX)
    rows = []
    for line in out.splitlines():
        if line.count("\t") == 3:
            name, clause, outcome, said = line.split("\t")
            rows.append(verdict(f"flood: {name}", outcome == "passed", said, clause))
    rows.append(verdict("all floods were tried", status == 0, out.strip()[-200:]))
    return rows


def judge(subject: Subject) -> list[Row]:
    with serving(subject) as server:
        rows = attempt("h2spec", lambda: conformance(subject, server))
        rows += load(server) if shutil.which("h2load") else [Row("h2load", "skipped", said="not installed")]
        rows.append(curl(server))
        rows += attempt("Go's x/net/http2", lambda: [go_client(server)])
        rows += attempt("floods", lambda: floods(server))
        rows.append(verdict("the server outlives its clients", server.alive(), "it has ended"))
    return rows


def attempt(name: str, what) -> list[Row]:
    try:
        return what()
    except toolbox.Missing as missing:
        return [Row(name, "skipped", said=str(missing))]
