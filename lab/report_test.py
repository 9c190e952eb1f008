# SPDX-License-Identifier: BSL-1.0
#
# A report is read by people who did not see the run: what it says must follow from the samples.
"""Checks tables.py, plots.py and report.py on small runs that are made up."""

import contextlib
import io
import re
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import evidence
import report
import tables
from evidence import Run

SUITES = {
    "dispatch": (["post", "spawn", "threads_1", "threads_8"], [("throughput", "Mops/s", "higher")]),
    "throughput": (["uni_tcp_1K", "uni_tcp_64K"], [("throughput", "MB/s", "higher")]),
    "latency": (["tcp_64", "unix_64"], [(each, "us", "lower") for each in tables.QUANTILES]),
    "http": (["1_sequential", "32"], [("throughput", "ops/s", "higher")] +
             [(each, "us", "lower") for each in tables.QUANTILES]),
    "echo": (["64_1", "16K_100"], [("throughput", "ops/s", "higher")] +
             [(each, "us", "lower") for each in tables.QUANTILES]),
    "churn": (["sequential", "http_1_0"], [("throughput", "ops/s", "higher")] +
              [(each, "us", "lower") for each in tables.QUANTILES]),
    "fan_out": (["1", "nested"], [("throughput", "Mops/s", "higher")]),
    "timers": (["schedule_cancel_waited", "concurrent_100"], [("throughput", "Mops/s", "higher")]),
    "exchange": (["3_filled_1000", "3_filled_unbounded"],
                 [("orders_rate", "ops/s", "higher")] +
                 [(prefix + each, "us", "lower") for prefix in ("", "wire_")
                  for each in ("min", "p50", "p95", "p99", "p99.9", "p99.99", "max")]),
    "exchange_tuning": (["3_filled_1000"], [("p50", "us", "lower")]),
}
SPEEDS = {"gyre_uring": 2.0, "gyre_epoll": 0.5, "asio_callback": 1.0, "raw_syscalls": 4.0}


def document(speeds=None, suites=tuple(SUITES)):
    """A run in which contenders differ from Asio by exact factors, with a little noise."""
    speeds = SPEEDS if speeds is None else speeds
    noise = [1.0, 1.01, 0.99, 1.0, 1.005]
    first = next(iter(speeds))
    rows, controls = [], []
    for suite in suites:
        cases, metrics = SUITES[suite]
        for case in cases:
            controls.append({"suite": suite, "case": case, "contender": first, "spread": 0.01,
                             "attempts": 1})
            for metric, unit, better in metrics + [("cpu", "ns/op", "lower")]:
                for name in [*speeds, first + " (control)"]:
                    factor = speeds[name.split(" ")[0]]
                    value = 2000.0 * (factor if better == "higher" else 1 / factor)
                    rows.append({"suite": suite, "case": case, "contender": name,
                                 "metric": metric, "unit": unit, "better": better,
                                 "samples": [value * each for each in noise], "median": value})
    families = {name: name.split("_")[0] for name in speeds} | {"raw_syscalls": "floor"}
    return {"machine": {"cpu": "a <fast> one"}, "rows": rows, "controls": controls,
            "run": {"scale": "full", "repetitions": 5},
            "contenders": [{"name": each, "family": families[each]} for each in speeds],
            "by_second": [{"suite": "exchange", "case": "3_filled_unbounded", "contender": each,
                           "rounds": [[[1.0, 2.0, 3.0, 4.0, 5.0]] * 3] * 5} for each in speeds],
            "cannot_run": [{"suite": "dispatch", "case": "post", "contender": "raw_syscalls",
                            "reason": "has no queue"}]}


def printed(given) -> str:
    stored = io.StringIO()
    with contextlib.redirect_stdout(stored):
        report.print_tables(given)
    return stored.getvalue()


