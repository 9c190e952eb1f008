# SPDX-License-Identifier: BSL-1.0
#
# What is played when, what of it is kept, and what becomes of contenders that refuse, break or hang.
"""Drives measure/ with contenders whose figures are made up."""

import json
import lzma
import math
import re
from dataclasses import replace
from unittest import mock

import pytest
import run
from analyse.frame import load
from conftest import FAKE, case_of, fake
from measure import cost, processes, programs, slices, suites, turns, watched
from measure.journal import Journal, OtherConditions, Unusable, read
from measure.processes import CONTROL, Broken, Build, Contender, Refused, SliceProcess, fingerprint

OURS = Contender("gyre_uring", "gyre", "slices", (*FAKE, "gyre_uring", "2.0"), ("latency",))
ASIO = Contender("asio_callback", "asio", "slices", (*FAKE, "asio_callback", "1.0"), ("latency",))


# ---- slices ---------------------------------------------------------------------------------------

def test_a_block_plays_each_contender_once_in_each_round_in_an_order_that_the_seed_decides():
    contenders = slices.with_control([OURS, ASIO])
    case = case_of(rounds=6)

    first, again, other = (slices.play_block(contenders, case, number, 7) for number in (0, 0, 1))

    everyone = {"gyre_uring", "asio_callback", "gyre_uring" + CONTROL}
    assert all(set(each) == everyone for each in first["order"])
    assert first["order"] == again["order"] != other["order"]
    assert len({tuple(each) for each in first["order"]}) > 1
    assert all(len(each["slices"]["wall_ns"]) == 6 for each in first["contenders"].values())
    assert first["contenders"]["asio_callback"]["finish"]["memory_mb"] == 5.0


def test_a_case_apart_has_a_process_for_each_slice_and_one_histogram():
    block = slices.play_block([OURS], case_of(apart=True, rounds=2), 0, 7)

    told = block["contenders"]["gyre_uring"]
    assert len(told["slices"]["wall_ns"]) == 2
    assert sum(count for _, count in told["finish"]["buckets"]) == 200


@pytest.mark.parametrize(("kind", "where", "reason"), [("refuse", "refused", "has no such thing"),
                                                       ("break", "broken", "a byte is wrong")])
def test_contenders_that_refuse_or_break_are_named_and_have_no_slices(kind, where, reason):
    block = slices.play_block([OURS, ASIO], case_of(kind), 0, 7)

    assert block["contenders"] == {}
    assert reason in block[where]["asio_callback"]


@pytest.mark.parametrize(("what", "reply"), [
    ("about", []), ("prepare", 3), ("play", None), ("play", {}), ("finish", "x"),
    *(("play", {"wall_ns": value}) for value in ("1", None, math.nan, math.inf, -1, 0, True)),
    ("play", {"cpu_ns": None}), ("play", {"counters": {"visits": "1"}}), ("play", {"counters": [1]}),
    ("play", {"latency": {"mean": -1}}), ("play", {"latency": 3}), ("finish", {"memory_mb": "5"}),
    ("finish", {"latency": {"buckets": [[1, 2, 3]]}}), ("finish", {"latency": {"buckets": [[1, math.nan]]}})])
def test_an_answer_of_the_wrong_shape_costs_its_contender_the_row_and_nobody_else(what, reply, monkeypatch):
    class Answering(SliceProcess):
        """Without a process: what it is asked is what it answers."""

        def __init__(self, contender, _):
            self._process, self.is_wrong = mock.Mock(pid=1), contender is ASIO

        def _line(self, _):
            asked = json.loads(self._process.stdin.write.call_args.args[0])["do"]
            usual = {"play": {"wall_ns": 5, "cpu_ns": 5, "operations": 100}}.get(asked, {})
            if asked != what or not self.is_wrong:
                return json.dumps(usual)
            return json.dumps(usual | reply if reply and isinstance(reply, dict) else reply)

        def end(self, _=True):
            pass

    monkeypatch.setattr(slices, "SliceProcess", Answering)

    block = slices.play_block([OURS, ASIO], case_of(rounds=1), 0, 7)

    assert re.match("answered|printed JSON that is no object", block["broken"].pop("asio_callback"))
    assert (set(block["contenders"]), block["broken"]) == ({"gyre_uring"}, {})


def test_a_contender_that_cannot_be_started_is_broken():
    absent = replace(OURS, command=("/nowhere/lab_gyre",))

    assert "could not be started" in slices.play_block([absent], case_of(), 0, 7)["broken"]["gyre_uring"]


