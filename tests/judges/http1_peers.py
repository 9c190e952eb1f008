# SPDX-License-Identifier: BSL-1.0
#
# A server is right when the clients and proxies that it will meet are content with it; so is a client.
"""Lets other people's HTTP/1.1 clients visit a server, and a client visit other people's servers.

A server answers `GET /` with 200 and some bytes, and `POST /echo` with the body that it got.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import toolbox
from subjects import BUILD, HERE, HOST, CannotStart, Running, Subject, fill, run, serving
from verdicts import Row, verdict

SECONDS_MAX = 60
REFERENCES = HERE / "references"
NGINX = Path("/usr/sbin/nginx")


def said(out: str) -> str:
    return " ".join(out.split())[-200:]


# ---------------------------------------------------------------------------------------------
# nginx as a proxy
# ---------------------------------------------------------------------------------------------

PROXY = """daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    upstream behind {{ server 127.0.0.1:{behind}; keepalive 8; }}
    server {{
        listen 127.0.0.1:{port};
        client_max_body_size 16m;
        location / {{
            proxy_pass http://behind;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_request_buffering {buffering}; proxy_buffering {buffering};
        }}
    }}
}}
"""


def nginx(name: str, text: str) -> Subject:
    """nginx with a configuration; {port} is filled in when it starts."""
    folder = BUILD / "nginx" / name
    folder.mkdir(parents=True, exist_ok=True)
    template = folder / "nginx.template"
    template.write_text(text.replace("{folder}", str(folder)), encoding="ascii")
    start = """sed "s/@port@/$1/" "$2/nginx.template" >"$2/nginx.conf"
               exec "$3" -p "$2" -c "$2/nginx.conf\""""
    return Subject(f"nginx-{name}", "host", ("/bin/sh", "-c", start, "sh", "{port}", str(folder), str(NGINX)))


@contextlib.contextmanager
def proxied(behind: int, buffering: str) -> Iterator[Running]:
    text = PROXY.format(folder="{folder}", behind=behind, port="@port@", buffering=buffering)
    with serving(nginx(f"proxy-{buffering}", text)) as proxy:
        yield proxy


# ---------------------------------------------------------------------------------------------
# Clients of others
# ---------------------------------------------------------------------------------------------

def curl(url: str) -> Iterator[Row]:
    quiet = ["curl", "--silent", "--show-error", "--fail", "--max-time", "20"]
    big = BUILD / "curl-body"
    big.write_bytes(bytes(range(256)) * 4096)
    for name, arguments, wanted in (
        ("GET", [url, "--write-out", "%{http_code}", "--output", "/dev/null"], "200"),
        ("HEAD", ["--head", url, "--write-out", "%{http_code}", "--output", "/dev/null"], "200"),
        ("three on one connection", [url, url, url, *["--output", "/dev/null"] * 3, "--write-out",
                                     "%{num_connects}"], "100"),
        ("POST", ["--data-binary", "hello", f"{url}echo"], "hello"),
        ("POST in chunks", ["--header", "Transfer-Encoding: chunked", "--data-binary", "hello", f"{url}echo"],
         "hello"),
        ("POST that asks first", ["--header", "Expect: 100-continue", "--expect100-timeout", "10",
                                  "--data-binary", "hello", f"{url}echo"], "hello"),
        ("HTTP/1.0", ["--http1.0", url, "--write-out", "%{http_code}", "--output", "/dev/null"], "200"),
    ):
        status, out = run([*quiet, *arguments], SECONDS_MAX)
        yield verdict(f"curl: {name}", status == 0 and out == wanted, f"{status}: {said(out)}")
    echoed = BUILD / "curl-echoed"
    status, out = run([*quiet, "--data-binary", f"@{big}", "--output", str(echoed), f"{url}echo"],
                      SECONDS_MAX)
    same = status == 0 and echoed.read_bytes() == big.read_bytes()
    yield verdict("curl: POST of 1 MiB", same, f"{status}: {said(out)}")


def wrk(url: str) -> Iterator[Row]:
    status, out = run(["wrk", "-t", "1", "-c", "32", "-d", "2s", url], SECONDS_MAX)
    found = re.search(r"(\d+) requests in", out)
    right = status == 0 and found and int(found[1]) > 100 and "errors" not in out and "Non-2xx" not in out
    yield verdict("wrk: 32 connections for 2 s", bool(right), said(out))


def ab(url: str) -> Iterator[Row]:
    for name, options in (("kept", ["-k"]), ("one each", [])):
        status, out = run(["ab", "-q", "-n", "2000", "-c", "16", *options, url], SECONDS_MAX)
        right = status == 0 and re.search(r"Complete requests: +2000", out) \
            and re.search(r"Failed requests: +0\n", out) and "Non-2xx" not in out
        yield verdict(f"ab: 2,000 requests, connections {name}", bool(right), said(out))


