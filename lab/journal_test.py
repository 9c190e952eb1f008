# SPDX-License-Identifier: BSL-1.0
#
# What was measured for hours must not depend on what happened after it.
"""Interrupts runs, and looks at what is left."""

import json
import tempfile
import unittest
from pathlib import Path

from journal import Journal, OtherConditions, fingerprint

CONDITIONS = {"scale": "full", "rounds": 5}


class Interrupted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.result = self.folder / "results" / "all.json"

    def open(self, **conditions) -> Journal:
        return Journal(self.result, CONDITIONS | conditions)

    def add(self, journal: Journal, case: str) -> None:
        journal.add({"suite": "echo", "case": case, "rows": [1.5]})

    def test_cases_are_found_again(self):
        journal = self.open()
        self.add(journal, "64_1")
        self.add(journal, "64_16")
        again = self.open()
        self.assertEqual(len(again), 2)
        self.assertEqual(again.find("echo", "64_16"),
                         {"suite": "echo", "case": "64_16", "rows": [1.5]})
        self.assertIsNone(again.find("echo", "64_100"))
        self.assertIsNone(again.find("latency", "64_1"))

    def test_a_line_that_was_cut_off_is_measured_again_and_spoils_nothing(self):
        journal = self.open()
        self.add(journal, "64_1")
        self.add(journal, "64_16")
        text = journal.path.read_text(encoding="utf-8")
        journal.path.write_text(text[:-5], encoding="utf-8")
        again = self.open()
        self.assertEqual(len(again), 1)
        self.add(again, "64_16")
        self.assertEqual(len(self.open()), 2)

    def test_one_that_was_cut_off_at_once_says_so(self):
        journal = self.open()
        journal.path.write_text('{"scale"', encoding="utf-8")
        with self.assertRaises(OtherConditions):
            self.open()

    def test_other_conditions_are_named_and_nothing_is_lost(self):
        self.add(self.open(), "64_1")
        with self.assertRaisesRegex(OtherConditions, "rounds was 5 and is 3"):
            self.open(rounds=3)
        self.assertEqual(len(self.open()), 1)

    def test_a_whole_run_leaves_no_journal(self):
        journal = self.open()
        self.add(journal, "64_1")
        journal.finish()
        self.assertFalse(journal.path.exists())
        self.assertEqual(len(self.open()), 0)

    def test_without_a_result_nothing_is_written(self):
        journal = Journal(None, CONDITIONS)
        self.add(journal, "64_1")
        self.assertEqual(journal.find("echo", "64_1")["rows"], [1.5])
        journal.finish()
        self.assertEqual(list(self.folder.iterdir()), [])


class Fingerprints(unittest.TestCase):
    def test_they_are_of_names_and_contents_in_any_order(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two = Path(folder) / "one", Path(folder) / "two"
            one.write_bytes(b"1")
            two.write_bytes(b"2")
            whole = fingerprint([one, two])
            self.assertEqual(whole, fingerprint([two, one]))
            two.write_bytes(b"3")
            self.assertNotEqual(whole, fingerprint([one, two]))
            self.assertNotEqual(fingerprint([one]), fingerprint([two]))
            self.assertNotEqual(fingerprint([one]), fingerprint([one, Path(folder) / "none"]))


class Lines(unittest.TestCase):
    def test_each_is_json_by_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            journal = Journal(Path(folder) / "a.json", CONDITIONS)
            journal.add({"suite": "echo", "case": "two\nlines"})
            lines = journal.path.read_text(encoding="utf-8").splitlines()
            self.assertEqual([json.loads(each) for each in lines],
                             [CONDITIONS, {"suite": "echo", "case": "two\nlines"}])


if __name__ == "__main__":
    unittest.main()
