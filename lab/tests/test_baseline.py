# SPDX-License-Identifier: BSL-1.0
#
# What ab and wrk print was captured from real runs: a figure that is read wrongly is believed by every
# reader. And what fails must not look like what cannot be done, or the reverse.
"""Tests of measure/baseline.py, baseline_clients.py and watched.py; servers are made up."""

import json
import os
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

LAB = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LAB))

from measure import baseline, watched  # noqa: E402
from measure import baseline_clients as clients  # noqa: E402
from measure.baseline_clients import Figures, parse_ab, parse_wrk  # noqa: E402
from measure.watched import Refused, Unusable, Watched, response  # noqa: E402

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
AB_KEEPALIVE = """\
Concurrency Level:      100
Time taken for tests:   0.064 seconds
Complete requests:      5000
Failed requests:        0
Non-2xx responses:      5000
Keep-Alive requests:    5000
Total transferred:      600000 bytes
HTML transferred:       120000 bytes
Requests per second:    78634.90 [#/sec] (mean)
Time per request:       1.272 [ms] (mean)
Time per request:       0.013 [ms] (mean, across all concurrent requests)
Transfer rate:          9215.03 [Kbytes/sec] received
"""
AB_OF_A_WRONG_SERVER = """\
Concurrency Level:      10
Time taken for tests:   0.139 seconds
Complete requests:      300
Failed requests:        257
   (Connect: 0, Receive: 0, Length: 257, Exceptions: 0)
Non-2xx responses:      150
Total transferred:      35253 bytes
HTML transferred:       903 bytes
Requests per second:    2158.77 [#/sec] (mean)
Time per request:       4.632 [ms] (mean)
Time per request:       0.463 [ms] (mean, across all concurrent requests)
Transfer rate:          247.73 [Kbytes/sec] received
"""
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
WRK_OF_A_SERVER_THAT_STOPS = """\
Running 4s test @ http://127.0.0.1:21500/404
  1 threads and 5 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    52.17us   21.28us 116.00us   53.59%
    Req/Sec    84.00      0.00    84.00    100.00%
  Latency Distribution
     50%   59.00us
     75%   70.00us
     90%   77.00us
     99%   94.00us
  339 requests in 4.01s, 39.73KB read
  Socket errors: connect 0, read 0, write 0, timeout 5
  Non-2xx or 3xx responses: 339
Requests/sec:     84.64
Transfer/sec:      9.92KB
"""
WRK_OF_A_WRONG_SERVER = """\
Running 1s test @ http://127.0.0.1:21501/404
  1 threads and 5 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.19ms    1.96ms  12.50ms   78.35%
    Req/Sec     1.61k   337.05     2.28k    80.00%
  Latency Distribution
     50%    2.27ms
     75%    4.35ms
     90%    5.85ms
     99%    9.07ms
  1601 requests in 1.00s, 183.70KB read
  Non-2xx or 3xx responses: 800
Requests/sec:   1600.44
Transfer/sec:    183.64KB
"""


# --- what clients print ----------------------------------------------------------------------------


def rounded(latency: dict[str, float]) -> dict[str, int]:
    return {name: round(value) for name, value in latency.items()}


def test_ab_with_a_connection_for_each_request():
    seen = parse_ab(AB_CLOSE, AB_TABLE, keeps_alive=False)
    assert (seen.requests, seen.seconds, seen.per_second) == (5000, 0.4, 12_500)
    assert seen.bytes_per_second == pytest.approx(1465.68 * 1024)
    assert rounded(seen.latency_us) == {"mean": 7995, "p50": 7614, "p90": 10589, "p99": 12411}


def test_ab_with_connections_that_are_kept():
    seen = parse_ab(AB_KEEPALIVE, AB_TABLE, keeps_alive=True)
    assert (seen.requests, seen.latency_us["mean"]) == (5000, 1272.0)


@pytest.mark.parametrize("text, keeps_alive, why", [
    (AB_CLOSE, True, "left their connection alive"),
    (AB_KEEPALIVE, False, "left their connection alive"),
    (AB_OF_A_WRONG_SERVER, False, "of 300 requests 257 failed, 150 were not answered"),
    (AB_CLOSE.replace("Failed requests:        0", "Failed requests:        1"), False,
     "of 5000 requests 1 failed, 0 were not"),
    (AB_CLOSE.replace("Non-2xx responses:      5000\n", ""), False, "5000 were not answered with 404"),
    (AB_CLOSE.replace("600000 bytes", "605000 bytes"), False, "were 605000 bytes together"),
    ("apr_socket_recv: Connection reset by peer (104)\n", True, "no line like")])
