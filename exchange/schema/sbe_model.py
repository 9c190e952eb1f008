# SPDX-License-Identifier: BSL-1.0
#
# An SBE schema as Python objects: what sbe_schema.py reads and the generator writes C++ from.
"""Types, fields, groups and messages, with every offset computed."""

from __future__ import annotations

from dataclasses import dataclass, field

SIZES = {"char": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2,
         "int32": 4, "uint32": 4, "int64": 8, "uint64": 8}

def signed(primitive: str) -> bool:
    return primitive.startswith("int")


def bounds(primitive: str) -> tuple[int, int, int]:
    """Smallest value, largest value and null value that SBE gives a primitive type."""
    bits = 8 * SIZES[primitive]
    if primitive == "char":
        return 0x20, 0x7E, 0
    if signed(primitive):
        return -(1 << (bits - 1)) + 1, (1 << (bits - 1)) - 1, -(1 << (bits - 1))
    return 0, (1 << bits) - 2, (1 << bits) - 1


def representable(primitive: str, value: int) -> bool:
    bits = 8 * SIZES[primitive]
    low = -(1 << (bits - 1)) if signed(primitive) else 0
    return low <= value < low + (1 << bits)


@dataclass(frozen=True)
class Simple:
    """`<type>`: one number or character, or a fixed array of them."""

    name: str
    primitive: str
    length: int
    presence: str  # "required", "optional" or "constant".
    minimum: int
    maximum: int
    null: int
    constant: str | None
    kind: str = "simple"

    @property
    def size(self) -> int:
        return 0 if self.presence == "constant" else self.length * SIZES[self.primitive]


@dataclass(frozen=True)
class Value:
    name: str
    value: int
    since: int


@dataclass(frozen=True)
class Enum:
    name: str
    primitive: str
    values: tuple[Value, ...]
    null: int
    description: str = ""
    kind: str = "enum"

    @property
    def size(self) -> int:
        return SIZES[self.primitive]


@dataclass(frozen=True)
class Set:
    name: str
    primitive: str
    choices: tuple[Value, ...]  # The value is the number of the bit.
    kind: str = "set"

    @property
    def size(self) -> int:
        return SIZES[self.primitive]


@dataclass(frozen=True)
class Member:
    name: str
    type: Simple | Enum
    offset: int


@dataclass(frozen=True)
class Composite:
    name: str
    members: tuple[Member, ...]
    description: str = ""
    kind: str = "composite"

    @property
    def size(self) -> int:
        return max((m.offset + m.type.size for m in self.members), default=0)


@dataclass(frozen=True)
class Field:
    id: int
    name: str
    type: Simple | Enum | Set | Composite
    offset: int
    presence: str
    since: int
    constant: str | None = None
    description: str = ""

    @property
    def size(self) -> int:
        return 0 if self.presence == "constant" else self.type.size


@dataclass(frozen=True)
class Block:
    """The fields of a message, or of an entry of a group."""

    fields: tuple[Field, ...]
    length: int

    def length_at(self, version: int) -> int:
        """What a sender of that version has to send at least."""
        return max((f.offset + f.size for f in self.fields if f.since <= version), default=0)

    def versions(self, above: int = 0) -> list[int]:
        return sorted({f.since for f in self.fields if f.since > above})


@dataclass(frozen=True)
class Group:
    id: int
    name: str
    block: Block
    dimension: Composite
    since: int
    description: str = ""


@dataclass(frozen=True)
class Message:
    id: int
    name: str
    block: Block
    groups: tuple[Group, ...]
    since: int
    description: str


@dataclass
class Schema:
    package: str
    id: int
    version: int
    types: dict[str, Simple | Enum | Set | Composite] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
