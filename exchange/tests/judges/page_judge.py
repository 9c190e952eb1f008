# SPDX-License-Identifier: BSL-1.0
#
# The page of the exchange, looked at by a browser while the exchange of ./dev demo trades behind it.
"""Opens the page in a Chromium without a window, trades on it, and compares what it shows with what the
exchange says of itself.

    page_judge.py PROGRAMS SCREENSHOTS

PROGRAMS is the folder of the exchange's programs. Pictures of the page on a desktop and on a phone, light and
dark, go to SCREENSHOTS. Ends with 77, which ctest takes for skipped, where there is no Chromium.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "judges"), str(ROOT / "exchange" / "bin" / "demo")]

import browser  # noqa: E402
import demo  # noqa: E402
from counted_verdicts import Verdicts  # noqa: E402

SKIPPED = 77
SECONDS_MAX = 60
VIEWS = {"desktop": (1280, 900, False), "phone": (390, 844, True)}
SCHEMES = ("light", "dark")
PRICE, QUANTITY = 950, 7  # Where no simulated trader goes.

# Run in the page: how many steps it draws of each side of a book with 200,000 levels, or why it draws none.
DRAW_LARGE_BOOK = """
(() => {
    const real = { ...sides };
    const side = (best, step) => Array.from({ length: 200000 }, (_, each) =>
        ({ price: String(best + step * each), quantity: "1", orders: 1 }));
    Object.assign(sides, { buy: side(-1, -1), sell: side(1, 1) });
    try {
        showBook();
        const paths = [...document.querySelectorAll("#depth path")];
        return paths.map((it) => it.getAttribute("d").split("V").length - 2);
    } catch (trouble) {
        return String(trouble);
    } finally {
        Object.assign(sides, real);
        showBook();
    }
})()
"""


class Traders:
    """Those of the demonstration, by themselves: so they can be ended before the exchange is."""

    def __init__(self, programs: Path, folder: Path, child: dict) -> None:
        self._process = subprocess.Popen([programs / child["program"], *child["arguments"]], cwd=folder,
                                         stdout=subprocess.PIPE, encoding="utf-8")
        while (line := self._process.stdout.readline()) and not line.startswith("ready: "):
            pass

    def end(self) -> tuple[int, str]:
        self._process.send_signal(signal.SIGINT)
        said = self._process.communicate(timeout=SECONDS_MAX)[0]
        return self._process.returncode, said

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


class Demonstration:
    """Its exchange on ports that the kernel chooses, and its traders; both end with the block."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        made = demo.prepare(demo.CONFIGURATION, folder, with_free_ports=True)
        children = made["supervisor.json"]["children"]
        traders = next(each for each in children if each["name"] == "traders")
        children.remove(traders)
        (folder / "supervisor.json").write_text(json.dumps(made["supervisor.json"]), encoding="utf-8")
        self.page = f"http://{made['web.json']['at']}/"
        self.admin = {each["name"]: each["admin"] for each in made["web.json"]["processes"]}
        self.exchange = demo.Exchange(programs, folder)
        if not self.exchange.ready.wait(SECONDS_MAX) or self.exchange.over.is_set():
            raise RuntimeError(self.exchange.log.read_text(encoding="utf-8"))
        self.traders = Traders(programs, folder, traders)

    def __enter__(self) -> "Demonstration":
        return self

    def __exit__(self, *_: object) -> None:
        self.traders.kill()
        self.exchange.end()

    def figures(self, name: str) -> dict:
        return demo.ask(self.admin[name], "/status")

    def ctl(self, *words: str) -> str:
        done = subprocess.run(
            [self._programs / "exchange_ctl", "--config", self._folder / "exchange.json", "--credentials",
             self._folder / "passwords.json", *words],
            capture_output=True, encoding="utf-8", timeout=SECONDS_MAX)
        return done.stdout + done.stderr


def text_of(page: browser.Page, selector: str) -> str:
    return page.evaluate(f"document.querySelector({selector!r})?.innerText") or ""


def rows_of(page: browser.Page, table: str) -> list[list[str]]:
    """Figures without what groups their digits."""
    return page.evaluate(
        f"[...document.querySelectorAll('#{table} tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.innerText.replaceAll('\\u202f', '')))")


def log_in(page: browser.Page, user: str) -> bool:
    page.evaluate(f"(user.value = {user!r}, password.value = 'secret',"
                  " login.querySelector('button').click())")
    return page.wait_for("!document.querySelector('#order button').disabled", SECONDS_MAX)


