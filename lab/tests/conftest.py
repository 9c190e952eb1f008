# SPDX-License-Identifier: BSL-1.0
#
# What the lab's Python tests share: where its packages are, a build of fake contenders, a made-up run.
from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

LAB = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(LAB), str(LAB / "tests")]

import sample_run  # noqa: E402
from analyse.frame import Run  # noqa: E402
from measure.suites import Case  # noqa: E402
from measure.watched import WATCHER  # noqa: E402

BUILD = Path(os.environ.get("LAB_BUILD", LAB.parent / "build/release"))
FOLDER = BUILD / "lab"
needs_lab = pytest.mark.skipif(not (FOLDER / WATCHER).is_file(), reason="the lab is not built")
FAKE = [sys.executable, "-S", str(LAB / "tests/fake_contender.py")]


def fake(name: str, family: str, *figures: float, suites: tuple[str, ...] = ("latency",)) -> dict:
    return {"name": name, "family": family, "mode": "slices", "command": [*FAKE, name, *map(str, figures)],
            "suites": list(suites), "cases": "*"}


def fake_server(fault: str = "none") -> list[str]:
    return [sys.executable, "-B", str(LAB / "tests/fake_server.py"), "--fault", fault]


@pytest.fixture
def fake_build(tmp_path: Path):
    """A function that writes a build of these contenders and returns its folder."""
    def write(*contenders: dict) -> Path:
        (tmp_path / "build/lab/peers").mkdir(parents=True, exist_ok=True)
        (tmp_path / "build/lab/peers/peers.json").write_text("[]")
        (tmp_path / "build/lab/build_info.json").write_text(json.dumps(
            {"compiler": "", "flags": "", "build_type": "Release", "contenders": list(contenders)}))
        return tmp_path / "build"
    return write


def case_of(kind: str = "ping_pong", **more) -> Case:
    return Case("latency", "tcp_64", "", "slices", "mean", {"kind": kind, "bytes": 64},
                **({"operations": 100, "blocks": 2, "rounds": 3} | more))


@pytest.fixture(scope="session")
def sample() -> Run:
    """Every suite and every case."""
    return Run(sample_run.lines(blocks=2))
