# SPDX-License-Identifier: BSL-1.0
#
# Cases have their names in suites.toml; tables, goals and notes look for them. One that is renamed would be
# measured, and fall out of the report without a word.
"""Holds suites.toml against itself, and against what the report looks for."""

import fnmatch
import re

import pytest
import sample_run
from analyse import server_tables, suite_tables
from measure import suites

SLICED = ("dispatch", "throughput", "latency", "http", "timers", "churn", "fan_out", "files", "channels")


def names_of(suite: str) -> list[str]:
    listed = sample_run.exchange_cases(suite) if suites.suite(suite).get("listed") else suites.cases([suite],
                                                                                                     "full")
    return [each.name for each in listed]


def by_name(suite: str, scale: str = "full") -> dict[str, suites.Case]:
    return {each.name: each for each in suites.cases([suite], scale)}


def test_every_suite_and_as_many_cases_as_ever():
    counts = {name: len(suites.cases([name], "full")) for name in suites.names()}

    assert counts == {
        "dispatch": 36, "throughput": 28, "latency": 12, "http": 10, "timers": 11, "churn": 7, "fan_out": 7,
        "files": 8, "channels": 12,
        "echo": 32, "baseline": 6, "http_server": 12, "websocket": 10, "tls": 7, "cost": 4,
        "programs": 4,
        "exchange": 0, "exchange_end_to_end": 0, "exchange_tuning": 0,
        "exchange_end_to_end_tuning": 0, "exchange_jitter": 0, "exchange_market_data": 0,
        "exchange_market_data_tuning": 0}


@pytest.mark.parametrize("scale", suites.SCALES)
def test_names_are_unique_and_everything_is_filled_in(scale):
    for name in suites.names():
        cases = suites.cases([name], scale)
        assert len({each.name for each in cases}) == len(cases)
        for each in cases:
            assert not re.search(r"\{\w+\}", f"{each.name} {each.title} {each.record}")
            assert each.rounds >= 1 and each.blocks >= 1
            assert each.judged or each.why


def test_the_numbers_of_the_tables_that_are_reproduced():
    dispatch, echo = by_name("dispatch"), by_name("echo")
    assert dispatch["post"].operations == dispatch["threads_8_queued"].operations == 5_000_000
    assert echo["block_10K_100"].record["measured_ms"] * echo["block_10K_100"].rounds == 90_000
    assert by_name("baseline")["ab_close"].record["requests"] == 100_000
    assert by_name("cost")["idle_connections"].record["connections"] == 10_000
    assert by_name("cost", "quick")["idle_connections"].record["connections"] == 2_000
    assert by_name("http")["threads_16"].record == {"kind": "http_threads", "threads": 16, "connections": 32,
                                                    "warm_up": 640}


def unit_of(record: dict) -> int:
    """As unit_of of kit/cases.cpp."""
    unit = 1
    for name in ("batch", "connections", "pairs", "directions", "at_once", "parents", "groups", "children",
                 "senders"):
        unit *= record.get(name, 1)
    if record["kind"] in ("writes_at", "writes_in_order", "reads_in_order"):
        unit *= record["file_bytes"] // record["bytes"]
    if record.get("order") == "from_outside":
        unit *= record["posters"]
    elif record["kind"] in ("shared_post", "stream_threads"):
        unit *= record["threads"]
    return unit * (record["timers"] if record["kind"] == "fire_together" else 1)


def test_work_divides_evenly_among_those_that_share_it():
    for each in suites.cases(list(SLICED), "full") + suites.cases(list(SLICED), "quick"):
        assert each.operations % unit_of(each.record) == 0, each.name
        assert each.record["warm_up"] % unit_of(each.record) == 0, each.name


def test_what_is_not_equal_work_is_not_judged():
    assert not by_name("timers")["fire_rate"].judged
    assert by_name("timers")["schedule_cancel_unwaited"].judged


@pytest.mark.parametrize("what", [suites.goals, suites.notes])
def test_patterns_of_goals_and_notes_match_cases(what):
    for each in what():
        for suite in each["suite"].split():
            names = names_of(suite)
            patterns = each.get("cases", "").split() + [one.format(2) for one in each.get("rise", [])]
            for pattern in patterns:
                assert fnmatch.filter(names, pattern), (each["text"], pattern)


def test_notes_and_changed_conditions_name_records_that_exist():
    decisions = suites.FILE.parents[1] / "docs/decisions"
    for each in suites.notes() + suites.document()["changed_conditions"]:
        assert (decisions / each["decision"]).is_file(), each["decision"]
        assert each["date"]


def test_every_case_of_a_suite_stands_in_one_of_its_tables(sample):
    for suite in suites.names():
        wanted = set(names_of(suite))
        asked: set[str] = set()

        class Asking:
            """Notes which cases are asked for."""

            def __getattr__(self, name):
                return getattr(sample, name)

            def row(self, of_suite, case, metric, contender, asked=asked):
                asked.add(case)
                return sample.row(of_suite, case, metric, contender)

            def value(self, of_suite, case, metric, contender, asked=asked):
                asked.add(case)
                return sample.value(of_suite, case, metric, contender)

        suite_tables.tables_of(Asking(), suite)
        assert wanted <= asked, (suite, wanted - asked)


def test_headings_of_blocks_are_for_people():
    assert server_tables.heading("threads_2_block_1K_1") == "1,000 B, 1 connection, 2 threads, closed loop"
    assert server_tables.heading("paced_block_100K_100") == "100 KiB, 100 connections, 1 thread, open loop"
