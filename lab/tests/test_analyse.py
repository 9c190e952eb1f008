# SPDX-License-Identifier: BSL-1.0
#
# What the analysis makes of a run: which rows are compared, what is called ahead, what a table and a page
# say.
"""Runs are made up: sample_run.py has all suites; small ones are written down where they are looked at."""

import json
import re
from dataclasses import replace

import pytest
import sample_run
from analyse import (
    compare,
    frame,
    goals,
    report,
    self_check,
    sensitivity,
    server_tables,
    stats,
    suite_tables,
    tables,
    terminal,
)
from analyse.frame import Run
from measure import suites
from measure.processes import CONTROL, TWIN


def run_of(suite: str, case: str, speeds: dict[str, tuple[str, float]], blocks: int = 4, **told) -> Run:
    """Slices of one case. `speeds`: family, and nanoseconds of an operation."""
    wobble = (1.0, 1.01, 0.99, 1.0, 1.005, 0.995)
    described = next(suites.described(each) for each in suites.cases([suite], "full") if each.name == case)
    lines = [{"kind": "run", "conditions": {}, "machine": {}, "seed": 1,
              "contenders": [{"name": name, "family": family} for name, (family, _) in speeds.items()
                             if "(" not in name]}, described]
    for number in range(blocks):
        contenders = {name: {"slices": {"wall_ns": [each * 1000 * wobble[(number + place) % 6]] * 3,
                                        "cpu_ns": [each * 1000] * 3, "operations": [1000] * 3,
                                        "latency mean": [each] * 3},
                             "finish": {"buckets": [[each, 1000]], "memory_mb": 4.0},
                             "about": {"library": "l", "version": "1", "backend": "b"}}
                      for place, (name, (_, each)) in enumerate(speeds.items())}
        lines.append({"kind": "block", "suite": suite, "case": case, "number": number, "refused": {},
                      "broken": {}, "contenders": contenders, "seconds": 1.0, "steal_percent": 0.0,
                      "load_average": 0.0} | told)
    return Run(lines)


GYRE, ASIO = ("gyre", 100.0), ("asio", 200.0)
BOTH = {"gyre_uring": GYRE, "asio_callback": ASIO}


def posted(speeds: dict[str, tuple[str, float]] | None = None, **told) -> Run:
    return run_of("dispatch", "post_batched", speeds or BOTH, **told)


def test_rows_of_gyre_are_compared_with_the_best_library_and_floors_are_not_one():
    run = posted({"gyre_uring": GYRE, "asio_callback": ASIO, "libuv": ("libuv", 150.0),
                  "raw_syscalls": ("floor", 50.0)})
    (found,) = run.comparisons

    assert (found.reference, found.verdict, found.metric) == ("libuv", "ahead", "throughput")
    assert found.ratio == pytest.approx(1.5, rel=0.02)
    assert tables.find_winner(run, "dispatch", "post_batched", "throughput")[0] == "gyre_uring"


def test_the_control_widens_the_interval_of_every_row_of_its_case():
    quiet = posted({"gyre_uring": GYRE, "asio_callback": ("asio", 104.0),
                                                "gyre_uring" + CONTROL: GYRE})
    noisy = posted({"gyre_uring": GYRE, "asio_callback": ("asio", 104.0),
                                                "gyre_uring" + CONTROL: ("gyre", 110.0)})
    assert [each.comparisons[0].verdict for each in (quiet, noisy)] == ["ahead", "open"]
    assert noisy.control("dispatch", "post_batched", "throughput").ratio == pytest.approx(1 / 1.1, rel=0.02)


def test_a_contender_that_spins_is_compared_with_others_that_do():
    run = posted({"gyre_uring_spin": ("gyre", 50.0), "gyre_uring": GYRE,
                                              "asio_callback": ASIO, "asio_callback_spin": ("asio", 60.0)})
    assert {each.contender: each.reference for each in run.comparisons} == {
        "gyre_uring_spin": "asio_callback_spin", "gyre_uring": "asio_callback"}


def test_what_is_shown_and_not_judged_has_no_verdict():
    run = run_of("timers", "fire_rate", BOTH)
    assert run.comparisons == []


