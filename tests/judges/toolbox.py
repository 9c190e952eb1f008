# SPDX-License-Identifier: BSL-1.0
#
# Judges come from five registries; one that cannot be had keeps none of the others away.
"""Gets the programs that judge, each by the ordinary client of its registry and in a pinned version.

    toolbox.py [NAME...]

What they are made of is pinned in the folders of tools/; they come to be in build/judges/NAME. A line for
each says what was got, or why not. When all is there, this takes no time. Debian's packages are `./dev`'s.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subjects import BUILD, HERE

SOURCES = HERE / "tools"
STEP_SECONDS_MAX = 900
PYTHON = "/usr/bin/python3"
REASON_LENGTH_MAX = 160
QUIET = ("--disable-pip-version-check", "--no-input", "--quiet")


class Missing(Exception):
    """Says in one line why a tool is not there."""


def python2() -> str | None:
    """The suite for WebSocket was written for Python 2.7, which pyenv keeps beside newer ones."""
    kept = sorted((Path.home() / ".pyenv" / "versions").glob("2.7*/bin/python2.7"))
    for each in [*kept, *filter(None, [shutil.which("python2.7")])]:
        if subprocess.run([each, "-c", "import ssl"], capture_output=True).returncode == 0:
            return str(each)
    return None


@dataclass(frozen=True)
class Tool:
    """{source} and {target} in steps are its folders; they run in the latter."""

    name: str
    needs: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    environment: dict[str, str] = field(default_factory=dict)


TOOLS = (
    Tool("autobahn", ("python2.7",),
         (("python2.7", "-m", "pip", "install", *QUIET, "--no-deps", "--target", "{target}/site",
           "--requirement", "{source}/requirements.txt"),)),
    Tool("python", (PYTHON,),
         ((PYTHON, "-m", "venv", "{target}"),
          ("{target}/bin/pip", "install", *QUIET, "--no-deps", "--require-hashes",
           "--requirement", "{source}/requirements.txt"))),
    Tool("node", ("node", "npm"),
         (("cp", "{source}/package.json", "{source}/package-lock.json", "{target}"),
          ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"))),
    # A date pins what it is made of, 169 packages, as a lock would in two thousand lines.
    Tool("asyncapi", ("node", "npm"),
         (("cp", "{source}/package.json", "{target}"),
          ("npm", "install", "--before=2026-11-26", "--no-audit", "--no-fund", "--ignore-scripts"))),
    # Never a toolchain that go would fetch.
    Tool("go", ("go",),
         (("go", "-C", "{source}", "build", "-o", "{target}/h2spec",
           "github.com/summerwind/h2spec/cmd/h2spec"),
          ("go", "-C", "{source}", "build", "-o", "{target}/peer", ".")),
         {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "CGO_ENABLED": "0"}),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


def find(program: str) -> str:
    found = python2() if program == "python2.7" else shutil.which(program)
    if found is None:
        raise Missing(f"`{program}` is not installed")
    return found


def fingerprint(tool: Tool) -> str:
    whole = hashlib.sha256(repr(tool).encode())
    for path in sorted((SOURCES / tool.name).iterdir()):
        whole.update(path.name.encode() + b"\n" + path.read_bytes())
    for need in tool.needs:
        whole.update(find(need).encode())
    return whole.hexdigest()


def get(name: str) -> Path:
    """The tool's folder, made if it is not up to date; raises Missing."""
    tool, target = BY_NAME[name], BUILD / name
    now, stamp = fingerprint(tool), target / "built.txt"
    if stamp.exists() and stamp.read_text(encoding="ascii") == now:
        return target
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for step in tool.steps:
        take(tool, step, target)
    stamp.write_text(now, encoding="ascii")
    return target


def take(tool: Tool, step: Sequence[str], target: Path) -> None:
    command = [word.replace("{source}", str(SOURCES / tool.name)).replace("{target}", str(target))
               for word in step]
    command[0] = find(command[0])
    try:
        done = subprocess.run(command, cwd=target, env=os.environ | tool.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=STEP_SECONDS_MAX)
    except subprocess.TimeoutExpired as late:
        raise Missing(f"`{' '.join(command[:2])}` took more than {STEP_SECONDS_MAX} s") from late
    log = target / "setup.log"
    with log.open("a", encoding="utf-8") as out:
        out.write(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        cause = (errors or lines or ["it printed nothing"])[-1][:REASON_LENGTH_MAX]
        raise Missing(f"`{Path(command[0]).name}` failed: {cause}; all of it is in {log}")


def main(arguments: Sequence[str]) -> int:
    for name in arguments or BY_NAME:
        try:
            print(f"    {name:<16}{get(name)}", flush=True)
        except (Missing, OSError) as error:
            print(f"    {name:<16}missing: {error}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
