# SPDX-License-Identifier: BSL-1.0
#
# What ab and wrk print was captured from real runs: a figure that is read wrongly is believed by every
# reader. And what fails must not look like what cannot be done, or the reverse.
"""Tests of measure/baseline.py and watched.py; servers are made up."""

import time
from pathlib import Path
from unittest import mock

import pytest
from conftest import FOLDER, fake_server, needs_lab
from measure import baseline, watched
from measure.baseline import Figures, parse_ab, parse_wrk
from measure.processes import Broken, Refused
from measure.watched import Watched, response

AB_CLOSE = """\
Server Software:        \n\
Server Hostname:        127.0.0.1
Server Port:            21500

Document Path:          /404
Document Length:        24 bytes

Concurrency Level:      100
Time taken for tests:   0.400 seconds
Complete requests:      5000
Failed requests:        0
Non-2xx responses:      5000
Total transferred:      600000 bytes
HTML transferred:       120000 bytes
Requests per second:    12507.13 [#/sec] (mean)
Time per request:       7.995 [ms] (mean)
Time per request:       0.080 [ms] (mean, across all concurrent requests)
Transfer rate:          1465.68 [Kbytes/sec] received

"""
AB_KEEPALIVE = AB_CLOSE.replace("Total", "Keep-Alive requests:    5000\nTotal")
AB_TABLE = "Percentage served,Time in ms\n0,1.517\n1,4.291\n50,7.614\n90,10.589\n99,12.411\n"

WRK = """\
Running 1s test @ http://127.0.0.1:21500/404
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.78ms    1.99ms  13.11ms   82.86%
    Req/Sec    49.86k     4.62k   56.51k    70.00%
  Latency Distribution
     50%  699.00us
     75%    2.84ms
     90%    4.62ms
     99%    8.64ms
  49847 requests in 1.01s, 5.70MB read
  Non-2xx or 3xx responses: 49847
Requests/sec:  49359.09
Transfer/sec:      5.65MB
"""


# --- what clients print ----------------------------------------------------------------------------


def rounded(latency: dict[str, float]) -> dict[str, int]:
    return {name: round(value) for name, value in latency.items()}


@pytest.mark.parametrize("text, keeps_alive", [(AB_CLOSE, False), (AB_KEEPALIVE, True)])
def test_ab(text, keeps_alive):
    seen = parse_ab(text, AB_TABLE, keeps_alive)
    assert (seen.requests, seen.seconds) == (5000, 0.4)
    assert seen.bytes_per_second == pytest.approx(1465.68 * 1024)
    assert rounded(seen.latency_us) == {"mean": 7995, "p50": 7614, "p90": 10589, "p99": 12411}


@pytest.mark.parametrize("text, keeps_alive, why", [
    (AB_CLOSE, True, "left their connection alive"),
    (AB_KEEPALIVE, False, "left their connection alive"),
    (AB_CLOSE.replace("Failed requests:        0", "Failed requests:        1"), False,
     "of 5000 requests 1 failed, 0 were not"),
    (AB_CLOSE.replace("Non-2xx responses:      5000\n", ""), False, "5000 were not answered with 404"),
    (AB_CLOSE.replace("600000 bytes", "605000 bytes"), False, "were 605000 bytes together"),
    ("apr_socket_recv: Connection reset by peer (104)\n", True, "no line like")])
def test_wrong_runs_of_ab_leave_no_figures(text, keeps_alive, why):
    with pytest.raises(Broken, match=why):
        parse_ab(text, AB_TABLE, keeps_alive)


def test_wrk():
    seen = parse_wrk(WRK)
    assert (seen.requests, seen.requests / seen.seconds) == (49_847, pytest.approx(49_359.09))
    assert seen.bytes_per_second == pytest.approx(5.65 * 1024 * 1024)
    assert rounded(seen.latency_us) == {"mean": 1780, "p50": 699, "p90": 4620, "p99": 8640}


def test_small_amounts_of_wrk_have_other_units():
    seen = parse_wrk(WRK.replace("5.65MB", "9.92KB").replace("1.78ms", "52.17us"))
    assert seen.bytes_per_second == pytest.approx(9.92 * 1024)
    assert seen.latency_us["mean"] == pytest.approx(52.17)


@pytest.mark.parametrize("text, why", [
    (WRK.replace("  Non", "  Socket errors: connect 0, read 0, write 0, timeout 5\n  Non"),
     "connect 0, read 0, write 0, timeout 5"),
    (WRK.replace("responses: 49847", "responses: 49046"), "of 49847 requests 0 failed, 801 were not"),
    ("unable to connect to 127.0.0.1:21500 Connection refused\n", "no line of requests")])
def test_wrong_runs_of_wrk_leave_no_figures(text, why):
    with pytest.raises(Broken, match=why):
        parse_wrk(text)


# --- how clients are asked -------------------------------------------------------------------------


def http_case(client: str, keep_alive: bool, **more) -> dict:
    return {"client": client, "keep_alive": keep_alive, "connections": 100, "requests": 400} | more


@pytest.mark.parametrize("keeps", [True, False])
def test_a_hundred_clients_ask_with_and_without_keep_alive(keeps):
    command = baseline.ab_command(http_case("ab", keeps, requests=500), 20_000, "table")
    assert ("-k" in command) == keeps
    assert (command[command.index("-c") + 1], command[command.index("-n") + 1]) == ("100", "500")
    command = baseline.wrk_command(http_case("wrk", keeps, seconds=2), 20_000)
    assert ("Connection: close" in command) != keeps
    assert command[command.index("-d") + 1] == "2s"


