# SPDX-License-Identifier: BSL-1.0
"""Tests of mobility.py: a class for each way of being copied, moved or left where it is."""

import mobility
import pytest

OTHERS = """\
class fixed {
    fixed(const fixed&) = delete;
};

class moving {
    moving(moving&&);
};

"""


@pytest.mark.parametrize(("declared", "moves"), [
    ("int size = 0;", ""),
    ("it(it&&) noexcept = default;", "move-only"),
    ("it(it&& other) noexcept : a_{other.a_} {}", "move-only"),
    ("it(const it&) = delete;", "immovable"),
    ("it(const it&) = delete;\n    it(it&&) noexcept;", "move-only"),
    ("it(const it&) = default;\n    it(it&&) noexcept = default;", ""),
    ("it(it&&) = delete;", "immovable"),
    ("std::unique_ptr<int> one_;", "move-only"),
    ("std::atomic<int> one_{0};", "immovable"),
    ("fixed one_;", "immovable"),
    ("moving one_;", "move-only"),
    ("moving* one_ = nullptr;\n    fixed& other_;", ""),
    ("moving one_;\n    ~it();", "immovable"),  # No move is declared, and no copy can be made.
    ("enum class fixed { no };\n    fixed one_ = fixed::no;", ""),
    ("std::array<moving, 2> one_;\n    std::unique_ptr<int> other_;", ""),  # Not looked into.
    ("std::vector<fixed> one_;", ""),
    ("int a_ = 0;\n\nprotected:\n    it(it&&) noexcept = default;", ""),  # What is derived from it moves.
])
def test_a_class_moves_as_its_constructors_bases_and_members_do(declared, moves):
    text = f"{OTHERS}class it {{\npublic:\n    {declared}\n}};\n"
    assert mobility.mobility_in(text).get("it", "") == moves


def test_a_class_moves_as_its_base_but_for_one_of_two_with_a_name():
    base = "class base {\nprotected:\n    base(base&&) noexcept = default;\n};\n\n"
    derived = "class it final : public base {\n    int size_ = 0;\n};\n"
    assert mobility.mobility_in(base + derived) == {"it": "move-only"}
    assert mobility.mobility_in(base + derived + derived) == {}
