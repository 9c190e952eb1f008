# SPDX-License-Identifier: BSL-1.0
#
# What others make of our web server, and what our client makes of others' servers.
#
# examples/https_server is asked by curl and by Python's http.client; examples/http_get asks nginx and
# Python's http.server. Certificates are made by OpenSSL for the occasion.
"""Runs the examples against programs that know nothing of them.

    web_interop.py HTTPS_SERVER HTTP_GET

Ends with 77, which ctest takes for skipped, where curl or openssl is missing; without nginx that part is left
out. Whatever it starts is ended, also if it fails.
"""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PATIENCE = 30


def check(promise, kept, seen=""):
    if not kept:
        raise AssertionError(f"{promise}: {seen!r}")


def run(*command, **how):
    return subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False, **how)


def make_certificate(folder, name):
    """A key and a certificate that vouches for itself, for 127.0.0.1 and localhost."""
    made = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
               "-days", "2", "-subj", f"/CN={name}", "-addext",
               "subjectAltName=DNS:localhost,IP:127.0.0.1",
               "-keyout", str(folder / "key.new"), "-out", str(folder / "chain.new"))
    check("openssl makes a certificate", made.returncode == 0, made.stderr)
    (folder / "key.new").replace(folder / "key.pem")
    (folder / "chain.new").replace(folder / "chain.pem")


@contextlib.contextmanager
def started(*command, **how):
    it = subprocess.Popen(command, **how)
    try:
        yield it
    finally:
        if it.poll() is None:
            it.terminate()
            try:
                it.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                it.kill()
                it.wait()


class Curl:
    def __init__(self, authority, trusted):
        self.base = f"https://{authority}"
        self.trusted = trusted

    def __call__(self, target, *arguments):
        """The head and the body that curl gets."""
        got = run("curl", "-sS", "-i", "--path-as-is", "--cacert", self.trusted, *arguments,
                  self.base + target)
        check(f"curl is content with {target}", got.returncode == 0, got.stderr)
        head, _, body = got.stdout.partition(b"\r\n\r\n")
        return head.decode().lower(), body


def status(head):
    return int(head.split()[1])


def judge_server(server, folder):
    site = folder / "site"
    (site / "docs").mkdir(parents=True)
    (site / "index.html").write_text("<h1>home</h1>")
    (site / "a.txt").write_text("0123456789")
    (site / "docs" / "index.html").write_text("docs")
    large = os.urandom(2_000_000)
    (site / "large.bin").write_bytes(large)
    for each in site.rglob("*"):
        os.utime(each, (time.time() - 3600,) * 2)
    (folder / "secret.txt").write_text("SECRET")
    (site / "out.txt").symlink_to("../secret.txt")
    make_certificate(folder, "first")
    with started(server, "127.0.0.1:0", str(site), str(folder / "chain.pem"), str(folder / "key.pem"),
                 stdout=subprocess.PIPE, text=True) as it:
        where = it.stdout.readline().split()[-1]
        curl = Curl(where, folder / "chain.pem")

        for version in ("--http1.1", "--http1.0", "--http2"):
            head, body = curl("/", version)
            check(f"a page by {version}", status(head) == 200 and body == b"<h1>home</h1>", head)
        for most in ("1.2", "1.3"):
            head, _ = curl("/", "--tls-max", most)
            check(f"TLS {most}", status(head) == 200, head)
        head, body = curl("/large.bin")
        check("a large file", body == large)
        head, body = curl("/a.txt", "--head")
        check("HEAD", status(head) == 200 and "content-length: 10" in head and not body, head)
        etag = next(line.split(": ", 1)[1] for line in head.splitlines() if line.startswith("etag"))
        head, _ = curl("/a.txt", "-H", f"If-None-Match: {etag}")
        check("a condition", status(head) == 304, head)
        head, body = curl("/a.txt", "-r", "2-4")
        check("a range", status(head) == 206 and body == b"234", head)
        head, body = curl("/a.txt", "-r", "0-1,8-9")
        check("two ranges", status(head) == 206 and b"01" in body and b"89" in body, body)
        head, _ = curl("/a.txt", "-r", "20-")
        check("no range", status(head) == 416, head)
        head, body = curl("/docs", "-L")
        check("a directory without its slash", body.endswith(b"docs"), head)
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/out.txt",
                     "/docs/../../secret.txt", "//etc/passwd", "/%00", "/..%5csecret.txt"):
            head, body = curl(path)
            check(f"nothing leads out by {path}", status(head) in (400, 404) and b"SECRET" not in body, body)

        head, body = curl("/api/notes", "--json", json.dumps({"text": "häuser"}))
        check("a note is taken", status(head) == 201 and json.loads(body) == {"at": "/api/notes/1"}, body)
        _, body = curl("/api/notes/1")
        check("a note is kept", json.loads(body) == {"text": "häuser"}, body)
        head, _ = curl("/api/notes", "--json", "{broken")
        check("what is no JSON", status(head) == 400, head)
        head, _ = curl("/api/notes", "-X", "DELETE")
        check("what is not allowed", status(head) == 405 and "allow:" in head, head)
        head, body = curl("/api/notes", "-H", "Expect: 100-continue", "--json",
                          json.dumps({"text": "x" * 50_000}))
        check("a body that waits", b"/api/notes/2" in body, head)
        head, body = curl("/api/notes", "--compressed")
        check("what is compressed", status(head) == 200 and "content-encoding" in head and
              len(json.loads(body)) == 2, head)
        twice = run("curl", "-sSv", "--http1.1", "--cacert", str(folder / "chain.pem"),
                    f"https://{where}/a.txt", f"https://{where}/a.txt")
        check("one connection for two", b"Re-using existing connection" in twice.stderr, twice.stderr)

        trusted = ssl.create_default_context(cafile=folder / "chain.pem")
        host, port = where.split(":")
        python = http.client.HTTPSConnection(host, int(port), context=trusted, timeout=PATIENCE)
        for _ in range(3):
            python.request("GET", "/a.txt")
            check("http.client", python.getresponse().read() == b"0123456789")
        python.request("POST", "/api/notes", iter([b'{"text":', b'"in chunks"}']))
        check("http.client's chunks", python.getresponse().status == 201)

        make_certificate(folder, "second")
        line = it.stdout.readline()
        check("a new certificate is seen", line == "certificate: reloaded\n", line)
        head, _ = curl("/")
        check("a new certificate is used", status(head) == 200, head)
        (folder / "key.pem").write_text("nothing of the kind")
        line = it.stdout.readline()
        check("a broken key is told", "reloaded" not in line and line.startswith("certificate: "), line)
        head, _ = curl("/")
        check("and changes nothing", status(head) == 200, head)

        it.send_signal(signal.SIGTERM)
        check("it ends in order", it.wait(PATIENCE) == 0, it.returncode)
        python.close()