def test_a_contender_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr(processes, "SECONDS_MAX", 0.2)
    with pytest.raises(Broken, match="did not answer"), \
            SliceProcess(replace(OURS, command=("sleep", "60")), None) as process:
        process.ask({"do": "about"})


def test_system_calls_are_counted_in_a_run_of_their_own():
    assert slices.count_system_calls(OURS, case_of()) == 4.0


# ---- turns ----------------------------------------------------------------------------------------

class Played(turns.Turns):
    """Turns of programs that do not exist; some break once."""

    def __init__(self, breaking=()):
        self.order, self.breaking = [], list(breaking)

    def take(self, contender, case, counting=False):
        self.order.append(contender.title)
        if contender.title in self.breaking:
            self.breaking.remove(contender.title)
            return {"cannot_run": "no", "broken": True}
        return {"metrics": [{"metric": "p50", "unit": "us", "better": "lower", "value": 1.0}]}


def test_every_second_pass_goes_in_the_opposite_order_with_the_control_at_the_other_end():
    play = Played()
    for number in (0, 1):
        turns.play_round(play, [OURS, ASIO], case_of(), number)

    forward = ["gyre_uring", "asio_callback", "gyre_uring" + CONTROL]
    assert play.order == [*forward, *reversed(forward)]


def test_a_round_of_several_turns_alternates_and_keeps_all_of_them():
    play = Played()
    line = turns.play_round(play, [OURS, ASIO], case_of(turns=2), 0)

    assert play.order[:3] == play.order[:2:-1]
    assert [len(each) for each in line["contenders"].values()] == [2, 2, 2]


def test_a_turn_that_broke_is_taken_once_more_and_only_once():
    once = turns.play_round(Played(["asio_callback"]), [OURS, ASIO], case_of(), 0)
    twice = turns.play_round(Played(["asio_callback"] * 2), [OURS, ASIO], case_of(), 0)

    assert (once["retried"], once["broken"]) == ({"asio_callback": "no"}, {})
    assert "asio_callback" in once["contenders"]
    assert twice["broken"] == {"asio_callback": "no"}
    assert "asio_callback" not in twice["contenders"]


@pytest.mark.parametrize(("report", "why"), [
    ([], "no object"), ({"metrics": 3}, "no list"), ({"metrics": [{"metric": "a"}]}, "that is none"),
    ({"metrics": [{"metric": "a", "unit": "", "better": "lower", "value": float("nan")}]}, "NaN"),
    ({"metrics": [{"metric": "a", "unit": "", "better": "lower", "value": 1}] * 2}, "that is none")])
def test_nonsense_is_no_row(report, why):
    with pytest.raises(Broken, match=why):
        turns.parse_report(report)


@pytest.mark.parametrize("mode", ["slices", "turns"])
def test_the_kernel_s_first_refusal_to_count_calls_is_that_of_all(mode, monkeypatch):
    monkeypatch.setattr(slices, "count_system_calls", mock.Mock(side_effect=Refused("no tracefs")))
    play = turns.Turns(mock.Mock(), "quick")
    monkeypatch.setattr(play, "take", mock.Mock(return_value={"system_calls_not_counted": "no tracefs"}))

    line = turns.count_system_calls(play, [OURS, ASIO], replace(case_of(), mode=mode))

    assert (line["refused"], line["per_operation"], line["failed"]) == ("no tracefs", {}, {})
    assert slices.count_system_calls.call_count + play.take.call_count == 1


def test_what_a_turn_refuses_is_no_fault_but_of_a_peer_that_setup_has_seen_serve(monkeypatch):
    peer = replace(ASIO, mode="turns", suites=("echo",), threads_max=1)
    play = turns.Turns(mock.Mock(), "quick")
    monkeypatch.setattr(play, "_played", mock.Mock(side_effect=Refused("no ring")))

    assert play.take(peer, case_of(threads=2)) == {
        "cannot_run": "is listed as one that serves: no ring", "broken": True}
    assert play.take(peer, case_of(threads=3)) == {"cannot_run": "no ring"}
    assert play.take(replace(peer, absent="not built"), case_of()) == {"cannot_run": "not built"}


@pytest.mark.parametrize(("script", "report"), [
    ("echo libuv was not there >&2; exit 3", {"cannot_run": "libuv was not there"}),
    ("echo library 1.0 none", {"library": "library", "version": "1.0", "backend": "none", "metrics": []})])
