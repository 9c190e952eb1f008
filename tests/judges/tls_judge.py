# SPDX-License-Identifier: BSL-1.0
#
# What we offer to whom, by two scanners; conversations that no honest client holds; and certificates that a
# client must not take.
"""Judges TLS servers and clients."""

from __future__ import annotations

import json
import time
from pathlib import Path

import toolbox
from subjects import BUILD, HERE, HOST, Running, Subject, fill, run, serving
from verdicts import FAILED, Row, verdict

SCAN_SECONDS_MAX = 900
TALK_SECONDS_MAX = 300
CLIENT_SECONDS_MAX = 20
CERTIFICATES = BUILD / "certificates"
DAY_SECONDS = 86400
RENEGOTIATION = "session_renegotiation"

# Findings of testssl.sh that are about a test's certificate, or about HTTP, and not about TLS.
NOT_ABOUT_TLS = ("cert", "DNS_CAArecord", "OCSP_", "security_headers", "HSTS", "BREACH", "intermediate_cert")
SEVERE = ("LOW", "MEDIUM", "HIGH", "CRITICAL", "WARN")


def certificates() -> Path:
    stamp = CERTIFICATES / "crl.pem"
    if not stamp.exists() or time.time() - stamp.stat().st_mtime > DAY_SECONDS:
        python = toolbox.get("python") / "bin" / "python"
        status, out = run([str(python), "-B", str(HERE / "certificates.py"), str(CERTIFICATES)], 60)
        if status != 0:
            raise toolbox.Missing(f"certificates: {out.strip()[-200:]}")
    return CERTIFICATES


# ---------------------------------------------------------------------------------------------
# Servers
# ---------------------------------------------------------------------------------------------

def sslyze(server: Running) -> list[Row]:
    """Mozilla's intermediate profile, and the known attacks."""
    python = toolbox.get("python") / "bin" / "python"
    report = BUILD / "reports" / "sslyze.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    status, out = run([str(python), "-m", "sslyze", "--mozilla_config", "intermediate",
                       f"--json_out={report}", f"localhost:{server.port}"], SCAN_SECONDS_MAX)
    findings = [line.strip()[2:] for line in out.splitlines() if line.strip().startswith("* ")
                and "FAILED" not in line and "not compliant" in out and line.startswith("        * ")]
    rows = [verdict("sslyze: Mozilla's intermediate profile", status == 0,
                    "; ".join(findings) or out.strip()[-300:])]
    found = json.loads(report.read_text(encoding="utf-8"))["server_scan_results"][0]["scan_result"]
    if found is None:
        return [Row("sslyze", FAILED, said="it could not connect")]
    for command, field, right in (("heartbleed", "is_vulnerable_to_heartbleed", False),
                                  ("openssl_ccs_injection", "is_vulnerable_to_ccs_injection", False),
                                  ("tls_compression", "supports_compression", False),
                                  ("tls_fallback_scsv", "supports_fallback_scsv", True),
                                  (RENEGOTIATION, "is_vulnerable_to_client_renegotiation_dos", False),
                                  (RENEGOTIATION, "supports_secure_renegotiation", True),
                                  ("tls_1_3_early_data", "supports_early_data", False)):
        said = (found[command].get("result") or {}).get(field)
        if said is None and found[command]["status"] == "COMPLETED":
            continue  # It has nothing to ask where there is but one version.
        rows.append(verdict(f"sslyze: {field}", said == right, str(said)))
    return rows


def testssl(server: Running, folder: Path) -> list[Row]:
    report = BUILD / "reports" / "testssl.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    status, out = run([toolbox.find("testssl"), "--warnings", "batch", "--quiet", "--color", "0",
                       "--ip", HOST,
                       "--protocols", "--std", "--pfs", "--server-preference", "--vulnerable",
                       "--add-ca", str(folder / "ca.pem"), "--jsonfile", str(report),
                       f"localhost:{server.port}"], SCAN_SECONDS_MAX)
    if not report.exists():
        return [Row("testssl.sh", FAILED, said=f"it ended with {status}: {out.strip()[-200:]}")]
    rows = []
    for finding in json.loads(report.read_text(encoding="utf-8")):
        if finding["id"].startswith(NOT_ABOUT_TLS) or finding["severity"] in ("INFO", "DEBUG"):
            continue
        rows.append(verdict(f"testssl.sh: {finding['id']}", finding["severity"] not in SEVERE,
                            f"{finding['severity']}: {finding['finding']}"))
    return rows or [Row("testssl.sh", FAILED, said="it found nothing to look at")]