def test_wrong_runs_of_ab_leave_no_figures(text, keeps_alive, why):
    with pytest.raises(Unusable, match=why):
        parse_ab(text, AB_TABLE, keeps_alive)


def test_wrk():
    seen = parse_wrk(WRK)
    assert seen.requests == 49_847
    assert seen.per_second == pytest.approx(49_359.09)
    assert seen.bytes_per_second == pytest.approx(5.65 * 1024 * 1024)
    assert rounded(seen.latency_us) == {"mean": 1780, "p50": 699, "p90": 4620, "p99": 8640}


def test_small_amounts_of_wrk_have_other_units():
    errors = "  Socket errors: connect 0, read 0, write 0, timeout 5\n"
    seen = parse_wrk(WRK_OF_A_SERVER_THAT_STOPS.replace(errors, ""))
    assert seen.bytes_per_second == pytest.approx(9.92 * 1024)
    assert seen.latency_us["mean"] == pytest.approx(52.17)


@pytest.mark.parametrize("text, why", [
    (WRK_OF_A_SERVER_THAT_STOPS, "connect 0, read 0, write 0, timeout 5"),
    (WRK_OF_A_WRONG_SERVER, "of 1601 requests 801 were not answered with 404"),
    ("unable to connect to 127.0.0.1:21500 Connection refused\n", "no line like")])
def test_wrong_runs_of_wrk_leave_no_figures(text, why):
    with pytest.raises(Unusable, match=why):
        parse_wrk(text)


# --- how clients are asked -------------------------------------------------------------------------


def http_case(client: str, keep_alive: bool, **more) -> dict:
    return {"client": client, "keep_alive": keep_alive, "connections": 100} | more


@pytest.mark.parametrize("keeps", [True, False])
def test_a_hundred_clients_ask_with_and_without_keep_alive(keeps):
    command = clients.ab_command(http_case("ab", keeps), 20_000, 500, Path("table"))
    assert ("-k" in command) == keeps
    assert (command[command.index("-c") + 1], command[command.index("-n") + 1]) == ("100", "500")
    command = clients.wrk_command(http_case("wrk", keeps), 20_000, 2)
    assert ("Connection: close" in command) != keeps
    assert command[command.index("-d") + 1] == "2s"


@pytest.mark.parametrize("case, first", [
    (http_case("ab", False, requests=100_000), ("ab", 25_000)),
    (http_case("wrk", False, seconds=8), ("wrk", 2.0)),
    (http_case("wrk", False, seconds=1), ("ab", 1_500)),
    (http_case("wrk", True, seconds=1), ("ab", 5_000))])
def test_a_quarter_is_played_before_by_the_same_client_unless_that_takes_too_long(case, first):
    with mock.patch.object(clients, "missing", return_value=None), \
            mock.patch.object(baseline, "load") as load:
        baseline.warm_up(case, 1, {0})
    [call] = load.call_args_list
    assert (call.args[0]["client"], call.args[0]["requests" if first[0] == "ab" else "seconds"]) == first


def test_a_client_that_is_missing_is_named_and_nothing_is_started():
    with mock.patch("shutil.which", return_value=None):
        assert baseline.play(http_case("ab", False), {}) == {
            "cannot_run": "ab is not installed (Debian package apache2-utils)"}
        assert "wrk" in clients.missing("wrk")
        assert clients.missing("echo") is None


def test_a_client_that_fails_says_why():
    with pytest.raises(Unusable, match="sh failed with 3: no luck"):
        baseline.run_client(["sh", "-c", "echo no luck >&2; exit 3"], None)
    with pytest.raises(Unusable, match="could not be started"):
        baseline.run_client(["/nowhere/at/all"], None)


def test_costs_are_per_request_and_those_that_are_not_known_are_left_out():
    seen = Figures(requests=1000, seconds=0.5, bytes_per_second=240_000.0, latency_us={"p50": 7.0})
    cost = {"processor_seconds": 0.01, "context_switches": 20, "system_calls": 3000}
    found = {each["metric"]: each["value"] for each in baseline.metrics_of(seen, cost)}
    assert found == {"throughput": 2000.0, "transfer": 0.24, "p50": 7.0, "cpu": 10_000.0, "busy": 2.0,
                     "context_switches": 0.02, "system_calls": 3.0}
    few = {each["metric"] for each in baseline.metrics_of(seen, {"processor_seconds": 0.01})}
    assert not few & {"system_calls", "context_switches"}


