# SPDX-License-Identifier: BSL-1.0
#
# A sign that is wrong in these tables would turn a loss into a win, and nobody would see it.
"""Checks exchange_tables.py, and how saturated rows are treated, on runs that are made up."""

import unittest

import evidence
import exchange_tables
import tables
from evidence import Run

LATENCIES = ("min", "max", "mean", "p50", "p95", "p99", "p99.9", "p99.99")
RATES = ("events_rate", "orders_rate")
FAMILIES = {"gyre_uring": "gyre", "gyre_epoll": "gyre", "asio_coroutine": "asio",
            "asio_callback": "asio", "bare": "floor"}
NOISE = [1.0, 1.02, 0.98, 1.01, 0.99]


def row(case, contender, metric, samples):
    unit, better = (("us", "lower") if metric in (*LATENCIES, "net")
                    else ("ops/s", "higher") if metric in RATES else ("share", "lower"))
    return {"suite": "exchange", "case": case, "contender": contender, "metric": metric,
            "unit": unit, "better": better, "samples": samples}


def document(latencies, case="4_filled_10000", saturated=(), drift=NOISE, control=1.0):
    """Each contender's latency in all columns; rates are what follows from it."""
    first = next(iter(latencies))
    rows = []
    for name, value in [*latencies.items(),
                        (first + " (control)", latencies[first] * control)]:
        rows += [row(case, name, metric, [value * each for each in drift]) for metric in LATENCIES]
        rows += [row(case, name, metric, [1e6 / value / each for each in drift])
                 for metric in RATES]
        full = name.removesuffix(" (control)") in saturated
        rows.append(row(case, name, "saturated", [1.0 if full else 0.0] * len(drift)))
    return {"machine": {}, "rows": rows,
            "cases": [{"suite": "exchange", "case": case, "threads": 2,
                       "description": "4 trade, filled book, 100000 events at 10000 per second"}],
            "controls": [{"suite": "exchange", "case": case, "contender": first}],
            "contenders": [{"name": each, "family": FAMILIES[each]} for each in latencies]}


def cells_of(table):
    return [cell.text for cell in table.rows[0].cells]


class Names(unittest.TestCase):
    def test_a_case_is_scenario_book_and_rate(self):
        parsed = exchange_tables.parse_case("2b_filled_200000")
        self.assertEqual((parsed.scenario, parsed.book, parsed.rate), ("2b", "filled", "200,000"))
        self.assertEqual(exchange_tables.parse_case("8_empty_unbounded").rate, "∞")

    def test_other_names_are_no_case(self):
        for name in ("post", "9_empty_1000", "4_half_1000", "4_empty_", "4_empty_1000_x"):
            self.assertIsNone(exchange_tables.parse_case(name), name)


class Deltas(unittest.TestCase):
    def setUp(self):
        self.run_made = Run(document({"gyre_uring": 8.0, "asio_coroutine": 12.0,
                                      "asio_callback": 10.0, "bare": 5.0}))

    def table(self, against=None, run=None):
        run = run or self.run_made
        return exchange_tables.delta_table(run, exchange_tables.cases_of(run), "gyre_uring", against)

    def test_the_columns_are_those_of_the_paper_and_two_more(self):
        self.assertEqual(self.table().corner, "Feed Rate (msg/s)")
        self.assertEqual(self.table().columns,
                         ["Count", "Min", "Max", "Mean", "P50", "P95", "P99", "P99.9", "P99.99",
                          "Avg Rate (events/s)", "Avg Rate (orders/s)"])
        self.assertEqual(self.table().rows[0].label, "10,000")

    def test_the_count_is_of_all_turns_of_all_rounds(self):
        self.assertEqual(cells_of(self.table())[0], f"{100_000 * len(NOISE):,}")
        given = document({"gyre_uring": 8.0, "asio_callback": 10.0})
        given["cases"][0]["turns"] = 4
        self.assertEqual(cells_of(self.table(run=Run(given)))[0], f"{400_000 * len(NOISE):,}")

    def test_faster_is_negative_in_latencies_and_positive_in_rates(self):
        self.assertEqual(cells_of(self.table())[1:], ["-20.0%"] * 8 + ["+25.0%"] * 2)

    def test_slower_is_the_other_way_round(self):
        run = Run(document({"gyre_uring": 11.0, "asio_callback": 10.0}))
        self.assertEqual(cells_of(self.table(run=run))[1:], ["+10.0%"] * 8 + ["-9.1%"] * 2)

    def test_the_peer_is_the_best_asio_row_unless_one_is_named(self):
        self.assertEqual(self.table().rows[0].winner, "asio_callback")
        self.assertIn("gyre_uring against the best Asio", self.table().title)
        self.assertEqual(self.table("asio_coroutine").rows[0].winner, "asio_coroutine")
        self.assertEqual(cells_of(self.table("asio_coroutine"))[1], "-33.3%")

    def test_a_drift_common_to_a_round_cancels(self):
        drifting = Run(document({"gyre_uring": 8.0, "asio_callback": 10.0},
                                drift=[1.0, 2.0, 5.0, 0.5, 1.5]))
        self.assertEqual(cells_of(self.table(run=drifting))[1], "-20.0%")

    def test_the_control_is_shown_with_what_it_differs_from_itself(self):
        run = Run(document({"gyre_uring": 8.0, "asio_callback": 10.0}, control=1.03))
        table = exchange_tables.control_table(run)
        self.assertEqual(table.rows[0].label, "4, filled, 10,000")
        self.assertEqual(cells_of(table)[1], "+3.0%")

    def test_a_control_that_differs_from_itself_voids_the_row(self):
        noisy = Run(document({"gyre_uring": 8.0, "asio_callback": 10.0}, control=1.08))
        self.assertTrue(self.table(run=noisy).rows[0].void)
        self.assertFalse(self.table().rows[0].void)

    def test_scenarios_come_in_the_order_of_the_paper(self):
        given = document({"gyre_uring": 8.0, "asio_callback": 10.0}, case="8_empty_1000")
        for case in ("2b_filled_1000", "1_filled_1000", "1_empty_1000"):
            given["rows"] += document({"gyre_uring": 8.0, "asio_callback": 10.0}, case=case)["rows"]
        groups = exchange_tables.groups_of(Run(given))
        self.assertEqual([each[0].name for each in groups],
                         ["1_empty_1000", "1_filled_1000", "2b_filled_1000", "8_empty_1000"])

    def test_a_table_names_its_scenario_and_its_book(self):
        text = tables.draw(self.table())
        self.assertTrue(text.startswith("Scenario 4 - Two Orders Resulting in a Trade, Filled Book"))
        self.assertIn("Against", text.splitlines()[2])


