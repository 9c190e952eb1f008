#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The report as a reader sees it, and whether the check would see what is wrong with it.
"""Checks report_browser.py, and with it the report of a made-up run. Ends with 77 if there is no Chromium."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

import report
import report_browser
import sample_run
from report_browser import DESK, PHONE, View

PROGRAM = report_browser.browser()


def page_of(suites: tuple[str, ...] | None = None) -> str:
    """Of all suites, or of some for what takes no more."""
    document = sample_run.document()
    if suites:
        document["rows"] = [each for each in document["rows"] if each["suite"] in suites]
    with tempfile.TemporaryDirectory() as folder:
        return report.write_html(document, Path(folder)).read_text(encoding="utf-8")


SMALL = page_of(("latency",)) if PROGRAM else ""


class Log(unittest.TestCase):
    def test_only_what_a_page_wrote_counts(self):
        ours = '[12:12:1122/045446.568362:INFO:CONSOLE:1] "Uncaught TypeError", source: file:///t.html (1)'
        older = '[1122/045446.568362:INFO:CONSOLE(7)] "no", source: file:///t.html (7)'
        others = "[12:12:1122/045446.56:ERROR:dbus/bus.cc:408] Failed to connect to the bus"
        self.assertEqual(report_browser.console_lines(f"{ours}\n{others}\n{older}\n"), [ours, older])

    def test_a_page_that_was_not_examined_is_no_success(self):
        with self.assertRaises(report_browser.Broken):
            report_browser.answer_of("<html><pre id=answer></pre></html>")


@unittest.skipUnless(PROGRAM, "there is no Chromium")
class Report(unittest.TestCase):
    def test_every_page_is_whole_on_a_phone_and_on_a_desk_in_light_and_in_dark(self):
        page = page_of()
        for view in (View(PHONE, "light"), View(DESK, "dark")):
            with self.subTest(view=str(view)):
                seen = report_browser.check(PROGRAM, page, view)
                self.assertEqual(seen.problems, [])
                self.assertEqual(seen.plots, page.count('role="img"'))
                self.assertGreater(seen.plots, 100)

    def test_a_picture_of_one_page_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            to = Path(folder) / "latency.png"
            report_browser.take_picture(PROGRAM, SMALL, View(PHONE, "dark"), "latency", 600, to)
            self.assertEqual(to.read_bytes()[1:4], b"PNG")


@unittest.skipUnless(PROGRAM, "there is no Chromium")
class Faults(unittest.TestCase):
    """Each breaks the page in one way; several at once, because each start takes a second."""

    def problems(self, page: str, view: View = View(PHONE, "light")) -> str:
        return "\n".join(report_browser.check(PROGRAM, page, view).problems)

    def test_what_is_drawn_wrongly_is_seen(self):
        first, second, third, rest = SMALL.split('<svg viewBox="0 0 360', 3)
        second = re.sub(r"<(circle|polygon|rect)[^>]*>.*?</\1>", "", second)
        third = re.sub(r'<text x="[^"]*" y="[^"]*" class="tick"', '<text x="300" y="50" class="tick"', third)
        broken = '<svg viewBox="0 0 360'.join([first, second, third, rest])
        found = self.problems(broken)
        self.assertIn("no mark: ", found)
        self.assertRegex(found, '"[^"]+" on "[^"]+": ')
        self.assertNotIn("scrolls sideways", found)

    def test_what_does_not_fit_or_lead_anywhere_is_seen(self):
        broken = SMALL.replace("</main>", '<div style="width:600px">x</div><a href="#nowhere">y</a></main>')
        broken = broken.replace(".plot { display: block; width: 100%;", ".plot { width: 500px;")
        found = self.problems(broken)
        self.assertIn("scrolls sideways", found)
        self.assertIn("leads nowhere: #nowhere", found)
        self.assertIn("wider than the page: ", found)

    def test_errors_of_scripts_and_pages_that_do_not_open_are_seen(self):
        broken = SMALL.replace("<main>", "<main><script>console.error('oh no'); undefined.x;</script>")
        broken = broken.replace(".page:target, ", "").replace(", .page:has(:target)", "")
        found = self.problems(broken, View(DESK, "dark"))
        self.assertIn("oh no", found)
        self.assertIn("Uncaught TypeError", found)
        self.assertRegex(found, "#latency shows [0-9]+ pages or another one")


if __name__ == "__main__":
    if PROGRAM is None:
        print("report_browser_test: there is no Chromium")
        whole = unittest.main(argv=[sys.argv[0], "Log"], exit=False)
        sys.exit(report_browser.SKIPPED if whole.result.wasSuccessful() else 1)
    unittest.main()