def test_a_turn_of_a_player_begins_with_what_the_program_is(monkeypatch, script, report):
    monkeypatch.setattr(cost, "play", lambda *_: {"metrics": []})
    program = replace(ASIO, mode="turns", suites=("cost",), command=("sh", "-c", script))

    assert turns.Turns(mock.Mock(), "quick").take(program, replace(case_of(), suite="cost")) == report
    absent = replace(program, command=("/nowhere/at/all",))
    assert turns.Turns(mock.Mock(), "quick").take(absent, replace(case_of(), suite="cost"))["broken"]


def test_programs_for_users_are_not_asked_what_they_are(monkeypatch):
    monkeypatch.setattr(programs, "play", lambda *_: {"metrics": []})
    program = replace(ASIO, mode="turns", suites=("programs",), command=("sh", "-c", "exit 3"))

    report = turns.Turns(mock.Mock(), "quick").take(program, replace(case_of(), suite="programs"))
    assert report == {"metrics": []}


def test_clients_that_print_no_json_are_broken(monkeypatch):
    monkeypatch.setattr(watched, "run_once", lambda *_: "")
    server = replace(ASIO, mode="turns", suites=("echo",))

    report = turns.Turns(mock.MagicMock(), "quick").take(server, replace(case_of(), suite="echo"))
    assert report == {"cannot_run": mock.ANY, "broken": True}


@pytest.mark.parametrize(("command", "why"), [
    (["sh", "-c", "echo no luck >&2; exit 3"], "sh failed with status 3: no luck"),
    (["sleep", "60"], "sleep did not finish within"), (["/nowhere/at/all"], "all could not be started")])
def test_a_program_that_fails_says_why(command, why):
    with pytest.raises(Broken, match=why):
        processes.run_once(command, None, 0.2)


# ---- journal and whole runs -----------------------------------------------------------------------

def test_a_line_that_was_cut_off_is_measured_again(tmp_path):
    path = tmp_path / "run.jsonl"
    Journal(path, {"scale": "quick"}).add({"suite": "latency", "case": "tcp_1", "kind": "block"})
    with path.open("a") as file:
        file.write('{"suite": "lat')

    again = Journal(path, {"scale": "quick"})

    assert len(again.of_case("latency", "tcp_1")) == 1
    again.add({"suite": "latency", "case": "tcp_1", "kind": "block"})
    assert len(read(path)) == 3


def test_other_conditions_are_no_continuation(tmp_path):
    Journal(tmp_path / "run.jsonl", {"scale": "quick"})
    with pytest.raises(OtherConditions, match="scale was 'quick' and is 'full'"):
        Journal(tmp_path / "run.jsonl", {"scale": "full"})


def test_a_second_process_on_the_same_journal_is_refused(tmp_path):
    journal = Journal(tmp_path / "run.jsonl", {})
    with pytest.raises(Unusable, match="another process is measuring into this file"):
        Journal(journal.path, {})
    journal.close()
    Journal(journal.path, {}).close()
    assert len(read(journal.path)) == 1