class Saturated(unittest.TestCase):
    def test_a_saturated_row_has_no_latency_but_a_rate(self):
        run = Run(document({"gyre_uring": 8.0, "asio_callback": 10.0}, saturated=["asio_callback"]))
        table = exchange_tables.delta_table(run, exchange_tables.cases_of(run), "gyre_uring", None)
        self.assertEqual(cells_of(table)[1:], ["-"] * 8 + ["+25.0%"] * 2)
        self.assertEqual(table.rows[0].winner, "asio_callback; saturated: asio_callback")

    def test_it_wins_and_loses_no_latency(self):
        run = Run(document({"gyre_uring": 12.0, "asio_callback": 10.0}, saturated=["gyre_uring"]))
        self.assertIsNone(run.row("exchange", "4_filled_10000", "p50", "gyre_uring"))
        self.assertNotIn("p50", [each.metric for each in evidence.losses(run)])
        self.assertIn("orders_rate", [each.metric for each in evidence.losses(run)])

    def test_its_control_is_judged_by_the_rate(self):
        run = Run(document({"gyre_uring": 8.0, "asio_callback": 10.0}, control=1.2,
                           saturated=["gyre_uring"]))
        self.assertEqual(run.headline("exchange", "4_filled_10000"), "orders_rate")
        self.assertTrue(run.is_void("exchange", "4_filled_10000"))
        self.assertEqual(evidence.headline_of("exchange", "1_empty_1000", [0.0, 0.0, 1.0]), "p50")

    def test_what_was_saturated_in_one_round_only_is_not(self):
        given = document({"gyre_uring": 8.0, "asio_callback": 10.0})
        for each in given["rows"]:
            if each["metric"] == "saturated":
                each["samples"] = [1.0, 0.0, 0.0, 0.0, 0.0]
        self.assertFalse(Run(given).is_saturated("exchange", "4_filled_10000", "gyre_uring"))


class Jitter(unittest.TestCase):
    def given(self, saturated=()):
        made = document({"gyre_uring": 8.0, "asio_callback": 10.0}, saturated=saturated)
        rounds = [[[1, 2, p999, 4, 5] for p999 in (9.0, 30.0, 12.0)],
                  [[1, 2, p999, 4, 5] for p999 in (11.0, 50.0, 12.0, 99.0)]]
        made["by_second"] = [{"suite": "exchange", "case": "4_filled_10000",
                              "contender": each, "rounds": rounds}
                             for each in ("gyre_uring", "asio_callback")]
        return Run(made)

    def test_seconds_are_the_middle_of_the_rounds_as_far_as_all_of_them_lasted(self):
        self.assertEqual(exchange_tables.seconds_of(self.given(), "4_filled_10000", "gyre_uring"),
                         [10.0, 40.0, 12.0])

    def test_turns_follow_each_other_through_the_rounds(self):
        run = self.given()
        run.document["cases"][0]["turns"] = 4
        self.assertEqual(exchange_tables.seconds_of(run, "4_filled_10000", "gyre_uring"),
                         [9.0, 30.0, 12.0, 11.0, 50.0, 12.0, 99.0])

    def test_the_table_names_the_best_the_middle_and_the_worst_second(self):
        table = exchange_tables.jitter_table(self.given())
        self.assertEqual(cells_of(table), ["10.0 / 12.0 / 40.0"] * 2)

    def test_a_saturated_run_has_no_jitter(self):
        table = exchange_tables.jitter_table(self.given(saturated=["gyre_uring"]))
        self.assertEqual(table.columns, ["asio_callback"])
        self.assertIsNone(exchange_tables.jitter_table(Run(document({"gyre_uring": 8.0}))))


class Tuning(unittest.TestCase):
    def test_its_contenders_stand_side_by_side_and_are_not_judged(self):
        given = document({"gyre_uring": 8.0, "gyre_epoll": 9.0, "asio_callback": 10.0})
        for part in ("rows", "cases", "controls"):
            for each in given[part]:
                each["suite"] = "exchange_tuning"
        run = Run(given)
        table = tables.tables_of(run, "exchange_tuning")[0]
        self.assertEqual(table.columns, ["gyre_uring", "gyre_epoll", "asio_callback"])
        self.assertEqual({each.verdict for each in run.comparisons()}, {"not judged"})


class Costs(unittest.TestCase):
    def test_each_asio_is_held_against_by_itself_where_there_are_several(self):
        run = Run(document({"gyre_uring": 8.0, "asio_coroutine": 12.0, "asio_callback": 10.0}))
        titles = [each.title for each in tables.cost_tables_of(run, "exchange")]
        self.assertTrue(any(each.endswith("against asio_coroutine") for each in titles), titles)
        self.assertTrue(any(each.endswith("against asio_callback") for each in titles), titles)


if __name__ == "__main__":
    unittest.main()
