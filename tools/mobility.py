# SPDX-License-Identifier: BSL-1.0
"""Which classes of headers are move-only, and which immovable, as far as their declarations tell.

For tools/reference.py. A class tells by its own constructors, else by its bases and members: what is in a
container of the standard's is not looked into. Left out is what can be copied, and what is not sure.
"""

import re
from collections import Counter

# A class, what it is derived from, and what is in it: in a line, or up to a brace in the first column.
BODY = re.compile(r"^(class|struct|enum class) (\w+)\b(?!(?:<[^;{:]*>)?::)([^;{]*)"
                  r"\{(?:([^\n{}]*)\};|\n(.*?)^\};)", re.MULTILINE | re.DOTALL)
BASE = re.compile(r"(public |(?<=[:,] )(?!public|protected|private|virtual))(?:\w+::)*(\w+)")
ACCESS = re.compile(r"^(public|protected|private):$", re.MULTILINE)
FIELD = re.compile(r"^    (?!using|static|friend|return|constexpr)(?:mutable |const )?((?:std::)?\w+)"
                   r"(<[^;()]*>)?\s+\w+(?:| = [^;()]*|\{[^;]*\}|\[\w+\]);", re.MULTILINE)
INNER = re.compile(r"^    (?:enum class|class|struct|using) (\w+)", re.MULTILINE)
OF_STD = {"std::unique_ptr": "move-only", "std::thread": "move-only", "std::atomic": "immovable",
          "std::mutex": "immovable", "std::condition_variable": "immovable", "std::once_flag": "immovable"}
WRAPPERS = ("std::array", "std::optional", "std::pair", "std::tuple", "std::variant")  # As what is in them.


def special_members(name: str, body: str) -> list[re.Match]:
    """Copy and move constructor, with their `const`, `&` or `&&`, and what follows; and the destructor."""
    return list(re.finditer(rf"^    (?:constexpr )?(?:{name}\((const )?{name}(?:<[^()]*>)?(&&?)(?: \w+)?\)"
                            rf"([^;{{:]*)|(?:virtual )?~{name}\()", body, re.MULTILINE))


def parts_of(heading: str, body: str) -> tuple[set[str], set[str]]:
    """The classes that one is derived from or has as a member, and those that may be in a member."""
    inner = set(INNER.findall(body))
    fields = FIELD.findall(body)
    within = {part for outer, arguments in fields if outer in WRAPPERS
              for part in re.findall(r"(?:std::)?\w+", arguments)}
    return {base for _, base in BASE.findall(heading)} | {outer for outer, _ in fields} - inner, within


def mobility_in(text: str) -> dict[str, str]:
    """`move-only` or `immovable` by class; nothing of a name that several classes have."""
    classes = [match for match in BODY.finditer(text) if match[1] != "enum class"]
    times = Counter(match[2] for match in classes)
    found: dict[str, str] = {}
    untold: dict[str, tuple[set[str], set[str]]] = {}
    destroyed: set[str] = set()  # With a destructor of its own, and so without a move.
    hidden: set[str] = set()  # Moved by what is derived from it alone, or not sure.
    for match in classes:
        name, body = match[2], f"{match[4] or match[5] or ''}\n"
        if times[name] > 1:
            continue
        special = special_members(name, body)
        usable = {each[2]: "delete" not in each[3] for each in special if each[2]}
        if not usable:
            untold[name] = parts_of(match[3], body)
            destroyed |= {name} if special else set()
        elif not usable.get("&", False):
            found[name] = "move-only" if usable.get("&&", False) else "immovable"
        if any((ACCESS.findall(body[: each.start()]) or ["public"])[-1] != "public" for each in special):
            hidden.add(name)
    before: dict[str, str] = {"": ""}
    while before != found:
        before = dict(found)
        known = {**OF_STD, **found}
        for name, (parts, within) in untold.items():
            told = {known[part] for part in parts & known.keys()}
            if within & known.keys():
                hidden.add(name)
            elif told:
                found[name] = "immovable" if "immovable" in told or name in destroyed else "move-only"
    return {name: moves for name, moves in found.items() if name not in hidden}