class Elsewhere(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"" if self.path == "/moved" else b"here, by Python"
        self.send_response(302 if self.path == "/moved" else 200)
        if self.path == "/moved":
            self.send_header("Location", "/here")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def judge_client_by_python(client, folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    settings.load_cert_chain(folder / "chain.pem", folder / "key.pem")
    server.socket = settings.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"https://127.0.0.1:{server.server_port}"
    trusting = dict(os.environ, SSL_CERT_FILE=str(folder / "chain.pem"))
    got = run(client, f"{base}/moved", f"{base}/here", env=trusting)
    check("http_get by Python's server", got.returncode == 0 and got.stdout == b"here, by Python" * 2,
          got.stderr)
    check("on one connection", b"2 requests on 1 connections" in got.stderr, got.stderr)
    stranger = run(client, f"{base}/here", env=dict(os.environ, SSL_CERT_FILE="/dev/null"))
    check("http_get does not trust everybody", stranger.returncode == 1 and not stranger.stdout,
          stranger.stderr)
    server.shutdown()


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def judge_client_by_nginx(client, folder):
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.access(nginx, os.X_OK):
        print("nginx is not installed: left out")
        return
    port = free_port()
    site = folder / "nginx"
    site.mkdir()
    text = b"a line of text\n" * 20_000
    (site / "text.txt").write_bytes(text)
    for each in (folder, site):
        each.chmod(0o755)
    (folder / "nginx.conf").write_text(f"""
        daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
        events {{}}
        http {{
            access_log off;
            types {{ text/plain txt; }}
            client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
            uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
            server {{
                listen 127.0.0.1:{port} ssl;
                ssl_certificate {folder}/chain.pem; ssl_certificate_key {folder}/key.pem;
                root {site};
                gzip on; gzip_types text/plain; gzip_min_length 1;
                location = /moved {{ return 308 /text.txt; }}
            }}
        }}""")
    with started(nginx, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log"),
                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        base = f"https://127.0.0.1:{port}"
        got = run(client, f"{base}/text.txt", f"{base}/moved",
                  env=dict(os.environ, SSL_CERT_FILE=str(folder / "chain.pem")))
        check("http_get by nginx, decoded", got.returncode == 0 and got.stdout == text * 2, got.stderr)
        check("on one connection", b"2 requests on 1 connections" in got.stderr, got.stderr)


def main():
    server, client = sys.argv[1:]
    if not shutil.which("curl") or not shutil.which("openssl"):
        print("curl or openssl is not installed")
        return 77
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        judge_server(server, folder)
        make_certificate(folder, "third")
        judge_client_by_python(client, folder)
        judge_client_by_nginx(client, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