def enter(page: browser.Page, side: str, price: int, quantity: int) -> None:
    page.evaluate(f"(price.value = {price}, quantity.value = {quantity},"
                  f" document.querySelector('#order button.{side}').click())")


def shown_figure(page: browser.Page, process: str, name: str) -> int:
    """As the page has it; -1 if it has none."""
    found = re.search(rf"\b{name} ([\d\u202f]+)", page.evaluate(
        f"processes.get({process!r})?.facts.textContent") or "")
    return int(found[1].replace("\u202f", "")) if found else -1


def becomes(condition) -> bool:
    end = time.monotonic() + SECONDS_MAX
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def has_no_order(page: browser.Page) -> bool:
    return becomes(lambda: rows_of(page, "own")[0][0].startswith("No order"))


def judge_first_look(page: browser.Page, verdicts: Verdicts) -> None:
    connected = page.wait_for("document.body.dataset.ready === 'yes'", SECONDS_MAX)
    verdicts.note("the page is connected", connected, text_of(page, "#links"))
    for name in ("facility", "gateway", "distributor", "supervisor"):
        shown = page.wait_for(f"processes.get({name!r})?.title.textContent.endsWith('ready')", SECONDS_MAX)
        verdicts.note(f"{name} is shown, and ready", shown, text_of(page, "#processes"))
    public = page.wait_for("sides.buy.length > 0 && sides.sell.length > 0 && prints.length > 0", SECONDS_MAX)
    verdicts.note("book and trades are shown to a visitor who has not logged in", public,
                  text_of(page, "#links"))
    page.evaluate("(user.value = 'alice', password.value = 'wrong', login.querySelector('button').click())")
    verdicts.note("a wrong password is told",
                  page.wait_for("said.innerText.includes('refused')", SECONDS_MAX), text_of(page, "#said"))


def judge_trading(run: Demonstration, page: browser.Page, verdicts: Verdicts) -> None:
    verdicts.note("alice logs in", log_in(page, "alice"), text_of(page, "#said"))
    verdicts.note("traders' orders are in the book", page.wait_for(
        "sides.buy.length > 3 && sides.sell.length > 3", SECONDS_MAX), rows_of(page, "book"))
    before = run.figures("facility")["counts"]["commands"]
    moved = becomes(lambda: shown_figure(page, "facility", "commands") >= before + 100)
    after = run.figures("facility")["counts"]["commands"]
    shown = shown_figure(page, "facility", "commands")
    verdicts.note("commands are counted as they come", moved and before < shown <= after,
                  (before, shown, after))
    measured = page.wait_for("document.querySelector('#latency path') !== null", SECONDS_MAX)
    verdicts.note("the facility's latency is drawn", measured, text_of(page, "#latency-legend"))

    drawn = page.wait_for("document.querySelectorAll('#throughput path').length >= 3"
                          " && document.querySelectorAll('#latency-past path').length >= 3", SECONDS_MAX)
    verdicts.note("throughput and latency are drawn over time", drawn,
                  text_of(page, "#throughput-legend") + text_of(page, "#latency-past-legend"))

    enter(page, "buy", PRICE, QUANTITY)
    rests = becomes(lambda: any(row[3:5] == [str(PRICE), str(QUANTITY)] for row in rows_of(page, "own")))
    verdicts.note("an order of one's own rests", rests, rows_of(page, "own"))
    in_book = becomes(lambda: ["1", str(QUANTITY), str(PRICE), "", ""] in rows_of(page, "book"))
    verdicts.note("it is in the book", in_book, rows_of(page, "book"))
    told = run.ctl("show", "orders", "--account", "1")
    line = next((each for each in told.splitlines() if re.search(rf"\b{PRICE}\b", each)), "")
    verdicts.note("exchange_ctl shows it", re.search(rf"\b{QUANTITY}\b", line) is not None, told)


