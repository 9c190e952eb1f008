# SPDX-License-Identifier: BSL-1.0
#
# A number belongs to the machine that it was measured on.
"""Checks what machine.py says of a machine."""

import os
import unittest
from unittest import mock

import machine


class Identity(unittest.TestCase):
    def test_other_cores_are_another_machine(self):
        with mock.patch.object(os, "sched_getaffinity", return_value={0, 1}):
            both = machine.identity()
        with mock.patch.object(os, "sched_getaffinity", return_value={1}):
            one = machine.identity()
        self.assertTrue(both.endswith("cores 0,1") and one.endswith("cores 1"), (both, one))


if __name__ == "__main__":
    unittest.main()
