# SPDX-License-Identifier: BSL-1.0
"""What a judge says: a line for each verdict, and how many of them hold."""

from __future__ import annotations


class Verdicts:
    def __init__(self) -> None:
        self.judged = self.wrong = 0

    def note(self, what: str, holds: bool, otherwise: object = "") -> None:
        self.judged += 1
        self.wrong += not holds
        print(f"{'ok  ' if holds else 'BAD '} {what}{'' if holds else f': {otherwise}'}", flush=True)

    def status(self) -> int:
        """Says how many hold; yields what the program ends with."""
        print(f"{self.judged - self.wrong} of {self.judged} verdicts hold")
        return 1 if self.wrong else 0
