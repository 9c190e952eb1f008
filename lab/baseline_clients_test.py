#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# What ab and wrk print was captured from real runs; a figure that is read wrongly is believed by everyone.
"""Tests of baseline_clients.py."""

import json
import unittest
from pathlib import Path
from unittest import mock

import baseline_clients
from baseline_clients import find_case, parse_ab, parse_echo, parse_wrk
from baseline_server import Refused, Unusable

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

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    3   1.7      3       9
Processing:     0    5   2.2      5      11
Waiting:        0    3   1.8      2       9
Total:          2    8   2.0      8      13
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


class ApacheBench(unittest.TestCase):
    def test_a_run_with_a_connection_for_each_request(self):
        seen = parse_ab(AB_CLOSE, AB_TABLE, keeps_alive=False)
        self.assertEqual((seen.requests, seen.seconds), (5000, 0.4))
        self.assertEqual(seen.per_second, 12_500)
        self.assertAlmostEqual(seen.bytes_per_second, 1465.68 * 1024)
        self.assertEqual({name: round(value) for name, value in seen.latency_us.items()},
                         {"mean": 7995, "p50": 7614, "p90": 10589, "p99": 12411})

    def test_a_run_with_connections_that_are_kept(self):
        seen = parse_ab(AB_KEEPALIVE, AB_TABLE, keeps_alive=True)
        self.assertEqual((seen.requests, seen.latency_us["mean"]), (5000, 1272.0))

    def test_a_server_that_keeps_or_closes_against_what_was_asked_has_no_figures(self):
        for text, keeps_alive in ((AB_CLOSE, True), (AB_KEEPALIVE, False)):
            with self.assertRaisesRegex(Unusable, "left their connection alive"):
                parse_ab(text, AB_TABLE, keeps_alive)

    def test_failed_and_wrong_responses_leave_no_figures(self):
        with self.assertRaisesRegex(Unusable, "of 300 requests 257 failed, 150 were not answered"):
            parse_ab(AB_OF_A_WRONG_SERVER, AB_TABLE, keeps_alive=False)
        one = AB_CLOSE.replace("Failed requests:        0", "Failed requests:        1")
        with self.assertRaisesRegex(Unusable, "of 5000 requests 1 failed, 0 were not"):
            parse_ab(one, AB_TABLE, keeps_alive=False)
        ours = AB_CLOSE.replace("Non-2xx responses:      5000\n", "")
        with self.assertRaisesRegex(Unusable, "5000 were not answered with 404"):
            parse_ab(ours, AB_TABLE, keeps_alive=False)

    def test_responses_of_another_length_leave_no_figures(self):
        longer = AB_CLOSE.replace("600000 bytes", "605000 bytes")
        with self.assertRaisesRegex(Unusable, "were 605000 bytes together"):
            parse_ab(longer, AB_TABLE, keeps_alive=False)

    def test_other_output_is_no_figures(self):
        with self.assertRaisesRegex(Unusable, "no line like"):
            parse_ab("apr_socket_recv: Connection reset by peer (104)\n", "", keeps_alive=True)


class Wrk(unittest.TestCase):
    def test_a_run(self):
        seen = parse_wrk(WRK)
        self.assertEqual(seen.requests, 49_847)
        self.assertAlmostEqual(seen.per_second, 49_359.09)
        self.assertAlmostEqual(seen.bytes_per_second, 5.65 * 1024 * 1024)
        self.assertEqual({name: round(value) for name, value in seen.latency_us.items()},
                         {"mean": 1780, "p50": 699, "p90": 4620, "p99": 8640})

    def test_socket_errors_leave_no_figures(self):
        with self.assertRaisesRegex(Unusable, "connect 0, read 0, write 0, timeout 5"):
            parse_wrk(WRK_OF_A_SERVER_THAT_STOPS)

    def test_wrong_responses_leave_no_figures(self):
        with self.assertRaisesRegex(Unusable, "of 1601 requests 801 were not answered with 404"):
            parse_wrk(WRK_OF_A_WRONG_SERVER)

    def test_small_amounts_have_other_units(self):
        quiet = WRK_OF_A_SERVER_THAT_STOPS.replace("  Socket errors: connect 0, read 0, write 0, "
                                                   "timeout 5\n", "")
        seen = parse_wrk(quiet)
        self.assertAlmostEqual(seen.bytes_per_second, 9.92 * 1024)
        self.assertAlmostEqual(seen.latency_us["mean"], 52.17)

    def test_other_output_is_no_figures(self):
        with self.assertRaisesRegex(Unusable, "no line like"):
            parse_wrk("unable to connect to 127.0.0.1:21500 Connection refused\n")


class EchoClients(unittest.TestCase):
    SEEN = {"requests": 7753, "seconds": 0.5, "processor_seconds": 0.065, "context_switches": 76,
            "latency_us": {"mean": 5224.9, "p50": 4136.9, "p90": 12091.3, "p99": 17235.9}}

    def test_a_run(self):
        seen, cost = parse_echo(json.dumps(self.SEEN | {"system_calls": 689}), 2018)
        self.assertEqual((seen.per_second, seen.bytes_per_second), (15_506, 15_506 * 2018))
        self.assertEqual((cost.processor_seconds, cost.context_switches, cost.system_calls),
                         (0.065, 76, 689))
        told = parse_echo(json.dumps(self.SEEN | {"load_processor_seconds": 0.4, "memory_megabytes": 7}), 512)
        self.assertEqual((told[1].load_processor_seconds, told[1].memory_megabytes), (0.4, 7))

    def test_without_a_count_there_is_a_reason_or_nothing(self):
        self.assertIsNone(parse_echo(json.dumps(self.SEEN), 512)[1].system_calls)
        refused = self.SEEN | {"system_calls_not_counted": "no tracefs"}
        self.assertEqual(parse_echo(json.dumps(refused), 512)[1].system_calls_not_counted,
                         "no tracefs")

    def test_a_server_that_could_not_run_says_why(self):
        with self.assertRaisesRegex(Refused, "no option for a ring"):
            parse_echo('{"cannot_run": "no option for a ring"}', 512)
        with self.assertRaisesRegex(Unusable, "no JSON"):
            parse_echo("", 512)
        with self.assertRaisesRegex(Unusable, "nothing was sent back"):
            parse_echo(json.dumps(self.SEEN | {"requests": 0}), 512)


class Commands(unittest.TestCase):
    def test_who_is_not_installed_is_named_with_the_package_that_brings_it(self):
        with mock.patch("shutil.which", return_value=None):
            self.assertEqual(baseline_clients.missing(find_case("ab_close")),
                             "ab is not installed (Debian package apache2-utils)")
            self.assertIn("wrk", baseline_clients.missing(find_case("wrk_keepalive")))
            self.assertIsNone(baseline_clients.missing(find_case("echo_512")))

    def test_a_hundred_clients_ask_with_and_without_keep_alive(self):
        table = Path("table")
        for name, keeps in (("ab_keepalive", True), ("ab_close", False)):
            command = baseline_clients.ab_command(find_case(name), 20_000, 500, table)
            self.assertEqual("-k" in command, keeps)
            self.assertEqual(command[command.index("-c") + 1], "100")
            self.assertEqual(command[command.index("-n") + 1], "500")
        for name, keeps in (("wrk_keepalive", True), ("wrk_close", False)):
            command = baseline_clients.wrk_command(find_case(name), 20_000, 2)
            self.assertEqual("Connection: close" in command, not keeps)
            self.assertEqual(command[command.index("-d") + 1], "2s")


if __name__ == "__main__":
    unittest.main()
