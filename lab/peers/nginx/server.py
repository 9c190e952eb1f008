# SPDX-License-Identifier: BSL-1.0
#
# nginx is told by a file what to serve, and says nothing when it is ready. This writes the one and sees to
# the other, so that it is started and ended like every server of the lab (servers/seam.hpp).
"""server.py --workload http_server|tls --threads N --port P [--certificate FILE --key FILE] | --version

What nginx can answer without modules: fixed texts by `return`, and files; no sums. As its documentation
advises for speed: no access log, open files kept, keep-alive without an end.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (2, 16384, 1048576)
READY_SECONDS_MAX = 10.0
FRAME = """\
user root;
daemon off;
worker_processes {threads};
pid {folder}/pid;
error_log stderr error;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    default_type text/plain;
    sendfile off;
    output_buffers 1 1m;
    open_file_cache max=16;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096{options};
{what}
    }}
}}
"""
REQUESTS = """\
        location = /text {{ return 200 "Hello, World!"; }}
        location = /json {{ default_type application/json; return 200 '{json}'; }}
"""
BYTES = """\
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_buffer_size 16k;
        root {folder};
"""


def json_text() -> str:
    """As json_text of lab/servers/web.cpp."""
    items = ",".join(f'{{"id":{i},"name":"article {i}","price":{i * 199},"stock":{1000 - i * 7},'
                     f'"tags":["new","sold"]}}' for i in range(1, 13))
    return f'{{"items":[{items}],"count":12}}'


def content_of(size: int) -> bytes:
    """As content_of of lab/servers/web.cpp."""
    period = bytes(ord("0") + i % 75 for i in range(251))
    return (period * (size // 251 + 1))[:size]


def leave(code: int, why: str) -> None:
    print(f"nginx: {why}", file=sys.stderr)
    sys.exit(code)


def version() -> str:
    told = subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=True).stderr
    return re.search(r"nginx/([\d.]+)", told)[1]


def configure(asked: argparse.Namespace, folder: Path) -> Path:
    what = REQUESTS.format(json=json_text())
    if asked.workload == "tls":
        what = BYTES.format(certificate=asked.certificate, key=asked.key, folder=folder)
        (folder / "bytes").mkdir()
        for size in SIZES:
            (folder / "bytes" / str(size)).write_bytes(content_of(size))
    path = folder / "nginx.conf"
    options = (" ssl" if asked.workload == "tls" else "") + (" reuseport" if asked.threads > 1 else "")
    path.write_text(FRAME.format(threads=asked.threads, folder=folder, port=asked.port, options=options,
                                 what=what), encoding="utf-8")
    return path


def await_listener(port: int, process: subprocess.Popen) -> None:
    until = time.monotonic() + READY_SECONDS_MAX
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    process.kill()
    leave(1, f"port {port}: nginx does not listen")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--workload", default="http_server", choices=("http_server", "tls"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--port", type=int)
    parser.add_argument("--certificate", default="")
    parser.add_argument("--key", default="")
    asked = parser.parse_args()
    if asked.version:
        print(f"nginx {version()} epoll")
        return
    if asked.port is None:
        leave(2, "--port is missing")
    if asked.port == 0:  # nginx cannot say which one it would have taken.
        with socket.create_server(("127.0.0.1", 0)) as probe:
            asked.port = probe.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="lab_nginx_"))
    process = None

    def end(*_: object) -> None:
        process.terminate()  # Without waiting for connections.

    try:
        process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(configure(asked, folder))])
        signal.signal(signal.SIGTERM, end)
        await_listener(asked.port, process)
        print("ready", flush=True)
        status = process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if status == 0 else 1)


if __name__ == "__main__":
    main()
