#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# Looks at a report with a browser: text that overlaps, or a plot without marks, is no error to Python.
"""report_browser.py FOLDER [--screenshots DIR]: FOLDER holds the index.html of a report.

Opens the report in Chromium without a window, on light and on dark, as wide as a phone and as a desk,
and checks that nothing is written to the console, that every plot is drawn and fits, that no label covers
another one, and that links lead somewhere. --screenshots keeps pictures of every page. Ends with 1 if
something is wrong, with 77 if there is no Chromium.
"""

from __future__ import annotations

import argparse
import html
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure.processes import Broken, end_session

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SKIPPED = 77
PHONE, DESK = 375, 1280
SCHEMES = {"light": "1", "dark": "0"}  # As the browser's setting numbers them.
SECONDS_MAX = 120
SCRIPT = Path(__file__).resolve().parent / "report_browser.js"

# A browser's window cannot be as narrow as a phone, so the page is shown in a frame of that width.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><style>body{{margin:0;background:#888}}
iframe{{border:0;display:block;width:{width}px;height:{height}px}}</style>
<iframe srcdoc="{page}"></iframe>
<script>onload = () => {{
  const found = document.querySelector("iframe").contentDocument.getElementById("answer");
  document.body.innerHTML = "<pre id=answer></pre>";
  document.body.firstChild.textContent = found ? found.textContent : "";
}};</script>"""
PICTURE = FRAME.split("<script>", 1)[0]
HEIGHT = 900


@dataclass(frozen=True)
class View:
    width: int
    scheme: str

    def __str__(self) -> str:
        return f"{self.width} px, {self.scheme}"


def browser() -> str | None:
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def run_browser(program: str, folder: Path, scheme: str, arguments: list[str]) -> tuple[str, str]:
    """What it wrote on standard output and as a log. It has a profile of its own."""
    # If its parent is killed, the browser still ends.
    command = ["timeout", "--kill-after=1", str(SECONDS_MAX + 5), program,
               "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
               "--hide-scrollbars", "--enable-logging=stderr", "--v=0", "--disable-extensions",
               f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
               f"--user-data-dir={folder / 'profile'}", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            out, log = process.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired as error:
            raise Broken(f"no answer within {SECONDS_MAX} s") from error
        finally:
            end_session(process.pid)  # A browser is many processes; none of them stays.
    if process.returncode:
        raise Broken(f"status {process.returncode}: {log[-500:]}")
    return out, log


def console_lines(log: str) -> list[str]:
    """What the page wrote to the browser's console, errors of the page among it."""
    return [line for line in log.splitlines() if re.match(r"\[[^\]]*:CONSOLE[:(]", line)]


def with_check(page: str) -> str:
    """A copy that examines itself. The report itself has no script."""
    added = ("<style>html.all .page{display:block!important}</style>"
             f"<script>{SCRIPT.read_text(encoding='utf-8')}</script>")
    return page.replace("</head>", f"{added}</head>", 1)


def only(page: str, name: str) -> str:
    """A copy that shows one of its pages."""
    style = f"<style>.page{{display:none!important}}#{name}.page{{display:block!important}}</style>"
    return page.replace("</head>", f"{style}</head>", 1)


def answer_of(dumped: str) -> dict:
    found = re.search(r'<pre id="answer">(.+?)</pre>', dumped, re.DOTALL)
    if found is None:
        raise Broken("the page was not examined")
    return json.loads(html.unescape(found[1]))


@dataclass(frozen=True)
class Seen:
    plots: int
    heights: dict[str, int]  # Of each page.
    problems: list[str]


def shown(program: str, frame: str, page: str, view: View, height: int, *options: str) -> tuple[str, str]:
    """What the browser wrote when it had shown the page in a frame."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        path = folder / "frame.html"
        path.write_text(frame.format(width=view.width, height=height, page=html.escape(page, quote=True)),
                        encoding="utf-8")
        return run_browser(program, folder, view.scheme, [*options, path.as_uri()])


def check(program: str, page: str, view: View) -> Seen:
    dumped, log = shown(program, FRAME, with_check(page), view, HEIGHT,
                        f"--window-size={view.width},{HEIGHT}", "--dump-dom")
    answer = answer_of(dumped)
    problems = [*answer["problems"], *console_lines(log)]
    if answer["width"] != view.width:
        problems.append(f"the browser gave the page {answer['width']} px")
    if answer["dark"] != (view.scheme == "dark"):
        problems.append("the browser showed the other colours")
    if not answer["plots"]:
        problems.append("there is no plot")
    return Seen(answer["plots"], answer["heights"], problems)


def take_picture(program: str, page: str, view: View, name: str, height: int, to: Path) -> None:
    """Of one page from its top to its bottom."""
    shown(program, PICTURE, only(page, name), view, height,
          f"--window-size={view.width},{height + 150}", f"--screenshot={to}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Looks at a report with a browser.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="with the index.html of a report")
    parser.add_argument("--screenshots", type=Path, metavar="DIR", help="keep pictures of all pages there")
    arguments = parser.parse_args()
    program = browser()
    if program is None:
        print("report_browser: there is no Chromium; Debian's package is called chromium")
        return SKIPPED
    page = (arguments.folder / "index.html").read_text(encoding="utf-8")
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)

    wrong = 0
    for view in (View(*each) for each in itertools.product((PHONE, DESK), SCHEMES)):
        try:
            seen = check(program, page, view)
            for name, height in seen.heights.items() if arguments.screenshots else ():
                to = arguments.screenshots / f"{name}-{view.width}-{view.scheme}.png"
                take_picture(program, page, view, name, height, to)
        except Broken as error:
            print(f"{view}: {error}")
            return 1
        print(f"{view}: {seen.plots} plots, {len(seen.heights)} pages, {len(seen.problems)} problems",
              flush=True)
        for each in seen.problems:
            print(f"  {each}")
        wrong += len(seen.problems)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
