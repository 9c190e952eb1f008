# SPDX-License-Identifier: BSL-1.0
#
# What we offer to whom, by two scanners; conversations that no honest client holds; and certificates that a
# client must not take.
"""Judges TLS servers and clients."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
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

# Findings of testssl.sh that are about a test's certificate, about HTTP, or about its own machine.
NOT_ABOUT_TLS = ("cert", "engine_problem", "DNS_CAArecord", "OCSP_", "security_headers", "HSTS", "BREACH",
                 "intermediate_cert")
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

def sslyze(server: Running, folder: Path) -> list[Row]:
    """Mozilla's intermediate profile, and the known attacks."""
    python = toolbox.get("python") / "bin" / "python"
    report = BUILD / "reports" / "sslyze.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    status, out = run([str(python), "-m", "sslyze", "--mozilla_config", "intermediate", "--early_data",
                       f"--certinfo_ca_file={folder / 'ca.pem'}", f"--json_out={report}",
                       f"localhost:{server.port}{{{HOST}}}"], SCAN_SECONDS_MAX)
    issues = [line.strip()[2:] for line in out.partition("Not compliant.")[2].splitlines()
              if line.startswith("        * ")]
    rows = [verdict("sslyze: Mozilla's intermediate profile", status == 0,
                    "; ".join(issues) or out.strip()[-300:])]
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


def files_of_server() -> dict[str, Path]:
    """For the words of its command line."""
    folder = certificates()
    return {"certificate": folder / "right.pem", "key": folder / "right.key"}


def judge_server(subject: Subject, scanners: bool) -> list[Row]:
    folder = certificates()
    with serving(subject, **files_of_server()) as server:
        rows = attempt("conversations", lambda: conversations(server))
        if scanners:
            rows += attempt("sslyze", lambda: sslyze(server, folder))
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

@dataclass(frozen=True)
class Host:
    """A server to which a client connects, and whether it may be content."""

    name: str
    clause: str
    content: bool
    certificate: str = "right"
    options: tuple[str, ...] = ()  # For s_server.
    manner: tuple[str, ...] = ()   # Of tls_host.py, which then takes its place.

    def subject(self, folder: Path) -> Subject:
        leaf, key = (folder / f"{self.certificate}.{end}" for end in ("pem", "key"))
        if self.manner:
            command = ["/usr/bin/python3", "-B", str(HERE / "references" / "tls_host.py"), "{port}",
                       str(leaf), str(key), *self.manner]
        else:
            command = ["openssl", "s_server", "-accept", f"{HOST}:{{port}}", "-quiet", "-www",
                       "-cert", str(leaf), "-key", str(key), *self.options]
            chain = folder / f"{self.certificate}.chain"
            if chain.stat().st_size:
                command += ["-cert_chain", str(chain)]
        return Subject(self.name.replace(" ", "-"), "host", tuple(command))


HOSTS = (
    Host("a right certificate", "RFC 5280, 6.1", True),
    Host("TLS 1.2 only", "RFC 5246, 7.4", True, options=("-no_tls1_3",)),
    Host("a host that wants to hear its name", "RFC 6066, 3", True, manner=("only", "localhost")),
    Host("a host of another name only", "RFC 6066, 3", False, manner=("only", "elsewhere.test")),
    Host("a wrong host", "RFC 9525, 6", False, "wrong_host"),
    Host("expired", "RFC 5280, 6.1.3", False, "expired"),
    Host("not valid yet", "RFC 5280, 6.1.3", False, "not_yet"),
    Host("self-signed", "RFC 5280, 6.1", False, "self_signed"),
    Host("a root that nobody trusts", "RFC 5280, 6.1", False, "unknown_root"),
    Host("an intermediate that is revoked", "RFC 5280, 6.3", False, "revoked"),
    Host("a client's certificate", "RFC 5280, 4.2.1.12", False, "wrong_purpose"),
    Host("TLS 1.1 only", "RFC 8996, 5", False, options=("-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")),
    Host("a cipher that hides nothing", "RFC 9325, 4.1", False,
         options=("-tls1_2", "-cipher", "NULL@SECLEVEL=0")),
    Host("an end without close_notify", "RFC 8446, 6.1", False, manner=("truncating",)),
)


def judge_client(subject: Subject) -> list[Row]:
    """Each error must be one by itself: an operator has nothing else to go by."""
    folder, rows, errors = certificates(), [], {}
    for host in HOSTS:
        with serving(host.subject(folder)) as running:
            command = fill(subject.command, host="localhost", port=running.port, ca=folder / "ca.pem",
                           crl=folder / "crl.pem")
            status, out = run(command, CLIENT_SECONDS_MAX)
        said = " ".join(out.split())[-160:]
        right = status == 0 if host.content else status not in (0, None)
        rows.append(verdict(f"client: {host.name}", right, f"{status}: {said}", host.clause))
        if not host.content and status:
            errors.setdefault(said.replace(str(running.port), "PORT"), []).append(host.name)
    for said, names in errors.items():
        rows.append(verdict(f"client: an error of its own for {names[0]}", len(names) == 1,
                            f"the same for {', '.join(names)}: {said}"))
    return rows