def judge_second_trader(run: Demonstration, first: browser.Page, verdicts: Verdicts,
                        chromium: browser.Browser) -> None:
    """Sells at what the first one bids, on a page of a phone's size; so each has all better bids to pass."""
    page = chromium.open(run.page)
    show_as(page, "phone", "light")
    page.wait_for("document.body.dataset.ready === 'yes'", SECONDS_MAX)
    verdicts.note("bob logs in on another page", log_in(page, "bob"), text_of(page, "#said"))
    page.wait_for("sides.buy.length > 0", SECONDS_MAX)
    enter(page, "sell", PRICE, 100000)
    first.ask("Page.bringToFront")  # Chromium lets pages behind another rest.
    trade = ["buy", str(PRICE), str(QUANTITY)]
    met = becomes(lambda: any(row[2:] == trade for row in rows_of(first, "fills")))
    verdicts.note("the first one sees the trade", met, rows_of(first, "fills"))
    verdicts.note("and has no order any more", has_no_order(first), rows_of(first, "own"))
    page.ask("Page.bringToFront")
    page.wait_for("document.querySelector('#own button') !== null", SECONDS_MAX)
    page.evaluate("document.querySelector('#own button')?.click()")
    verdicts.note("the second one cancels what is left", has_no_order(page), rows_of(page, "own"))
    verdicts.note("the second page's console is silent", not page.complaints, page.complaints)
    judge_taken_session(first, page, verdicts)


def judge_taken_session(first: browser.Page, page: browser.Page, verdicts: Verdicts) -> None:
    """The second page logs in as the first one's trader, with a stream whose beginning it is not given."""
    page.evaluate("(credentials = null, newest = true, socket.close())")  # As one that was refused.
    page.wait_for("document.querySelector('#order button').disabled", SECONDS_MAX)
    first.ask("Page.bringToFront")
    enter(first, "buy", PRICE - 1, QUANTITY)
    order = [str(PRICE - 1), str(QUANTITY)]
    rests = becomes(lambda: any(row[3:5] == order for row in rows_of(first, "own")))
    verdicts.note("the first one has an order again", rests, rows_of(first, "own"))
    page.ask("Page.bringToFront")
    verdicts.note("the second page logs in as the first one's trader", log_in(page, "alice"),
                  text_of(page, "#said"))
    shown = becomes(lambda: any(row[3:5] == order for row in rows_of(page, "own")))
    verdicts.note("and shows what rests, which its stream does not tell", shown, rows_of(page, "own"))
    taken = first.wait_for("said.innerText.includes('logged in again')", SECONDS_MAX)
    verdicts.note("the first page says who has its session, and does not take it back",
                  taken and first.evaluate("credentials === null"), text_of(first, "#said"))
    page.evaluate("document.querySelector('#own button')?.click()")
    verdicts.note("the second page cancels it", has_no_order(page), rows_of(page, "own"))
    page.evaluate("(credentials = null, socket.close())")
    first.ask("Page.bringToFront")
    verdicts.note("the first one logs in again", log_in(first, "alice"), text_of(first, "#said"))


def judge_standing_book(run: Demonstration, page: browser.Page, verdicts: Verdicts) -> None:
    """Behind the last trader nothing moves: now what the page shows has to be exactly what there is."""
    page.ask("Page.bringToFront")
    status, said = run.traders.end()
    verdicts.note("all agrees that the traders were told", status == 0 and "everything agrees" in said, said)
    told = run.ctl("show", "book", "1", "--levels", "1000")
    wanted = sorted(re.findall(r"^(bid|ask) (-?\d+): (\d+) in (\d+) orders$", told, re.MULTILINE))

    def shown() -> list[tuple[str, str, str, str]]:
        return sorted(("bid", row[2], row[1], row[0]) if row[0] else ("ask", row[2], row[3], row[4])
                      for row in rows_of(page, "book"))

    verdicts.note(f"the book is the facility's own, {len(wanted)} levels",
                  len(wanted) > 0 and becomes(lambda: shown() == wanted), (told, shown()))
    instruments = json.loads(run.ctl("show", "instruments", "--json"))["instruments"]
    shown_sums = ("instrument", "phase", "last", "open", "high", "low", "volume", "trades")
    sums = [[str(each[name]) for name in shown_sums] for each in instruments]
    verdicts.note("sums of the day are the facility's own", becomes(lambda: rows_of(page, "markets") == sums),
                  (sums, rows_of(page, "markets")))
    for name in ("commands", "orders resting", "logins", "feed messages", "feed messages lost"):
        # The page's own book requests are answered beside the count of commands.
        same = becomes(lambda name=name: shown_figure(page, "facility", name)
                       == run.figures("facility")["counts"][name.replace(" ", "_")])
        verdicts.note(f"{name}: the page has the facility's figure", same,
                      (shown_figure(page, "facility", name), run.figures("facility")["counts"]))