class Tables(unittest.TestCase):
    def test_the_winner_is_compared_with_the_best_other_library(self):
        self.assertEqual(tables.find_winner(Run(document()), "dispatch", "post", "throughput"),
                         ("gyre_uring", "gyre_uring 2.00x"))

    def test_the_floor_never_wins(self):
        speeds = {"asio_callback": 1.0, "raw_syscalls": 4.0}
        winner, _ = tables.find_winner(Run(document(speeds)), "latency", "tcp_64", "mean")
        self.assertEqual(winner, "asio_callback")

    def test_equal_contenders_are_a_tie(self):
        speeds = {"gyre_uring": 1.0, "asio_callback": 1.0}
        self.assertEqual(tables.find_winner(Run(document(speeds)), "http", "32", "throughput"),
                         (None, "tie"))

    def test_units_are_those_of_the_tables(self):
        self.assertEqual(tables.format_value(5020.0, "MB/s"), "5.02 GB")
        self.assertEqual(tables.format_value(164.2, "MB/s"), "164")
        self.assertEqual(tables.format_value(73_690.0, "ops/s"), "73.7")
        self.assertEqual(tables.format_value(12.451, "us"), "12.5")
        self.assertEqual(tables.format_value(0.0, "1/op"), "0")

    def test_columns_line_up(self):
        text = tables.draw(tables.tables_of(Run(document()), "http")[2]).splitlines()
        header, row = text[2], text[4]
        self.assertEqual(header.index("Winner"), row.index("gyre_uring 2.00x"))

    def test_terminal_output_names_who_could_not_run_and_where_gyre_loses(self):
        text = printed(document())
        self.assertIn("No row: raw_syscalls in dispatch (post): has no queue.", text)
        self.assertRegex(text, r"gyre_epoll +0\.50x of asio_callback +confirmed")
        self.assertNotRegex(text, r"gyre_uring +0\.\d+x of")

    def test_terminal_output_leaves_nothing_out_in_silence(self):
        made = document() | {
            "suites_missing": [{"suite": "baseline", "reason": "nobody takes part"}],
            "notes": [{"suite": "http", "case": "32", "contender": "gyre_uring", "note": "retried, round 2"}],
            "system_calls_failed": [{"suite": "http", "case": "32", "contender": "gyre_uring",
                                     "reason": "no reason"}]}
        with contextlib.redirect_stdout(io.StringIO()) as out:
            report.print_tables(made)
        for said in ("No case of baseline: nobody takes part.",
                     "Note: gyre_uring in http (32): retried, round 2.",
                     "Calls not counted: gyre_uring in http (32): no reason."):
            self.assertIn(said, out.getvalue())

    def test_an_echo_server_is_held_against_the_best_plain_one(self):
        # Processor times, ns: 500 for the floor, 1000 and 4000 for gyre, 2000 for Asio.
        table = tables.tables_of(Run(document(suites=["echo"])), "echo")[0]
        self.assertEqual(table.columns, ["gyre_uring", "gyre_epoll", "asio_callback"])
        self.assertEqual([cell.text for cell in table.rows[0].cells], ["2.00", "8.00", "4.00"])
        self.assertEqual(table.rows[0].winner, "raw_syscalls")

    def test_costs_are_printed_if_asked_for(self):
        given = document(suites=["churn"])
        given["system_calls_not_counted"] = "no tracefs"
        stored = io.StringIO()
        with contextlib.redirect_stdout(stored):
            report.print_tables(given, with_costs=True)
        self.assertIn("Processor time, ns per operation", stored.getvalue())
        self.assertNotIn("Processor time, ns per operation", printed(given))
        self.assertIn("System calls were not counted: no tracefs.", printed(given))

    def test_what_loops_count_is_shown_where_somebody_counted_and_nobody_wins(self):
        given = document(suites=["churn"])
        for metric, value in (("rearms", 0.25), ("stolen", 0.0)):
            for name in ("gyre_uring", "gyre_epoll"):
                given["rows"].append({"suite": "churn", "case": "sequential", "contender": name,
                                      "metric": metric, "unit": "1/op", "better": "lower",
                                      "samples": [value] * 5, "median": value})
        found = {each.title: each for each in tables.cost_tables_of(Run(given), "churn")}
        again = found[tables.COUNTED["rearms"] + ": churn"]
        self.assertEqual(["gyre_uring", "gyre_epoll"], again.columns)
        self.assertRegex(again.rows[0].cells[0].text, r"^0\.25")
        self.assertEqual("", again.rows[0].winner)
        self.assertNotIn(tables.COUNTED["stolen"] + ": churn", found)

    def test_rows_of_several_threads_are_held_against_the_one_of_one_thread(self):
        given = document(suites=("dispatch",))
        for row in given["rows"]:
            if row["case"] == "threads_8" and row["contender"] == "gyre_uring":
                row["samples"] = [1.5 * each for each in row["samples"]]
        tables_found = {each.title: each for each in tables.tables_of(Run(given), "dispatch")}
        speedup = tables_found["Threads: continuations from one other thread, speedup over one "
                               "thread"]
        self.assertEqual(["8"], [row.label for row in speedup.rows])
        ours, theirs = (speedup.rows[0].cells[speedup.columns.index(each)].text
                        for each in ("gyre_uring", "asio_callback"))
        self.assertEqual(("1.50", "1.00"), (ours, theirs))

    def test_a_contender_without_any_row_has_no_column(self):
        given = document(suites=["dispatch"])
        given["contenders"].append({"name": "raw_epoll", "family": "floor"})
        self.assertNotIn("raw_epoll", printed(given))

    def test_a_run_without_gyre_says_so(self):
        self.assertIn("peers only", printed(document({"asio_callback": 1.0})))


