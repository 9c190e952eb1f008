# SPDX-License-Identifier: BSL-1.0
#
# Tables of market data, jitter and screws, on runs that were never measured.
"""What end_to_end_tables.py makes of a run: market data, jitter, screws."""

import pytest
import sample_run
from analyse import end_to_end_tables, suite_tables
from analyse.frame import Run

TUNING = "exchange_market_data_tuning"


@pytest.fixture(scope="module")
def told() -> Run:
    return Run(sample_run.lines(wanted=["exchange_market_data", TUNING, "exchange_end_to_end_tuning"]))


def told_with(*factors: float) -> Run:
    """A screw that makes everything so many times slower, in one round and the next."""
    lines = sample_run.lines(wanted=[TUNING])
    for line in lines:
        if line["kind"] == "round":
            factor = factors[line["number"] % len(factors)]
            names = ("gyre_uring", "gyre_uring_told_5ms")
            (before,), (turned,) = (line["contenders"][each] for each in names)
            turned["metrics"] = [each | {"value": each["value"] * factor} for each in before["metrics"]]
    return Run(lines)


@pytest.mark.parametrize(("case", "label"), [
    ("tcp_1", "1, SBE"), ("json_1000", "1,000, JSON"),
    ("json_1000_10_silent", "1,000 of whom 10 never read, JSON"), ("something_else", "something_else")])
def test_cases_are_named_for_people(case, label):
    assert end_to_end_tables.label_of(case) == label


def test_each_figure_of_market_data_has_a_table_with_a_line_for_each_case(told):
    tables = suite_tables.tables_of(told, "exchange_market_data")
    percentiles = [each for each in tables if each.corner == "Subscribers"]
    assert [each.title.split(",")[0] for each in percentiles][-1] == \
        "With subscribers that never read: times the value without them"
    assert [row.label for row in percentiles[0].rows] == \
        ["1, SBE", "1,000, JSON", "1,000 of whom 10 never read, JSON"]


def test_silent_subscribers_are_set_beside_the_same_case_without_them(told):
    table = end_to_end_tables.beside_silent(told)
    row = next(each for each in table.rows if each.label.endswith("p99"))
    value = {case: told.value("exchange_market_data", case, "p99", "gyre_uring")
             for case in ("json_1000", "json_1000_10_silent")}
    ratio = value["json_1000_10_silent"] / value["json_1000"]
    assert ratio > 1.5
    assert row.cells[table.columns.index("gyre_uring")].text == f"{ratio:.2f}x"


def test_a_case_without_silent_subscribers_has_no_such_line(told):
    assert all("never read" in each.label for each in end_to_end_tables.beside_silent(told).rows)


@pytest.mark.parametrize(("factor", "effect"), [(1.5, "worse"), (0.5, "better"),
                                                (1.0, end_to_end_tables.DOES_NOTHING)])
def test_a_screw_is_set_beside_the_contender_that_it_is_turned_at(factor, effect):
    run = told_with(factor)
    assert end_to_end_tables.screws_of(run, TUNING) == {"gyre_uring_told_5ms": "gyre_uring"}
    (row,) = end_to_end_tables.market_data_tuning(run)[0].rows
    assert row.label.startswith("gyre_uring: changes told every 5 ms")
    assert row.winner == effect
    assert all(each.ratio.startswith(f"{1 / factor:.2f}x ±") for each in row.cells)


def test_a_screw_whose_effect_is_lost_in_the_noise_is_open():
    (row,) = end_to_end_tables.market_data_tuning(told_with(1.3, 1 / 1.3))[0].rows
    assert row.winner == "open"


def test_tuning_through_a_gateway_has_a_line_for_each_screw(told):
    for table in suite_tables.tables_of(told, "exchange_end_to_end_tuning"):
        assert [each.label.split(":")[0] for each in table.rows] == ["gyre_uring", "gyre_uring"]


@pytest.fixture(scope="module")
def shaken() -> Run:
    return Run(sample_run.lines(wanted=["exchange_jitter"]))


def table_called(run: Run, words: str):
    return next(each for each in suite_tables.tables_of(run, "exchange_jitter") if words in each.title)


def test_each_second_has_its_quantiles_of_the_middle_of_the_rounds(shaken):
    table = table_called(shaken, "of each second")
    assert [each.label for each in table.rows] == [str(each) for each in range(1, 10)]
    of = shaken.seconds["exchange_jitter", "2_filled_20000", "gyre_epoll"]
    middle = sorted(one[4][2] for one in of)[len(of) // 2]
    cell = table.rows[4].cells[table.columns.index("gyre_epoll")].text
    assert cell == f"20.0 / 60.0 / {middle:.0f} / 700"


def test_the_host_by_itself_stands_beside_those_that_are_measured(shaken):
    table = table_called(shaken, "when the core was away")
    assert "host" in table.columns and "gyre_uring" in table.columns
    row = next(each for each in table.rows if each.label.startswith("the longest"))
    assert all(float(each.text) == pytest.approx(0.81, rel=0.02) for each in row.cells)


def test_the_longest_delays_are_counted_by_whose_fault_they_were(shaken):
    table = table_called(shaken, "whose fault")
    assert [each.label for each in table.rows] == ["gyre_uring", "gyre_epoll"]
    told = dict(zip(table.columns, (each.text for each in table.rows[0].cells)))
    rounds = sample_run.BLOCKS
    assert told == {"delays": str(3 * rounds), "at least, μs": "300", "longest, μs": "900",
                    "host": str(rounds), "longest of host, μs": "900",
                    "loop turn": str(rounds), "longest of loop turn, μs": "400",
                    "kernel": str(rounds), "longest of kernel, μs": "300"}


def test_of_a_cause_that_there_was_none_of_nothing_is_told():
    lines = sample_run.lines(wanted=["exchange_jitter"])
    for line in lines:
        for reports in line["contenders"].values() if line["kind"] == "round" else ():
            for report in reports:
                report["worst"] = [[900.0, 850.0, 20.0, "host"]]
    table = table_called(Run(lines), "whose fault")
    told = dict(zip(table.columns, (each.text for each in table.rows[0].cells)))
    assert (told["kernel"], told["longest of kernel, μs"]) == ("0", "-")