def test_the_echo_clients_are_believed_if_they_print_json():
    case = {"client": "echo", "bytes": 500, "connections": 2, "seconds": 1.0}
    metrics = [{"metric": "throughput", "unit": "ops/s", "better": "higher", "value": 4000.0}]
    with mock.patch.object(baseline, "run_client", return_value=json.dumps({"metrics": metrics})):
        found = baseline.play_echo(case, "", [], None)["metrics"]
    assert {each["metric"]: each["value"] for each in found} == {"transfer": 2.0, "throughput": 4000.0}
    for printed, error, why in (("", Unusable, "no JSON"), ('{"cannot_run": "no ring"}', Refused, "no ring")):
        with mock.patch.object(baseline, "run_client", return_value=printed), pytest.raises(error, match=why):
            baseline.play_echo(case, "", [], None)


def test_the_core_for_the_kernel_is_none_of_those_granted():
    with mock.patch("os.cpu_count", return_value=4), mock.patch("os.sched_getaffinity", return_value={2, 3}):
        assert baseline.polling_core() == 1
    with mock.patch("os.cpu_count", return_value=2), mock.patch("os.sched_getaffinity", return_value={0, 1}):
        assert baseline.polling_core() is None


# --- servers that are right, or wrong in one way -----------------------------------------------------

FOLDER = Path(os.environ.get("LAB_BUILD", LAB.parent / "build/release"), "lab")
needs_watcher = pytest.mark.skipif(not (FOLDER / watched.WATCHER).is_file(), reason="the lab is not built")

def command(fault: str) -> list[str]:
    return [sys.executable, "-B", str(LAB / "tests/fake_server.py"), "--fault", fault]


def start(fault: str) -> Watched:
    return Watched(FOLDER, command(fault))


@needs_watcher
def test_a_server_that_is_right_is_accepted_and_its_costs_are_its_own():
    with start("none") as server:
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


@needs_watcher
@pytest.mark.parametrize("fault, why", [
    ("delays", "the server does not set TCP_NODELAY"), ("another_body", "There is NOTHING here."),
    ("a_byte_more", "keep-alive: b'!HTTP"), ("one_answer_only", "verifying: timed out"),
    ("whole_requests_only", "verifying: timed out"), ("never_closes", "verifying: timed out")])
def test_a_server_that_does_other_work_is_unusable(fault, why, monkeypatch):
    monkeypatch.setattr(watched, "ANSWER_SECONDS_MAX", 1.0)
    with start(fault) as server, pytest.raises(Unusable, match=why):
        server.verify()


@needs_watcher
def test_a_server_that_does_other_work_is_not_timed():
    contender = {"command": command("another_body"), "folder": str(FOLDER)}
    with mock.patch.object(clients, "missing", return_value=None), \
            mock.patch.object(baseline, "load") as load, \
            mock.patch.object(baseline, "identity", return_value={}), \
            pytest.raises(Unusable, match="NOTHING"):
        baseline.play(http_case("ab", True), contender)
    load.assert_not_called()


@needs_watcher
def test_a_server_that_says_why_it_cannot_has_a_row_that_says_so():
    with pytest.raises(Refused, match=r"^fake_server: no such ring$"):
        start("ends_at_once")
    with pytest.raises(Refused, match="/nowhere/at/all: No such file"):
        Watched(FOLDER, ["/nowhere/at/all"])
    contender = {"command": command("ends_at_once"), "folder": str(FOLDER)}
    with mock.patch.object(clients, "missing", return_value=None), \
            mock.patch.object(baseline, "identity", return_value={}):
        assert baseline.play(http_case("ab", True), contender) == {"cannot_run": "fake_server: no such ring"}


@needs_watcher
def test_a_server_that_ends_badly_is_an_error():
    with start("ends_badly") as server, pytest.raises(Unusable, match="the server failed"):
        server.stop()


@needs_watcher
def test_a_server_does_not_outlive_the_program_that_has_started_it():
    with start("none") as server:
        process = Path("/proc", str(server.id), "status")
    deadline = time.monotonic() + 10
    while process.exists() and "zombie" not in process.read_text(encoding="utf-8"):
        assert time.monotonic() < deadline, "it is still running"


@needs_watcher
def test_calls_that_could_not_be_counted_are_not_none_made():
    with Watched(FOLDER, command("none"), counts_calls=True) as server:
        server.begin()
        with watched.connect(server.port) as client:
            client.sendall(watched.STAYING)
            assert watched.receive(client, 120) == response(True)
        assert ("system_calls" in server.end()) == (server.calls_refused is None)