def script(title: str, command: list[str]) -> Iterator[Row]:
    status, out = run(command, SECONDS_MAX)
    yield verdict(title, status == 0, f"{status}: {said(out)}")


def python_client(url: str) -> Iterator[Row]:
    yield from script("Python's http.client",
                      ["/usr/bin/python3", "-B", str(REFERENCES / "http_visitor.py"), url])


def aiohttp(url: str) -> Iterator[Row]:
    yield from script("aiohttp", [str(toolbox.get("python") / "bin" / "python"), "-B",
                                  str(REFERENCES / "aiohttp_visitor.py"), url])


def node(url: str) -> Iterator[Row]:
    yield from script("Node", [toolbox.find("node"), str(REFERENCES / "http_visitor.js"), url])


def go(url: str) -> Iterator[Row]:
    yield from script("Go", [str(toolbox.get("go") / "peer"), "http1", url])


CLIENTS: tuple[tuple[str, str | None, Callable[[str], Iterator[Row]]], ...] = (
    ("curl", "curl", curl), ("wrk", "wrk", wrk), ("ab", "ab", ab),
    ("Python's http.client", None, python_client),
    ("aiohttp", None, aiohttp), ("Node", "node", node), ("Go", None, go))


def visit(name: str, program: str | None, how: Callable[[str], Iterator[Row]], url: str) -> list[Row]:
    if program and shutil.which(program) is None:
        return [Row(name, "skipped", said=f"`{program}` is not installed")]
    try:
        return list(how(url))
    except toolbox.Missing as missing:
        return [Row(name, "skipped", said=str(missing))]


def judge_server(subject: Subject) -> list[Row]:
    rows = []
    with serving(subject) as server:
        for client in CLIENTS:
            rows += visit(*client, f"http://{HOST}:{server.port}/")
        rows += behind_nginx(server)
        rows.append(verdict("the server outlives its clients", server.alive(), "it has ended"))
    return rows


def behind_nginx(server: Running) -> list[Row]:
    if not NGINX.exists():
        return [Row("nginx in front", "skipped", said="nginx is not installed")]
    rows = []
    for buffering in ("on", "off"):
        with proxied(server.port, buffering) as proxy:
            for name, program, how in CLIENTS:
                if name in ("curl", "Python's http.client", "Node", "wrk"):
                    found = visit(name, program, how, f"http://{HOST}:{proxy.port}/")
                    title = f"nginx in front, buffering {buffering}"
                    rows += [replace(row, name=f"{title}: {row.name}") for row in found]
    return rows


# ---------------------------------------------------------------------------------------------
# Servers of others
# ---------------------------------------------------------------------------------------------

FILES = """daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events { }
http {
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {
        listen 127.0.0.1:@port@;
        location / { return 200 "hello\\n"; }
        location /moved { return 302 /; }
        location /round { return 302 /round; }
    }
}
"""


def servers() -> Iterator[tuple[str, Callable[[], Subject]]]:
    yield "nginx", lambda: nginx("files", FILES)
    yield "Node", lambda: Subject("node", "host", (toolbox.find("node"),
                                                   str(REFERENCES / "http_server.js"), "{port}"))
    yield "Go", lambda: Subject("go", "host", (str(toolbox.get("go") / "peer"), "http1-server", "{port}"))
    yield "Python's http.server", lambda: Subject(
        "http.server", "host", ("/usr/bin/python3", "-m", "http.server", "--bind", HOST, "--directory",
                                str(REFERENCES / "pages"), "{port}"))
    yield "aiohttp", lambda: Subject("aiohttp", "host", (str(toolbox.get("python") / "bin" / "python"), "-B",
                                                         str(REFERENCES / "aiohttp_server.py"), "{port}"))


def judge_client(subject: Subject) -> list[Row]:
    """{url} is fetched; the body goes to standard output, the status is 0 for a 200 and nothing else."""
    rows = []
    for name, make in servers():
        try:
            host = make()
        except toolbox.Missing as missing:
            rows.append(Row(f"server {name}", "skipped", said=str(missing)))
            continue
        try:
            with serving(host) as server:
                url = f"http://{HOST}:{server.port}"
                cases = [("/", True)]
                if name in ("nginx", "Node"):
                    cases += [("/moved", True), ("/round", False)]
                for path, content in cases:
                    status, out = run(fill(subject.command, url=url + path), SECONDS_MAX)
                    right = "hello" in out and status == 0 if content else status not in (0, None)
                    rows.append(verdict(f"server {name}: {path}", right, f"{status}: {said(out)}"))
        except CannotStart as reason:
            rows.append(Row(f"server {name}", "skipped", said=str(reason)))
    return rows
