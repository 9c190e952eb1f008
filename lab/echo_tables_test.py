# SPDX-License-Identifier: BSL-1.0
#
# What is printed about a server must be what was measured, in the units that it says.
"""Checks echo_tables.py on a run that is made up."""

import contextlib
import io
import unittest

import echo_tables
import report
from evidence import Run

# Microseconds, unless the name says otherwise.
LATENCIES = {"min": 10.0, "max": 8650.0, "mean": 51.0, "std": 11.0, "p25": 45.0, "p50": 51.5,
             "p75": 56.0, "p90": 59.0, "p99": 75.0, "p99.99": 250.0}
UNITS = {"throughput": "ops/s", "transfer": "MiB/s", "seconds": "s", "messages": "", "cpu": "ns/op",
         "load_busy": "%"}
RATES = {"gyre_uring": 60_000.0, "asio_callback": 50_000.0, "libuv": 55_000.0,
         "load_ceiling": 80_000.0}
FAMILIES = {"gyre_uring": "gyre", "asio_callback": "asio", "libuv": "libuv",
            "load_ceiling": "floor"}


def document(cases=("block_1K_1", "threads_2_block_100K_100"), without=()) -> dict:
    rows = []
    for case in cases:
        for name, rate in RATES.items():
            if (name, case) in without:
                continue
            values = LATENCIES | {"throughput": rate, "messages": 30 * rate, "seconds": 30.0,
                                  "transfer": rate * 1000 / 2**20, "cpu": 9000.0, "load_busy": 41.0}
            for metric, value in values.items():
                rows.append({"suite": "echo", "case": case, "contender": name, "metric": metric,
                             "unit": UNITS.get(metric, "us"), "samples": [0.9 * value, value, 2 * value],
                             "better": "higher" if metric == "throughput" else "lower",
                             "median": value})
    return {"machine": {}, "rows": rows, "controls": [],
            "contenders": [{"name": each, "family": FAMILIES[each]} for each in RATES]}


def table(run: Run, start: str):
    return next(each for each in echo_tables.tables(run) if each and each.title.startswith(start))


class Blocks(unittest.TestCase):
    def test_a_block_says_what_was_measured(self):
        self.assertEqual(echo_tables.blocks(Run(document()))[0], "\n".join([
            "## gyre_uring: 1,000 B, 1 connection, 1 thread, closed loop",
            "1800000 0.98KiB messages in 30 seconds",
            "Latency: min 0.01ms; max 8.65ms; mean 0.051ms; std: 0.011ms (21.57%)",
            "Latency distribution: 25% under 0.045ms; 50% under 0.051ms; 75% under 0.056ms; "
            "90% under 0.059ms; 99% under 0.075ms; 99.99% under 0.25ms",
            "Requests/sec: 60000.00",
            "Transfer/sec: 57.22MiB"]))

    def test_every_server_has_one_for_every_case_that_it_ran(self):
        run = Run(document(without=[("libuv", "block_1K_1")]))
        self.assertEqual([each.splitlines()[0][3:].split(":")[0] for each in echo_tables.blocks(run)],
                         ["gyre_uring", "asio_callback", "load_ceiling",
                          "gyre_uring", "asio_callback", "libuv", "load_ceiling"])

    def test_a_quantile_that_is_not_known_is_a_dash(self):
        short = document()
        short["rows"] = [row for row in short["rows"] if row["metric"] != "p99.99"]
        self.assertIn("99% under 0.075ms; 99.99% under -\n", echo_tables.blocks(Run(short))[0])
        found = table(Run(short), "Echo, 1,000 B, 1 connection, 1 thread")
        by_header = dict(zip(found.columns, (cell.text for cell in found.rows[0].cells)))
        self.assertEqual((by_header["99 %"], by_header["99.99 %"]), ("75.0", "-"))

    def test_other_cases_have_none(self):
        self.assertEqual(echo_tables.blocks(Run(document(cases=("1K_1", "16K_100")))), [])

    def test_the_terminal_has_them(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            report.print_tables(document())
        self.assertIn("## libuv: 100 KiB, 100 connections, 2 threads, closed loop\n"
                      "1650000 100.0KiB messages in 30 seconds\n", printed.getvalue())

    def test_an_open_loop_is_called_one(self):
        self.assertEqual(echo_tables.heading("paced_block_1K_100"),
                         "1,000 B, 100 connections, 1 thread, open loop")


class Tables(unittest.TestCase):
    def test_servers_stand_below_each_other_the_fastest_first(self):
        found = table(Run(document()), "Echo, 1,000 B, 1 connection, 1 thread")
        self.assertEqual([row.label for row in found.rows],
                         ["load_ceiling", "gyre_uring", "libuv", "asio_callback"])
        ours = found.rows[1]
        self.assertEqual((ours.cells[0].text, ours.cells[0].ratio), ("60.0", "1.20x"))
        by_header = dict(zip(found.columns, (cell.text for cell in ours.cells)))
        self.assertEqual((by_header["max ms"], by_header["mean μs"], by_header["99.99 %"]),
                         ("8.65", "51.0", "250"))

    def test_of_two_rounds_a_ratio_is_their_middle(self):
        given = document(cases=("block_1K_1", "1K_1"))
        given["contenders"].append({"name": "raw_uring", "family": "floor"})
        given["rows"] += [each | {"contender": "raw_uring"} for each in given["rows"]
                          if each["contender"] == "asio_callback"]
        for each in given["rows"]:
            each["samples"] = [2.0, 3.0] if each["contender"] == "gyre_uring" else [1.0, 1.0]
        run = Run(given)
        cells = table(run, "Echo, 1,000 B, 1 connection, 1 thread").rows[0].cells
        self.assertEqual(cells[0].ratio, "2.50x")
        # Ratios of a half and a third; their middle is 5/12, and the table has its reciprocal.
        against = next(each for each in echo_tables.tables(run) if each and "best plain server" in each.title)
        self.assertEqual(against.rows[0].cells[0].text, "2.40")

    def test_the_ceiling_wins_nothing(self):
        found = table(Run(document()), "Echo, 1,000 B, 1 connection, 1 thread")
        self.assertEqual([row.label for row in found.rows if row.cells[0].winner], ["gyre_uring"])

    def test_the_fastest_library_is_held_against_what_the_load_can_do(self):
        run = Run(document(without=[("load_ceiling", "threads_2_block_100K_100")]))
        found = table(run, "Echo, is the load the bottleneck?")
        # 60,000 a second while it works for 41 % of the time: 146,000 if it always did.
        self.assertEqual([[cell.text for cell in row.cells] for row in found.rows],
                         [["60.0", "41", "146", "80.0"], ["60.0", "41", "146", "-"]])
        self.assertEqual(found.rows[0].winner, "gyre_uring")

    def test_the_ceiling_is_no_plain_server_to_be_held_against(self):
        self.assertFalse([each for each in echo_tables.tables(Run(document(cases=("1K_1",))))
                          if each and "best plain server" in each.title])


if __name__ == "__main__":
    unittest.main()
