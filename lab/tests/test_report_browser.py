# SPDX-License-Identifier: BSL-1.0
#
# The report as a reader sees it, and whether the check would see what is wrong with it.
"""Skipped where there is no Chromium."""

import pytest
import report_browser
import sample_run
from analyse import report
from analyse.frame import Run
from report_browser import DESK, PHONE, View

PROGRAM = report_browser.browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def small() -> str:
    return report.draw(Run(sample_run.lines(wanted=["fan_out"])))


def test_only_what_a_page_wrote_counts():
    ours = '[12:12:1122/045446.568362:INFO:CONSOLE:1] "Uncaught TypeError", source: file:///t.html (1)'
    older = '[1122/045446.568362:INFO:CONSOLE(7)] "no", source: file:///t.html (7)'
    others = "[12:12:1122/045446.56:ERROR:dbus/bus.cc:408] Failed to connect to the bus"
    assert report_browser.console_lines(f"{ours}\n{others}\n{older}\n") == [ours, older]


@pytest.mark.parametrize("view", [View(PHONE, "light"), View(DESK, "dark")])
def test_every_page_is_whole_on_a_phone_and_on_a_desk_in_light_and_in_dark(sample, view):
    page = report.draw(sample)
    seen = report_browser.check(PROGRAM, page, view)
    assert seen.problems == []
    assert seen.plots == page.count('role="img"') > 100


def test_a_picture_of_one_page_is_taken(small, tmp_path):
    report_browser.take_picture(PROGRAM, small, View(PHONE, "dark"), "fan_out", 600, tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize(("old", "new", "problem"), [
    ('<a href="#losses"', '<a href="#nowhere"', "leads nowhere"),
    ("</main>", '<div style="width:3000px">wide</div></main>', "scrolls sideways"),
    ("</main>", "<script>console.log('no')</script></main>", "CONSOLE"),
    ("</svg>", '<text x="40" y="40">one label</text><text x="42" y="41">another</text></svg>', '" on "'),
])
def test_what_is_wrong_is_seen(small, old, new, problem):
    found = report_browser.check(PROGRAM, small.replace(old, new, 1), View(PHONE, "light")).problems
    assert any(problem in each for each in found), found