def test_a_contender_that_broke_in_two_blocks_has_no_row_and_in_one_a_note():
    twice = posted({"gyre_uring": GYRE},
                   broken={"asio_callback": "a byte is wrong"})
    once = Run([*twice.lines[:3], *({**each, "broken": {}} for each in twice.lines[3:])])

    assert twice.broken == {("dispatch", "post_batched", "asio_callback"): "a byte is wrong"}
    assert once.broken == {}
    assert once.retried == {("dispatch", "post_batched", "asio_callback"): "a byte is wrong"}


def test_tails_come_from_all_blocks_together():
    run = run_of("latency", "tcp_64", BOTH)
    assert run.value("latency", "tcp_64", "p99.9", "gyre_uring") is None  # A block has too few.
    assert run.value("latency", "tcp_64", "p99", "asio_callback") == pytest.approx(0.2)


def test_saturated_rows_have_no_latency_and_are_judged_by_their_rate(sample):
    case = "1_filled_unbounded"
    assert sample.is_saturated("exchange", case, "gyre_uring")
    assert sample.row("exchange", case, "p50", "gyre_uring") is None
    assert sample.headline("exchange", case) == "orders_rate"
    assert sample.headline("exchange", "1_filled_1000") == "p50"


# ---- goals -------------------------------------------------------------------------------------

def goal(**more) -> dict:
    return {"text": "a goal", "suite": "dispatch", "cases": "post_batched", "against": "asio_*"} | more


@pytest.mark.parametrize(("asked", "verdict"), [({"least": 1.5}, "met"), ({"least": 2.0}, "open"),
                                                ({"least": 2.5}, "missed"), ({"no_worse": True}, "met"),
                                                ({"most": 0.4}, "missed")])
def test_a_goal_is_met_missed_or_open_by_its_interval(asked, verdict):
    run = posted()
    assert goals.judge(run, goal(**asked)).verdict == verdict


def test_an_interval_that_is_too_wide_shows_nothing():
    noisy = posted({"gyre_uring": ("gyre", 99.0), "asio_callback": ("asio", 100.0),
                    "gyre_uring" + CONTROL: ("gyre", 120.0)})
    quiet = posted({"gyre_uring": ("gyre", 100.0), "asio_callback": ("asio", 100.0)})
    assert [goals.judge(each, goal(no_worse=True)).verdict for each in (noisy, quiet)] == ["open", "met"]


def test_goals_without_rows_are_not_judged_and_a_row_that_broke_misses_one():
    run = posted(broken={"gyre_uring": "a byte is wrong"})
    assert goals.judge(run, goal(cases="spawn")).verdict == "not judged"
    found = goals.judge(run, goal())
    assert (found.verdict, "a byte is wrong" in found.figures) == ("missed", True)


def test_bounds_and_rises(sample):
    judged = {each.text: each for each in goals.judge_all(sample)}
    assert judged["idle connection: at most 1 KiB of user memory"].verdict == "met"
    assert "throughput does not fall" in next(text for text in judged if "next" in text)
    assert all(each.verdict in goals.VERDICTS for each in judged.values())


# ---- compare, self-check, sensitivity ----------------------------------------------------------

def test_a_slowdown_of_a_tenth_is_worse_though_the_machine_became_faster(capsys):
    before = posted()
    after = posted({"gyre_uring": ("gyre", 88.0), "asio_callback": ("asio", 160.0)})

    (found,) = compare.changes(before, after)

    assert (found.verdict, found.reference) == ("worse", "asio_callback")
    assert found.estimate.ratio == pytest.approx(1 / 1.1, rel=0.02)
    assert compare.changes(before, after, absolute=True)[0].verdict == "better"
    assert compare.report(before, after, False, True) == 1
    assert "1 worse, 0 better, 0 open" in capsys.readouterr().out


def test_nothing_has_changed_between_a_run_and_itself(sample, capsys):
    assert compare.report(sample, sample, False, False) == 0
    assert "0 worse, 0 better" in capsys.readouterr().out


def test_a_row_that_is_gone_is_worse():
    before = posted()
    after = posted({"asio_callback": ASIO},
                   refused={"gyre_uring": "cannot any more"})
    assert compare.vanished(before, after) == {
        ("dispatch", "post_batched", "gyre_uring"): "cannot any more"}


@pytest.mark.parametrize(("after", "reason"), [
    (run_of("dispatch", "post", BOTH), "was not measured"),
    (posted({"asio_callback": ASIO}), "was not measured"),
    (posted(blocks=1), "has fewer than two blocks to compare")])