class Modules(unittest.TestCase):
    """A suite that is new brings its tables in one line."""

    def test_a_module_has_the_tables_of_its_suite(self):
        mine = tables.Table("mine", "Case", [])
        module = types.SimpleNamespace(tables=lambda run: [None, mine], blocks=lambda run: ["a block"])
        with mock.patch.dict(sys.modules, new_tables=module), \
                mock.patch.dict(tables.MODULES, new=("new_tables", "tables")):
            run = Run(document(suites=["churn"]))
            self.assertEqual(tables.tables_of(run, "new"), [mine])
            self.assertEqual(tables.blocks_of(run, "new"), ["a block"])
            self.assertEqual(tables.cost_tables_of(run, "new"), [])

    def test_a_page_can_be_drawn_of_a_suite_without_tables_and_plots(self):
        with mock.patch.dict(SUITES, cost=(["minimal"], [("compile_seconds", "s", "lower")])), \
                mock.patch.dict(evidence.HEADLINES, cost="compile_seconds"), \
                mock.patch.dict(evidence.JUDGED, cost=("compile_seconds",)):
            page = page_of(document(suites=["cost"]))
        self.assertIn('id="cost-ratio-compile_seconds"', page)
        self.assertIn('id="cost-values"', page)


def page_of(given) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return report.write_html(given, Path(folder)).read_text(encoding="utf-8")


def part_of(page: str, name: str) -> str:
    """One page of the report."""
    return page.split(f'<section class="page" id="{name}">')[1].split('<section class="page"')[0]