@pytest.mark.parametrize("case, first", [
    (http_case("ab", False, requests=100_000), ("ab", 25_000)),
    (http_case("wrk", False, seconds=8), ("wrk", 2.0)),
    (http_case("wrk", False, seconds=1), ("ab", 1_500)),
    (http_case("wrk", True, seconds=1), ("ab", 5_000))])
def test_a_quarter_is_played_before_by_the_same_client_unless_that_takes_too_long(case, first):
    with mock.patch("shutil.which", return_value="/ab"), mock.patch.object(baseline, "load") as load:
        baseline.warm_up(case, 1, {0})
    [call] = load.call_args_list
    assert (call.args[0]["client"], call.args[0]["requests" if first[0] == "ab" else "seconds"]) == first


def test_a_client_that_is_missing_is_named_and_nothing_is_started():
    with mock.patch("shutil.which", return_value=None):
        with pytest.raises(Refused, match=r"^ab is not installed \(Debian package apache2-utils\)$"):
            baseline.play(http_case("ab", False), Path(), [])
        assert not baseline.is_missing("echo")


def test_costs_are_per_request_and_those_that_are_not_known_are_left_out():
    seen = Figures(requests=1000, seconds=0.5, bytes_per_second=240_000.0, latency_us={"p50": 7.0})
    cost = {"processor_seconds": 0.01, "context_switches": 20, "system_calls": 3000}
    found = {each["metric"]: each["value"] for each in baseline.metrics_of(seen, cost)}
    assert found == {"throughput": 2000.0, "transfer": 0.24, "p50": 7.0, "cpu": 10_000.0, "busy": 2.0,
                     "context_switches": 0.02, "system_calls": 3.0}
    few = {each["metric"] for each in baseline.metrics_of(seen, {"processor_seconds": 0.01})}
    assert not few & {"system_calls", "context_switches"}


def test_the_echo_clients_are_believed_or_say_why_they_cannot():
    case = {"client": "echo", "bytes": 500, "connections": 2, "seconds": 1.0}
    told = '{"metrics": [{"metric": "throughput", "unit": "ops/s", "better": "higher", "value": 4000.0}]}'
    with mock.patch.object(watched, "run_once", return_value=told):
        found = baseline.play(case, Path(), ["server"])["metrics"]
    assert {each["metric"]: each["value"] for each in found} == {"transfer": 2.0, "throughput": 4000.0}
    with mock.patch.object(watched, "run_once", return_value='{"cannot_run": "no ring"}'), \
            pytest.raises(Refused, match="no ring"):
        baseline.play(case, Path(), ["server"])


@pytest.mark.parametrize("granted, core", [({2, 3}, ["--polling-core", "1"]), ({0, 1, 2, 3}, [])])
def test_the_core_for_the_kernel_is_none_of_those_granted(granted, core):
    command = ["server", "--backend", "io_uring_sqpoll"]
    with mock.patch("os.cpu_count", return_value=4), mock.patch("os.sched_getaffinity", return_value=granted):
        assert baseline.with_polling_core(command) == command + core
        assert baseline.with_polling_core(["server"]) == ["server"]


# --- servers that are right, or wrong in one way -----------------------------------------------------


@needs_lab
def test_a_server_that_is_right_is_accepted_and_its_costs_are_its_own():
    with Watched(FOLDER, fake_server()) as server:
        server.begin()
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        assert server.end()["processor_seconds"] < 0.02
        server.begin()
        assert server.verify()
        cost = server.end()
        assert cost["processor_seconds"] > 0 and cost["context_switches"] > 0 and cost["memory_megabytes"] > 1
        server.stop()


@needs_lab
@pytest.mark.parametrize("fault, why", [
    ("delays", "the server does not set TCP_NODELAY"), ("another_body", "There is NOTHING here."),
    ("a_byte_more", "keep-alive: b'!HTTP"), ("one_answer_only", "verifying: timed out"),
    ("whole_requests_only", "verifying: timed out"), ("never_closes", "verifying: timed out")])
def test_a_server_that_does_other_work_is_not_timed(fault, why, monkeypatch):
    monkeypatch.setattr(watched, "ANSWER_SECONDS_MAX", 1.0)
    with mock.patch("shutil.which", return_value="/ab"), mock.patch.object(baseline, "load") as load, \
            pytest.raises(Broken, match=why):
        baseline.play(http_case("ab", True), FOLDER, fake_server(fault))
    load.assert_not_called()


@needs_lab
def test_a_server_that_says_why_it_cannot_has_a_row_that_says_so():
    for command, why in ((fake_server("ends_at_once"), "^fake_server: no such ring$"),
                         (["/nowhere/at/all"], "/nowhere/at/all: No such file")):
        with pytest.raises(Refused, match=why):
            Watched(FOLDER, command)


@needs_lab
def test_a_server_that_ends_badly_is_an_error():
    with Watched(FOLDER, fake_server("ends_badly")) as server, pytest.raises(Broken, match="server failed"):
        server.stop()


@needs_lab
def test_a_server_does_not_outlive_the_program_that_has_started_it():
    with Watched(FOLDER, fake_server()) as server:
        process = Path("/proc", str(server.id), "status")
    deadline = time.monotonic() + 10
    while process.exists() and "zombie" not in process.read_text(encoding="utf-8"):
        assert time.monotonic() < deadline, "it is still running"


@needs_lab
def test_calls_that_could_not_be_counted_are_not_none_made():
    with Watched(FOLDER, fake_server(), options=["--count-system-calls"]) as server:
        server.begin()
        with watched.connect(server.port) as client:
            client.sendall(watched.STAYING)
            assert watched.receive(client, 120) == response(True)
        assert ("system_calls" in server.end()) == (server.calls_refused is None)