def test_a_row_that_was_not_measured_again_is_worse(after, reason, capsys):
    assert compare.report(posted(), after, False, False) == 1
    assert re.search(f"gyre_uring +{reason}", capsys.readouterr().out)


@pytest.mark.parametrize(("line", "change"), [
    (0, {"machine": {"cpu": "another"}}), (0, {"conditions": {"scale": "quick"}}), (1, {"operations": 7})])
def test_runs_of_different_machines_or_work_are_not_compared(line, change, capsys):
    lines = posted().lines
    other = Run([each | change if number == line else each for number, each in enumerate(lines)])

    assert compare.report(posted(), other, False, False) == 2
    assert re.search(r"not the same, .* was .*, is (another|quick|7)", capsys.readouterr().out)


def test_twins_agree_or_are_named():
    agree = posted({"gyre_uring": GYRE, "gyre_uring" + TWIN: GYRE})
    apart = posted({"gyre_uring": GYRE, "gyre_uring" + TWIN: ("gyre", 120.0)})

    (first,), (second,) = self_check.pairs_of(agree), self_check.pairs_of(apart)
    assert (first.agrees, second.agrees) == (True, False)
    assert "dispatch post_batched, gyre_uring: 0." in "\n".join(self_check.lines([second]))
    assert self_check.fewest_expected(100) == 87


def test_what_is_planted_stands_where_gyre_sends():
    source = (sensitivity.LAB.parent / sensitivity.FILE).read_text(encoding="utf-8")
    texts = {each: sensitivity.planted(source, each) for each in sensitivity.VARIANTS}
    assert texts["as_it_is"] == source
    assert "rdtsc" in texts["slower"] and "nop" in texts["no_op"]
    with pytest.raises(ValueError, match="does not send"):
        sensitivity.planted("int main() {}", "slower")


# ---- tables and pages --------------------------------------------------------------------------

def test_tables_have_the_shapes_that_they_reproduce(sample):
    titles = {suite: [each.title for each in suite_tables.tables_of(sample, suite)]
              for suite in sample.suites}
    assert titles["dispatch"][:2] == ["Handler dispatch, Mops/s (more is better)",
                                      "Concurrent post and run, Mops/s (more is better)"]
    assert any(each.endswith("before they are run, speedup over one thread") for each in titles["dispatch"])
    assert "Distribution at 64 bytes, TCP, μs (less is better)" in titles["latency"]
    assert titles["baseline"][0].endswith("100 concurrent clients: gyre_uring as per cent of raw_uring")
    assert titles["cost"][0] == "A minimal echo program: what it costs to compile and to run"
    scenario = suite_tables.tables_of(sample, "exchange")[0]
    assert scenario.title.startswith("Scenario 1 - Place GTC Order and then Cancel, Empty Book: gyre_uring")
    assert scenario.columns[:5] == ["Count", "Min", "Max", "Mean", "P50"]
    assert [row.label for row in scenario.rows] == ["1,000", "10,000", "100,000", "200,000", "∞"]


def test_an_echo_server_has_the_five_lines_that_echo_clients_print(sample):
    block = next(each for each in server_tables.echo_blocks(sample) if each.startswith("## libuv: 1,000 B"))
    lines = block.splitlines()
    assert re.fullmatch(r"\d+ 0\.98KiB messages in 1[78][.\d]* seconds", lines[1])
    assert re.fullmatch(r"Latency: min [\d.]+ms; max [\d.]+ms; mean [\d.]+ms; std: [\d.]+ms \([\d.]+%\)",
                        lines[2])
    assert lines[3].startswith("Latency distribution: 25% under ") and "99.99% under " in lines[3]
    assert [each.split(":")[0] for each in lines[4:]] == ["Requests/sec", "Transfer/sec"]


@pytest.mark.parametrize(("value", "unit", "text"), [
    (123_456.0, "ops/s", "123"), (5_020.0, "MB/s", "5.02 GB"), (0.0, "1/op", "0"), (3.456, "us", "3.46"),
    (0.0123, "1/op", "0.0123")])
def test_values_are_in_the_units_of_the_tables(value, unit, text):
    assert tables.format_value(value, unit) == text


def test_a_screen_is_one(sample):
    printed = terminal.screen(sample).splitlines()
    assert len(printed) <= 30
    assert "undecided" not in "\n".join(printed) and " intervals lie below 1" in "\n".join(printed)