class Html(unittest.TestCase):
    def page(self, given) -> str:
        return page_of(given)

    def test_a_page_needs_no_other_file(self):
        addresses = re.findall(r"(?:src|href)=[\"']([^\"']{0,20})", self.page(document()))
        self.assertTrue(addresses)
        self.assertTrue(all(each.startswith("#") for each in addresses), addresses)

    def test_a_page_has_no_script(self):
        self.assertNotIn("<script", self.page(document()))

    def test_every_suite_has_a_page_and_a_link_to_it(self):
        page = self.page(document())
        for name in ("front", "losses", *SUITES, "method"):
            self.assertEqual(page.count(f'<section class="page" id="{name}">'), 1, name)
            self.assertIn(f'<li><a href="#{name}">', page)

    def test_the_summary_counts_rows_and_goals_and_knows_the_machine(self):
        front = part_of(self.page(document()), "front")
        self.assertRegex(front, '<b class="won">[1-9]')
        self.assertRegex(front, '<b class="lost">[1-9]')
        self.assertIn("HTTP, 32 connections, one thread: 1.25 x the best peer", front)
        self.assertRegex(front, "A/A control: median 1.0 %")
        self.assertIn("a &lt;fast&gt; one", front)

    def test_a_lost_row_has_its_interval_and_leads_to_its_plot(self):
        page = self.page(document())
        losses = part_of(page, "losses")
        row = losses.split('<a href="#http-ratio-throughput">http 32</a>')[1].split("</tr>")[0]
        for each in ("gyre_epoll", "asio_callback", "0.50x", "0.50 to 0.50", "confirmed"):
            self.assertIn(each, row)
        self.assertIn('<figure id="http-ratio-throughput">', part_of(page, "http"))

    def test_what_is_not_judged_is_not_hidden(self):
        slow = {"gyre_uring": 0.5, "gyre_epoll": 0.4, "asio_callback": 1.0, "raw_syscalls": 4.0}
        losses = part_of(self.page(document(slow, ["latency"])), "losses")
        row = losses.split("not judged")[1].split("<td class=left>p99.9</td>")[1].split("</tr>")[0]
        for each in ("gyre_uring", "asio_callback", "0.50x"):
            self.assertIn(each, row)
        ahead = part_of(self.page(document({"gyre_uring": 2.0, "asio_callback": 1.0}, ["latency"])), "losses")
        self.assertNotIn("not judged", ahead)

    def test_a_known_cause_stands_beside_its_row_only(self):
        cases = (["fire_rate_1us", "fire_rate"], SUITES["timers"][1])
        with mock.patch.dict(SUITES, timers=cases):
            losses = part_of(page_of(document(suites=["timers"])), "losses")
        known, unknown = (losses.split(f"timers {case}</a>")[1].split("</tr>")[0] for case in cases[0])
        self.assertIn('<a href="#cause-1">1</a>', known)
        self.assertNotIn("cause", unknown)

    def test_a_cause_of_many_rows_is_told_once(self):
        cases = (["uni_tcp_256K", "uni_tcp_1M"], SUITES["throughput"][1])
        with mock.patch.dict(SUITES, throughput=cases):
            losses = part_of(page_of(document(suites=["throughput"])), "losses")
        self.assertGreater(losses.count('href="#cause-1"'), 1)
        self.assertEqual(losses.count("two modes"), 1)
        self.assertRegex(losses, '<li id="cause-1">[^<]*two modes')

    def test_what_was_skipped_stands_on_the_page_of_its_suite(self):
        page = self.page(document())
        self.assertIn("No row: raw_syscalls in dispatch (post): has no queue.", part_of(page, "dispatch"))
        self.assertIn("Nothing: everybody who takes part has a row", part_of(page, "http"))

    def test_where_gyre_failed_stands_on_the_front_among_the_losses_and_on_a_page(self):
        given = document(suites=["http"])
        given["cases"] = [{"suite": "fan_out", "case": "64", "description": "", "threads": 1}]
        given["cannot_run"] = [
            {"suite": "fan_out", "case": "64", "contender": "gyre_epoll", "reason": "it <hung>",
             "broken": True},
            {"suite": "fan_out", "case": "64", "contender": "asio_callback", "reason": "it did, too",
             "broken": True},
            {"suite": "fan_out", "case": "64", "contender": "gyre_uring", "reason": "no io_uring here"}]
        page = self.page(given)
        self.assertRegex(part_of(page, "front"), '<b class="failed">1</b>')
        losses = part_of(page, "losses")
        self.assertIn("No row: gyre_epoll in fan_out 64: it &lt;hung&gt;.", losses)
        self.assertNotIn("no io_uring here", losses)
        self.assertIn("it did, too", part_of(page, "fan_out"))

    def test_whether_small_messages_wait_is_said_of_servers(self):
        given = document(suites=["echo", "http"])
        given["no_delay"] = [{"suite": "echo", "case": "64_1", "contender": each, "seen": seen}
                             for each, seen in (("gyre_uring", True), ("gyre_epoll", False))]
        page = self.page(given)
        self.assertIn("set in 1 of 2 cases of a server; not to be seen at gyre_epoll.",
                      part_of(page, "echo"))
        self.assertNotIn("TCP_NODELAY", part_of(page, "http"))
        self.assertIn("TCP_NODELAY", printed(given))

    def test_a_single_round_has_no_interval(self):
        given = document(suites=["http"])
        for row in given["rows"]:
            row["samples"] = row["samples"][:1]
        page = self.page(given)
        self.assertIn("one round", part_of(page, "losses"))
        self.assertNotIn("inf", part_of(page, "losses"))

    def test_a_suite_has_its_tables_its_plots_and_its_control(self):
        latency = part_of(self.page(document()), "latency")
        for each in ("Distribution at 64 bytes, TCP", "Latency by quantile", 'role="img"', "A/A control",
                     "<td>1.0 %</td>"):
            self.assertIn(each, latency)

    def test_every_suite_can_be_drawn_alone(self):
        for suite in SUITES:
            with self.subTest(suite=suite):
                self.assertIn(f'<section class="page" id="{suite}">', self.page(document(suites=[suite])))

    def test_facts_are_escaped(self):
        self.assertIn("a &lt;fast&gt; one", self.page(document(suites=["dispatch"])))

    def test_a_contender_nobody_foresaw_gets_a_colour(self):
        speeds = {"asio_callback": 1.0, "tokio": 1.2, "go": 0.9}
        self.assertIn("tokio", self.page(document(speeds, ["latency"])))


if __name__ == "__main__":
    unittest.main()