def conversations(server: Running) -> list[Row]:
    python = toolbox.get("python") / "bin" / "python"
    status, out = run([str(python), "-B", str(HERE / "tls_adversary.py"), str(server.port)], TALK_SECONDS_MAX)
    rows = []
    for line in out.splitlines():
        if line.count("\t") == 3:
            name, clause, outcome, said = line.split("\t")
            rows.append(verdict(f"talk: {name}", outcome == "passed", said, clause))
    rows.append(verdict("all conversations were held", status == 0, out.strip()[-200:]))
    return rows


def judge_server(subject: Subject, scanners: bool) -> list[Row]:
    folder = certificates()
    with serving(subject, certificate=folder / "right.pem", key=folder / "right.key") as server:
        rows = attempt("conversations", lambda: conversations(server))
        if scanners:
            rows += attempt("sslyze", lambda: sslyze(server))
            rows += attempt("testssl.sh", lambda: testssl(server, folder))
        rows.append(verdict("the server outlives its clients", server.alive(), "it has ended"))
    return rows


def attempt(name: str, what) -> list[Row]:
    try:
        return what()
    except toolbox.Missing as missing:
        return [Row(name, "skipped", said=str(missing))]


# ---------------------------------------------------------------------------------------------
# Clients
# ---------------------------------------------------------------------------------------------

# What s_server is told beside its certificate; and whether a client may be content.
SERVERS: tuple[tuple[str, str, tuple[str, ...], bool, str], ...] = (
    ("a right certificate", "right", (), True, "RFC 5280, 6.1"),
    ("TLS 1.2 only", "right", ("-no_tls1_3",), True, "RFC 5246, 7.4"),
    ("a server that wants to hear a name", "right", ("-servername", "localhost", "-servername_fatal"), True,
     "RFC 6066, 3"),
    ("a wrong host", "wrong_host", (), False, "RFC 9525, 6"),
    ("expired", "expired", (), False, "RFC 5280, 6.1.3"),
    ("not valid yet", "not_yet", (), False, "RFC 5280, 6.1.3"),
    ("self-signed", "self_signed", (), False, "RFC 5280, 6.1"),
    ("a root that nobody trusts", "unknown_root", (), False, "RFC 5280, 6.1"),
    ("an intermediate that is revoked", "revoked", (), False, "RFC 5280, 6.3"),
    ("a chain with a hole", "incomplete_chain", (), False, "RFC 5280, 6.1"),
    ("a client's certificate", "wrong_purpose", (), False, "RFC 5280, 4.2.1.12"),
    ("TLS 1.1 only", "right", ("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"), False, "RFC 8996, 5"),
    ("a weak cipher only", "right", ("-tls1_2", "-cipher", "NULL@SECLEVEL=0"), False, "RFC 9325, 4.1"),
)


def judge_client(subject: Subject) -> list[Row]:
    """Each error must be one by itself: an operator has nothing else to go by."""
    folder, rows, errors = certificates(), [], {}
    for name, certificate, options, content, clause in SERVERS:
        server = Subject(f"s_server-{certificate}", "host",
                         ("openssl", "s_server", "-accept", f"{HOST}:{{port}}", "-quiet", "-www",
                          "-cert", str(folder / f"{certificate}.pem"),
                          "-key", str(folder / f"{certificate}.key"),
                          "-cert_chain", str(folder / f"{certificate}.pem"), *options))
        with serving(server) as running:
            command = fill(subject.command, host="localhost", port=running.port, ca=folder / "ca.pem",
                           crl=folder / "crl.pem")
            status, out = run(command, CLIENT_SECONDS_MAX)
        said = " ".join(out.split())[-160:]
        rows.append(verdict(f"client: {name}", (status == 0) == content and status is not None,
                            f"{status}: {said}", clause))
        if not content and status:
            errors.setdefault(said.replace(str(running.port), "PORT"), []).append(name)
    for said, names in errors.items():
        rows.append(verdict(f"client: an error of its own for {names[0]}", len(names) == 1,
                            f"the same for {', '.join(names)}: {said}"))
    return rows + truncation(subject, folder)


def truncation(subject: Subject, folder: Path) -> list[Row]:
    """RFC 8446, 6.1: an end without close_notify is no end of the answer."""
    server = Subject("truncating", "host",
                     ("/usr/bin/python3", "-B", str(HERE / "references" / "truncating_tls.py"), "{port}",
                      str(folder / "right.pem"), str(folder / "right.key")))
    with serving(server) as running:
        status, out = run(fill(subject.command, host="localhost", port=running.port, ca=folder / "ca.pem",
                               crl=folder / "crl.pem"), CLIENT_SECONDS_MAX)
    return [verdict("client: an end without close_notify", status not in (0, None),
                    f"{status}: {' '.join(out.split())[-160:]}", "RFC 8446, 6.1")]
