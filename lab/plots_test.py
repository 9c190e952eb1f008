# SPDX-License-Identifier: BSL-1.0
#
# Which plots there are, and that their points are the rows of the run.
"""Checks plots.py, on the run that sample_run.py makes up."""

import unittest

import evidence
import plots
import sample_run
import standing
import tables
from evidence import Run
from panels import Panel
from row_plots import RowPlot

RUN = Run(sample_run.document())


def figures(suite: str) -> dict[str, plots.Figure]:
    return {each.name: each for each in plots.figures_of(RUN, suite)}


class Figures(unittest.TestCase):
    def test_every_suite_has_plots(self):
        for suite in evidence.HEADLINES:
            if suite in RUN.suites():
                with self.subTest(suite=suite):
                    found = plots.figures_of(RUN, suite)
                    self.assertTrue(found)
                    self.assertTrue(all(each.contenders and each.plots for each in found))

    def test_every_name_stands_once(self):
        names = [each.name for suite in RUN.suites() for each in plots.figures_of(RUN, suite)]
        names += [plot.name for suite in RUN.suites() for each in plots.figures_of(RUN, suite)
                  for plot in each.plots if plot.name]
        self.assertEqual(len(names), len(set(names)))

    def test_a_suite_that_nobody_foresaw_has_its_headline(self):
        document = sample_run.document()
        document["rows"] = [row | {"suite": "exchange_tuning"} for row in document["rows"]
                            if row["suite"] == "exchange" and row["case"] == "1_filled_1000"]
        found = plots.figures_of(Run(document), "exchange_tuning")
        self.assertEqual([each.name for each in found], ["exchange_tuning-values"])


class Ratios(unittest.TestCase):
    def plots_of(self, suite: str, metric: str) -> list[RowPlot]:
        start = f"{suite}, {plots.metric_title(metric)}"
        return [each for each in figures(suite)[f"{suite}-ratios"].plots
                if each.title == start or each.title.startswith(f"{start}, ")]

    def test_every_judged_row_of_gyre_has_a_mark_at_its_ratio(self):
        for suite in ("latency", "exchange"):
            for metric in evidence.JUDGED[suite]:
                marks = [mark for plot in self.plots_of(suite, metric)
                         for row in plot.rows for mark in row.marks]
                found = standing.of_suite(RUN, suite, metric)
                self.assertTrue(found)
                self.assertEqual([each.value for each in marks], [each.ratio for each in found])

    def test_long_ones_are_split_evenly(self):
        self.assertEqual(plots.parts(24), [(0, 24)])
        self.assertEqual(plots.parts(28), [(0, 14), (14, 28)])
        self.assertEqual(plots.parts(0), [])

    def test_the_first_part_is_what_a_lost_row_points_at(self):
        names = [each.name for each in self.plots_of("dispatch", "throughput")]
        self.assertEqual(names, [plots.name_of("dispatch", "throughput"), ""])

    def test_void_rows_say_so_instead_of_a_ratio(self):
        void = [each for each in standing.of_suite(RUN, "throughput") if each.verdict == "void"]
        self.assertTrue(void)
        marks = {mark.note for plot in self.plots_of("throughput", "throughput") for row in plot.rows
                 for mark in row.marks if row.label == void[0].case}
        self.assertEqual(marks, {"void"})


class Curves(unittest.TestCase):
    def test_a_curve_goes_through_the_medians_in_the_units_of_the_tables(self):
        panel = figures("http")["http-connections"].plots[0]
        self.assertEqual([label for _, label in panel.x.ticks], ["1", "4", "16", "32"])
        expected = [RUN.summary("http", each, "throughput", "gyre_uring").median / 1000
                    for each in ("1", "4", "16", "32")]
        self.assertEqual([each.y for each in panel.curves[0].points], expected)

    def test_quantiles_stand_at_their_share(self):
        panel = plots.quantile_panel(RUN, "echo", "block_1K_1", "t")
        self.assertEqual([each.x for each in panel.curves[0].points],
                         [25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99])
        self.assertEqual(panel.curves[0].points[-1].y,
                         RUN.summary("echo", "block_1K_1", "p99.99", "gyre_uring").median)

    def test_who_fell_short_of_a_rate_has_no_latency_there(self):
        self.assertIsNone(plots.quantile_panel(RUN, "exchange", "1_filled_unbounded", "t"))
        self.assertIsNotNone(plots.quantile_panel(RUN, "exchange", "1_filled_1000", "t", "wire_"))

    def test_a_single_case_is_no_curve(self):
        step = plots.Step("1", "threads_1")
        self.assertIsNone(plots.stepwise(RUN, "http", "t", "threads", "throughput", [step]))
        self.assertIsInstance(plots.stepwise(RUN, "http", "t", "threads", "throughput",
                                             [step, plots.Step("2", "threads_2")]), Panel)

    def test_points_tell_their_figures(self):
        point = figures("throughput")["throughput-threads"].plots[0].curves[0].points[0]
        row = RUN.row("throughput", "threads_1", "throughput", "gyre_uring")
        self.assertTrue(point.hover.startswith(
            f"gyre_uring, 1: {tables.format_value(row['median'], 'MB/s')} ("), point.hover)


if __name__ == "__main__":
    unittest.main()