def judge_large_book(page: browser.Page, verdicts: Verdicts) -> None:
    drawn = page.evaluate(DRAW_LARGE_BOOK)
    verdicts.note("of a large book 1,000 levels of each side are drawn", drawn == [1000, 1000], drawn)


def judge_operator(run: Demonstration, page: browser.Page, verdicts: Verdicts) -> None:
    """Halts a market and takes an account out of it, in sight of the trader whose account that is."""
    def said() -> str:
        return text_of(page, "#operator-said")

    def log_in_as_operator(password: str) -> None:
        page.evaluate("document.querySelector('#operator-user').value = 'ops';"
                      f"document.querySelector('#operator-password').value = {password!r};"
                      "document.querySelector('#operator-login button').click()")

    def press(what: str) -> None:
        page.evaluate(f"document.querySelector('#operator-orders button[{what}]').click()")

    hidden = page.evaluate("document.querySelector('#operator-orders').hidden")
    verdicts.note("a visitor has no operator's buttons", hidden is True, hidden)
    log_in_as_operator("wrong")
    verdicts.note("an operator's wrong password is told",
                  becomes(lambda: "refused" in said()), said())
    log_in_as_operator("operator")
    verdicts.note("the operator logs in",
                  page.wait_for("!document.querySelector('#operator-orders').hidden", SECONDS_MAX), said())
    page.evaluate("document.querySelector('#operator-account-number').value = 1")
    for form in ("operator-account", "operator-market", "order"):  # As Enter does in a field of it.
        page.evaluate(f"document.querySelector('#{form}').requestSubmit()")
    enter(page, "buy", PRICE - 1, QUANTITY)
    becomes(lambda: any(row[3:5] == [str(PRICE - 1), str(QUANTITY)] for row in rows_of(page, "own")))
    press("data-phase=halted")
    verdicts.note("the market is halted", becomes(lambda: said() == "set phase 1: accepted."), said())
    verdicts.note("no key in a field has commanded",
                  "active" in run.ctl("show", "accounts", "--account", "1"))
    verdicts.note("the page shows it", becomes(lambda: "halted" in text_of(page, "#phase")),
                  text_of(page, "#phase"))
    press("data-message=uncross")
    verdicts.note("a refusal is told with its reason",
                  becomes(lambda: said().startswith("uncross 1: refused, ")), said())
    press("data-state=blocked")
    verdicts.note("the kill switch is thrown",
                  becomes(lambda: said() == "set account state 1: accepted."), said())
    verdicts.note("it took the trader's order away", has_no_order(page), rows_of(page, "own"))
    told = run.ctl("show", "accounts", "--account", "1") + run.ctl("show", "book", "1")
    verdicts.note("exchange_ctl says the same", "blocked" in told and "halted" in told, told)


def show_as(page: browser.Page, view: str, scheme: str) -> None:
    width, height, is_phone = VIEWS[view]
    page.ask("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    page.ask("Emulation.setDeviceMetricsOverride",
             {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone})


def take_pictures(page: browser.Page, folder: Path, verdicts: Verdicts) -> None:
    for view, (width, height, is_phone) in VIEWS.items():
        for scheme in SCHEMES:
            show_as(page, view, scheme)
            wide = page.evaluate("document.documentElement.scrollWidth")
            verdicts.note(f"{view}, {scheme}: nothing is wider than the screen", wide <= width, wide)
            whole = max(height, page.evaluate("document.documentElement.scrollHeight"))
            page.ask("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": whole, "deviceScaleFactor": 1, "mobile": is_phone})
            page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            page.screenshot(folder / f"{view}-{scheme}.png")


def main() -> int:
    programs, pictures = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    if browser.program() is None:
        print("skip: no Chromium is installed")
        return SKIPPED
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as folder, Demonstration(programs, Path(folder) / "run") as run:
        with browser.Browser() as chromium:
            page = chromium.open(run.page)
            judge_first_look(page, verdicts)
            judge_trading(run, page, verdicts)
            take_pictures(page, pictures, verdicts)
            judge_second_trader(run, page, verdicts, chromium)
            judge_standing_book(run, page, verdicts)
            judge_large_book(page, verdicts)
            judge_operator(run, page, verdicts)
            verdicts.note("the console is silent", not page.complaints, page.complaints)
        print(f"     pictures are in {pictures}")
    verdicts.note("the exchange ends in order", not run.exchange.faults, run.exchange.faults)
    return verdicts.status()


if __name__ == "__main__":
    sys.exit(main())
