# SPDX-License-Identifier: BSL-1.0
#
# Where numbers come from: a result without its machine cannot be compared with anything.
"""Facts about the computer, the kernel and the build that a run records beside its samples."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

AVAILABLE = frozenset(os.sched_getaffinity(0))  # Before anything was pinned.


def facts(build_info: dict) -> dict:
    """What does not change while a run lasts."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "smt": {"1": "on", "0": "off"}.get(read("/sys/devices/system/cpu/smt/active"), "not exposed"),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "virtual_machine": " hypervisor" in read("/proc/cpuinfo"),
        "kernel": f"{platform.system()} {platform.release()}",
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "compiler": build_info["compiler"],
        "flags": build_info["flags"],
        "build_type": build_info["build_type"],
        "c_library": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "sources": sources(),
    }


def sources() -> str:
    """The commit that this file is of, and whether anything has changed since. A build may be older."""
    try:
        found = subprocess.run(["git", "-C", str(Path(__file__).resolve().parent), "describe", "--always",
                                "--dirty", "--abbrev=12"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip() or "unknown"


def identity() -> str:
    """Of machines that differ in it, no figures may be put together."""
    cores = ",".join(map(str, sorted(AVAILABLE)))
    return f"{platform.node()}, {cpu_model()}, {platform.system()} {platform.release()}, cores {cores}"


def cpu_model() -> str:
    found = re.search(r"^model name\s*: (.*)$", read("/proc/cpuinfo"), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def read(path: str, otherwise: str = "not exposed") -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return otherwise


def load_average() -> list[float]:
    return [round(each, 2) for each in os.getloadavg()]


class StealMeter:
    """How much processor time the hypervisor gave to others since this object was made."""

    def __init__(self) -> None:
        self._before = self._ticks()

    @staticmethod
    def _ticks() -> tuple[int, int]:
        ticks = [int(each) for each in read("/proc/stat").splitlines()[0].split()[1:9]]
        return ticks[7], sum(ticks)

    def percent(self) -> float:
        stolen, total = self._ticks()
        elapsed = total - self._before[1]
        return round(100.0 * (stolen - self._before[0]) / elapsed, 2) if elapsed else 0.0


def run_delay(process: int) -> int | None:
    """Nanoseconds for which the first thread of a process was ready to run, and kept from it by others."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_bytes().split()[1])
    except (OSError, IndexError, ValueError):
        return None


def physical_core_of(processor: int) -> int:
    """The first of the processors that share its core; itself if the kernel does not say."""
    siblings = read(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
    found = re.match(r"\d+", siblings)
    return int(found[0]) if found else processor


def cores_for(threads: int) -> set[int] | None:
    """The cores to pin a program with this many busy threads to: the last ones, as interrupts
    tend to arrive on the first; processors that share a core come after all others. None if the
    machine has no core to spare."""
    available = sorted(AVAILABLE, reverse=True)
    if len(available) < 2 or threads > len(available):
        return None
    alone, siblings, used = [], [], set()
    for processor in available:
        core = physical_core_of(processor)
        (siblings if core in used else alone).append(processor)
        used.add(core)
    return set((alone + siblings)[:threads])


@contextlib.contextmanager
def quiet_observer(threads: int) -> Iterator[None]:
    """Keeps this process off the cores of what it measures, where others are left."""
    busy = cores_for(threads)
    others = set(AVAILABLE) - (busy or set())
    if busy and others:
        os.sched_setaffinity(0, others)
    try:
        yield
    finally:
        os.sched_setaffinity(0, set(AVAILABLE))