@pytest.mark.parametrize("text", ["", '{"kind": "run", "conditio'])
def test_a_journal_without_a_whole_line_is_begun_anew(text, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    Journal(path, {"scale": "quick"}).close()
    assert [each["conditions"] for each in read(path)] == [{"scale": "quick"}]


def test_a_run_that_is_kept_is_compressed_and_read_all_the_same(tmp_path):
    path = tmp_path / "run.jsonl.xz"
    path.write_bytes(lzma.compress(b'{"kind":"run","conditions":{"scale":"quick"}}\n'))
    assert [each["conditions"] for each in read(path)] == [{"scale": "quick"}]
    for damaged in (path.read_bytes()[:-5], b"{}\n"):
        path.write_bytes(damaged)
        with pytest.raises(Unusable, match=r"run\.jsonl\.xz: is damaged"):
            read(path)


def ending(words, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["run.py", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        run.main()
    return end.value.code, capsys.readouterr().err


@pytest.mark.parametrize(("text", "why"), [
    ('{"kind":"run"}\n{"kind":"blo\n{"kind":"end"}\n', "run.jsonl:2: is damaged"), ("", "no whole line"),
    ('{"kind":"run"}\n[]\n', "run.jsonl:2: is no such line"), (None, "No such file"),
    ('{"kind":"run"}\n{"kind":"block","suite":"x"}\n', "run.jsonl:2: there is no suite x"),
    ('{"kind":"run"}\n{"kind":"block","suite":"http"}\n', "is no run of this lab: KeyError"),
    ('{"kind":"case"}\n', "run.jsonl:1: is no such line"),
    ('{"kind":"run"}\n\0\xff\n', "run.jsonl:2: is damaged")])
@pytest.mark.parametrize("verb", ["report", "compare"])
def test_a_file_that_is_no_run_is_named_with_its_line(verb, text, why, tmp_path, monkeypatch, capsys):
    path = tmp_path / "run.jsonl"
    if text is not None:
        path.write_text(text, encoding="latin-1")
    code, said = ending([verb, path, *[path] * (verb == "compare")], monkeypatch, capsys)
    assert code == 2 and why in said and said.count("\n") == 1


@pytest.mark.parametrize(("words", "why"), [
    (["--case", "zzz"], "matches zzz"), (["--json", "/dev/full"], "No space left"),
    (["--json", "/proc/nowhere/run.jsonl"], "/proc/nowhere"), (["--blocks", "0"], "0 is less than 1"),
    (["--blocks", "-1"], "-1 is less than 1"), (["--repetitions", "-1"], "-1 is less than 1"),
    (["--build", "/nowhere"], "/nowhere holds no build"), (["--contenders", "x"], "no contender x")])
def test_what_cannot_be_done_ends_with_2_and_a_reason(words, why, fake_build, monkeypatch, capsys):
    build = fake_build(fake("gyre_uring", "gyre"))
    code, said = ending(["latency", "--quick", "--build", build, *words], monkeypatch, capsys)
    assert code == 2 and why in said.splitlines()[-1]


@pytest.mark.parametrize(("name", "family"), [
    ("<b>", "gyre"), ("gyre uring", "gyre"), ("gyre", "{}"), ("", "gyre")])
def test_names_that_would_be_markup_on_a_page_are_refused(name, family, fake_build):
    with pytest.raises(ValueError, match="a contender is called"):
        Build(fake_build(fake(name, family)))


def test_a_program_that_was_built_anew_or_is_missing_has_another_fingerprint(tmp_path):
    program = tmp_path / "program"
    seen = {fingerprint([program])}
    for text in ("one", "two"):
        program.write_text(text)
        seen.add(fingerprint([program]))
    assert len(seen) == 3


WORDS = ["latency", "--quick", "--blocks", "2", "--repetitions", "2", "--case", "tcp_64"]


def test_a_run_that_was_interrupted_is_taken_up_by_the_same_command(fake_build, tmp_path, monkeypatch):
    build = fake_build(fake("gyre_uring", "gyre", 2.0), fake("asio_callback", "asio", 1.0))
    words = [*WORDS, "--build", str(build), "--json", str(tmp_path / "run.jsonl")]
    played = []
    whole = slices.play_block

    def interrupted(contenders, case, number, seed):
        if played:
            raise KeyboardInterrupt
        played.append((case.name, number))
        return whole(contenders, case, number, seed)

    monkeypatch.setattr(slices, "play_block", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.measure(words)
    monkeypatch.setattr(slices, "play_block", lambda *of: played.append((of[1].name, of[2])) or whole(*of))
    path = run.measure(words)

    assert played == [("tcp_64", 0), ("tcp_64", 1)]
    found = load(path)
    assert found.value("latency", "tcp_64", "system_calls", "gyre_uring") == 4.0
    assert found.value("latency", "tcp_64", "mean", "gyre_uring") == pytest.approx(0.5, rel=0.1)
    assert [each.reference for each in found.comparisons] == ["asio_callback"]


@pytest.mark.parametrize(("seconds", "played"), [
    (1000, [("tcp_64", 0), ("unix_64", 0), ("tcp_64", 1), ("unix_64", 1)]),
    (0, [("tcp_64", 0), ("unix_64", 0)])])
def test_with_a_time_cases_take_turns_and_each_has_a_part(seconds, played, fake_build, tmp_path, monkeypatch):
    build = fake_build(fake("gyre_uring", "gyre", 2.0), fake("asio_callback", "asio", 1.0))
    words = ["latency", "--glance", "--blocks", "2", "--repetitions", "2", "--case", "tcp_64 unix_64",
             "--build", str(build), "--json", str(tmp_path / "run.jsonl"), "--seconds", str(seconds)]
    found = []
    whole = slices.play_block
    monkeypatch.setattr(slices, "play_block",
                        lambda *of: found.append((of[1].name, of[2])) or whole(*of))
    run.measure(words)
    assert found == played
    run.measure(words)
    assert found == played, "what is known is measured again"


@pytest.mark.parametrize("change", ["command", "case", "seed"])
def test_other_work_is_no_continuation(change, fake_build, tmp_path, monkeypatch):
    monkeypatch.setattr(run.Run, "measure", lambda *_: None)
    words = ["latency", "--quick", "--case", "tcp_64", "--json", str(tmp_path / "run.jsonl"), "--twins"]
    build = fake_build(fake("gyre_uring", "gyre", 2.0))
    words += ["--build", str(build)]
    run.measure([*words, "--seed", "1"])
    run.measure(words)

    if change == "command":
        fake_build(fake("gyre_uring", "gyre", 3.0))
    elif change == "case":
        whole = run.choose_cases
        monkeypatch.setattr(run, "choose_cases",
                            lambda *of: [replace(each, operations=7) for each in whole(*of)])
    with pytest.raises(Unusable, match=change):
        run.measure([*words, "--seed", "2"] if change == "seed" else words)


def test_twins_take_part_beside_each_contender(fake_build, tmp_path):
    build = fake_build(fake("gyre_uring", "gyre", 2.0), fake("asio_callback", "asio", 1.0))
    path = run.measure([*WORDS, "--blocks", "1", "--no-system-calls", "--twins", "--build", str(build),
                        "--json", str(tmp_path / "run.jsonl")])

    (block,) = (each for each in read(path) if each["kind"] == "block")
    assert set(block["contenders"]) == {"gyre_uring", "asio_callback", "gyre_uring (twin)",
                                        "asio_callback (twin)", "gyre_uring (control)"}


@pytest.mark.parametrize(("name", "family"), [("gyre_uring", "gyre"), ("asio_callback", "asio")])
def test_a_run_ends_with_1_if_one_of_gyre_s_is_broken(name, family, fake_build, tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "play_block", lambda *_: {
        "kind": "block", "suite": "latency", "case": "tcp_1", "refused": {}, "broken": {name: "no"}})
    monkeypatch.setattr(run, "show", lambda *_: None)
    words = ["latency", "--quick", "--no-system-calls", "--case", "tcp_1", "--blocks", "1"]
    words += ["--build", str(fake_build(fake(name, family))), "--json", str(tmp_path / "run.jsonl")]

    for _ in range(2):  # It is so, too, if all of it was measured before.
        if family == "gyre":
            with pytest.raises(SystemExit, match="a contender of gyre's is broken"):
                run.measure(words)
        else:
            run.measure(words)


def test_a_contender_that_has_refused_is_not_asked_again():
    done = [{"refused": {"asio_callback": "no"}, "broken": {}}]
    assert run.still_able([OURS, ASIO], done) == [OURS]
    broke = {"refused": {}, "broken": {"asio_callback": "no"}}
    assert run.still_able([OURS, ASIO], [broke]) == [OURS, ASIO]
    assert run.still_able([OURS, ASIO], [broke, broke]) == [OURS]


def test_smoke_names_what_breaks_and_suites_without_a_row(fake_build, capsys):
    build = Build(fake_build(fake("gyre_uring", "gyre", 2.0),
                             fake("asio_callback", "asio", suites=("http",))))
    cases = [case_of("refuse"), case_of(), replace(case_of("break"), suite="http")]

    assert run.smoke(build, build.contenders, cases, ["latency", "http"]) == 1
    printed = capsys.readouterr().out
    assert "http tcp_64: asio_callback: ended with status 1: a byte is wrong" in printed
    assert "http: no contender ran" in printed
    assert "smoke: 1 ran" in printed


def test_peers_that_are_missing_take_part_and_say_why(fake_build):
    folder = fake_build(fake("gyre_uring", "gyre"))
    (folder / "lab/peers/peers.json").write_text(json.dumps([
        {"name": "go", "family": "go", "command": [], "workloads": ["echo", "http"], "threads_max": None,
         "missing": "no toolchain"}]))

    peers = [each for each in Build(folder).contenders if each.name == "go"]

    assert [(each.suites, each.cases, each.absent) for each in peers] == \
        [(("echo",), "*block_*", "no toolchain"), (("baseline",), "*", "no toolchain")]


def test_suites_that_do_not_exist_are_named(fake_build):
    with pytest.raises(Unusable, match="no suite latancy"):
        run.choose_cases(Build(fake_build()), ["latancy"], "*", "quick")
    assert suites.matches("tcp_64", "unix_* tcp_*")