def test_rows_are_one_for_each_case_with_its_interval():
    made = Run(sample_run.lines(wanted=["exchange"], blocks=4))
    printed = terminal.rows(made).splitlines()
    cases = made.cases("exchange")
    assert len(printed) == 1 + len(cases) and all(len(each) <= 110 for each in printed)
    best = max((each for each in made.of_suite("exchange") if each.case == cases[0]),
               key=lambda each: each.ratio)
    assert f"{best.ratio:.2f}x ({stats.interval_text(best.estimate)})  {best.verdict}" in printed[1]


def test_a_case_that_one_side_lacks_has_no_figures():
    told = posted({"gyre_uring": GYRE}, blocks=2)
    assert terminal.rows(told).splitlines()[1].endswith("no row of both")


@pytest.mark.parametrize("blocks", [1, 4])
def test_a_screen_names_rows_of_gyre_s_that_are_broken(blocks):
    ours = {f"gyre_{each}": GYRE for each in range(6)}
    told = posted(ours | BOTH | {"libuv": ("libuv", 1.0)}, blocks=blocks,
                  broken=dict.fromkeys([*ours, "libuv"], "a byte is wrong"))
    printed = terminal.screen(told)
    assert printed.count("No row: gyre_") == 4 and "No row: and 2 more of gyre's" in printed
    assert "gyre_0 in dispatch post_batched: a byte is wrong" in printed and "libuv" not in printed


def test_how_many_intervals_lie_below_1_is_always_told(sample):
    text = terminal.everything(sample)
    assert text.count("intervals lie below 1") == len(sample.suites)
    assert "No row: uvloop in echo" in text


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    """Of a file, as a reader has it."""
    folder = tmp_path_factory.mktemp("page")
    lines = sample_run.lines(wanted=["latency", "baseline", "exchange_tuning"], blocks=2)
    (folder / "run.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return report.write(frame.load(folder / "run.jsonl"), folder).read_text(encoding="utf-8")


def test_a_page_needs_no_other_file_no_network_and_no_script(page):
    assert "<script" not in page
    assert set(re.findall(r"(?:https?:)?//[\w.]+", page)) <= {"http://www.w3.org"}
    assert not re.search(r'(src|href)="(?!#)', page)


def test_ids_are_unique_and_every_link_leads_somewhere(page):
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_pictures_have_no_colour_that_a_dark_page_would_keep(page):
    for picture in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        assert not re.search(r"(?:fill|stroke): #(?!fff)[0-9a-f]{6}", picture)


def test_the_first_page_tells_how_to_read_it_where_gyre_loses_and_what_was_changed(page):
    front = page[page.index('id="front"'):page.index('id="losses"')]
    for words in ("How to read the pictures", "Where gyre loses", "Conditions that were changed after a loss",
                  "buffers of 128 KiB", 'id="latency-overview"', "intervals lie below 1"):
        assert words in front


def test_a_loss_has_the_note_of_a_record_with_date_and_machine_or_none():
    (lost,) = run_of("throughput", "uni_tcp_1M",
                     {"gyre_uring": ("gyre", 300.0), "asio_callback": ASIO}).comparisons
    assert lost.verdict == "behind"
    assert "come about and stay (0005-fast-paths.md, 2026-11-20, 2 virtual cores" in terminal.loss_line(lost)
    (other,) = run_of("throughput", "threads_2",
                      {"gyre_uring": ("gyre", 300.0), "asio_callback": ASIO}).comparisons
    assert terminal.note_of(other) == ""


def test_what_lies_below_1_and_is_not_confirmed_beside_many_others_is_told_with_the_losses():
    (level,) = posted({"gyre_uring": ("gyre", 200.0), "asio_callback": ASIO}).comparisons
    slower = replace(level, estimate=stats.Estimate(-0.05, 0.045, 5))
    assert frame.with_verdicts([slower])[0].verdict == "behind"

    found = frame.with_verdicts([slower] + 50 * [level])

    assert found[0].verdict == "open" and terminal.losses(found) == found[:1]
    assert "below 1, not confirmed beside 50 others" in terminal.loss_line(found[0])
    assert "not confirmed beside 50" in report.loss(found[0])[-1]
    assert terminal.losses_title(found[:1]) == "0 rows, and 1 more lie below 1 and are not confirmed"
