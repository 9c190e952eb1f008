#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Each way of installing gyre, from a Debian 12 that has a compiler and nothing of ours.

    door.py [--mirror URL] [--packages FOLDER] [--conan FOLDER] [--work DIR]
            [--ways a,b] [--compilers a,b] [--rows]

Makes a bare root by debootstrap once, and keeps it in DIR. Each row then has that root to itself, below a
layer in memory that goes away with it: there ways/NAME.sh installs gyre and builds server/, with CXX naming
the compiler, and talk.sh runs the server, talks to it, and ends it by SIGTERM. Needs root, for chroot.
Prints a line for each row, and ends with 1 if one failed; what a failed row printed is shown, and all of it
is in DIR.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
COMPILERS = {"g++": "gcc", "clang++-19": "clang-19"}
ROOT_PACKAGES = ("ca-certificates", "clang-19", "cmake", "g++", "ninja-build", "pkg-config", "python3-venv")
SOURCES = ("CMakeLists.txt", "LICENSE", "cmake", "include", "modules", "packaging", "src")
WAYS = ("deb_find_package", "deb_shared", "deb_pkg_config", "sources", "vcpkg", "conan")
SHARED = ("deb_shared", "deb_pkg_config")  # Whose server has to draw libgyre.so; that of the others must not.
MOST_SECONDS = 1800

# In namespaces of mounts and processes of its own. ROOT WORK WAY CXX CC KIND; KIND is talk.sh's.
PREPARE = """
set -euo pipefail
root=$1 work=$2 way=$3
layer=$work/layer
mount -t tmpfs none "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/root"
mount -t overlay none -o "lowerdir=$root,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
mount -t proc none "$layer/root/proc"
mount --rbind /dev "$layer/root/dev"
cp -L /etc/resolv.conf "$layer/root/etc/resolv.conf"
cp -r "$work/door" "$layer/root/door"
export CXX=$4 CC=$5 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
export DEBIAN_FRONTEND=noninteractive
chroot "$layer/root" /bin/bash -euxo pipefail -c "cd /door && source ways/$way.sh"
chroot "$layer/root" /bin/bash -euo pipefail /door/talk.sh "$6"
"""


class Trouble(Exception):
    """What keeps rows from being run at all."""


def run(command: list[str], log: Path) -> bool:
    with log.open("w", encoding="utf-8") as out:
        try:
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                  timeout=MOST_SECONDS, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            out.write(f"\nnot done after {MOST_SECONDS} s\n")
            return False


def bare_root(work: Path, mirror: str) -> Path:
    """The root, made anew only if what it is made of has changed."""
    made_of = hashlib.sha256(" ".join((mirror, *ROOT_PACKAGES)).encode()).hexdigest()[:12]
    root = work / f"root-{made_of}"
    if root.is_dir():
        return root
    half = work / "root-unfinished"
    shutil.rmtree(half, ignore_errors=True)
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(ROOT_PACKAGES)}", "bookworm",
               str(half), mirror]
    if not run(command, work / "debootstrap.log"):
        raise Trouble(f"debootstrap failed; {work}/debootstrap.log has what it said")
    half.rename(root)
    return root


def lay_out(work: Path, packages: Path, conan: Path) -> None:
    """What a row finds in /door: the sources as git lists them, packages, wheels, server and ways."""
    door = work / "door"
    shutil.rmtree(door, ignore_errors=True)
    list_files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *SOURCES]
    listed = subprocess.run(list_files, cwd=PROJECT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (PROJECT / name).is_file():
            (door / "gyre" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, door / "gyre" / name)
    for folder in ("server", "ways"):
        shutil.copytree(HERE / folder, door / folder)
    for file in ("talk.sh", "vcpkg_stand_in.cmake"):
        shutil.copy(HERE / file, door)
    for folder, source, pattern in (("deb", packages, "libgyre*.deb"), ("wheels", conan, "*.whl")):
        (door / folder).mkdir()
        for file in source.glob(pattern):
            shutil.copy(file, door / folder)


def row(root: Path, work: Path, way: str, compiler: str) -> bool:
    (work / "layer").mkdir(exist_ok=True)
    log = work / f"{way}-{compiler}.log"
    started = time.monotonic()
    kind = "shared" if way in SHARED else "static"
    good = run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/bash", "-c", PREPARE, "row",
                str(root), str(work), way, compiler, COMPILERS[compiler], kind], log)
    seconds = time.monotonic() - started
    print(f"{way:<18} {compiler:<12} {'passed' if good else 'failed':<8} {seconds:5.0f}", flush=True)
    if not good:
        print("    " + "\n    ".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:]))
    return good


def names(allowed: tuple[str, ...]):
    def parse(text: str) -> list[str]:
        chosen = text.split(",")
        for each in chosen:
            if each not in allowed:
                raise argparse.ArgumentTypeError(f"`{each}` is none of {', '.join(allowed)}")
        return chosen
    return parse


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Installs gyre in each way there is, in a bare Debian 12.")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian", metavar="URL",
                        help="of Debian's packages")
    parser.add_argument("--packages", type=Path, default=PROJECT / "build/package",
                        metavar="FOLDER", help="of libgyre*.deb")
    parser.add_argument("--conan", type=Path, default=PROJECT / "build/tools/conan",
                        metavar="FOLDER", help="of Conan's wheels")
    parser.add_argument("--work", type=Path, default=PROJECT / "build/door", metavar="DIR")
    parser.add_argument("--ways", type=names(WAYS), default=list(WAYS), metavar="a,b", help=", ".join(WAYS))
    parser.add_argument("--compilers", type=names(tuple(COMPILERS)), default=list(COMPILERS), metavar="a,b")
    parser.add_argument("--rows", action="store_true", help="only name the rows")
    options = parser.parse_args(arguments)
    rows = [(way, compiler) for way in options.ways for compiler in options.compilers]
    if options.rows:
        print("\n".join(map(" ".join, rows)))
        return 0

    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    try:
        root = bare_root(work, options.mirror)
        lay_out(work, options.packages, options.conan)
    except Trouble as trouble:
        print(f"door.py: {trouble}", file=sys.stderr)
        return 1
    print(f"{'way':<18} {'compiler':<12} {'result':<8} seconds")
    results = [row(root, work, way, compiler) for way, compiler in rows]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
