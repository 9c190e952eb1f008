# SPDX-License-Identifier: BSL-1.0
#
# The named types of a schema as C++: aliases, enumerations, sets, composites.
"""Declares what message_classes.py returns from readers and takes in writers."""

from __future__ import annotations

from dataclasses import dataclass

from sbe_model import Composite, Enum, Schema, Set, Simple, signed


def cpp_primitive(primitive: str) -> str:
    return "char" if primitive == "char" else f"std::{primitive}_t"


def literal(primitive: str, value: int) -> str:
    """A number that has the type `primitive` without a warning, the smallest int64 included."""
    name = cpp_primitive(primitive)
    if primitive == "uint64":
        return f"{name}{{{value}u}}"
    if signed(primitive) and value == -(1 << 63):
        return f"{name}{{-{-(value + 1)} - 1}}"
    return f"{name}{{{value}}}" if primitive != "char" else f"static_cast<char>({value})"


def is_array(type_) -> bool:
    return type_.kind == "simple" and type_.length > 1


@dataclass(frozen=True)
class Names:
    """How the types of a schema are called in C++."""

    schema: Schema
    namespace: str
    bind: str  # The namespace that declares the types already, or nothing.

    def qualified(self, name: str) -> str:
        return f"::{self.namespace}::{name}"

    def cpp_type(self, type_) -> str:
        """The type that a reader returns and a writer takes."""
        if type_.name in self.schema.types and getattr(type_, "presence", "") != "constant":
            return self.qualified(type_.name)
        if type_.kind == "simple" and type_.length > 1:
            return f"std::array<{cpp_primitive(type_.primitive)}, {type_.length}>"
        return cpp_primitive(type_.primitive)


class TypeDeclarations:
    """The declarations, line by line."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.lines: list[str] = []

    def add(self, text: str = "") -> None:
        self.lines.extend(text.split("\n"))

    def text(self) -> str:
        for each in self.declared_types():
            self.type_declaration(each)
        return "\n".join(self.lines)

    def declared_types(self) -> list:
        """What the messages use, in the schema's order; constants need no type."""
        blocks = [m.block for m in self.names.schema.messages]
        blocks += [g.block for m in self.names.schema.messages for g in m.groups]
        used = {f.type.name for block in blocks for f in block.fields}
        used |= {m.type.name for t in self.names.schema.types.values() if t.name in used
                 for m in getattr(t, "members", ())}
        return [t for t in self.names.schema.types.values()
                if t.name in used and getattr(t, "presence", "") != "constant"]

    def type_declaration(self, type_) -> None:
        if isinstance(type_, Simple):
            self.simple_declaration(type_)
        elif isinstance(type_, Enum):
            self.enum_declaration(type_)
        elif isinstance(type_, Set):
            self.set_declaration(type_)
        else:
            self.composite_declaration(type_)
        self.add()

    def simple_declaration(self, it: Simple) -> None:
        primitive = cpp_primitive(it.primitive)
        if it.length > 1:
            self.add(f"using {it.name} = std::array<{primitive}, {it.length}>;")
        elif self.names.bind:
            self.add(f"using {it.name} = ::{self.names.bind}::{it.name};")
            self.add(f"static_assert(sbe::bound_to<{it.name}, {primitive}>);")
        else:
            self.add(f"using {it.name} = {primitive};")

    def enum_declaration(self, it: Enum) -> None:
        primitive = cpp_primitive(it.primitive)
        if it.name == "truth":
            self.add("using truth = bool;")
        elif self.names.bind:
            self.add(f"using {it.name} = ::{self.names.bind}::{it.name};")
            self.add(f"static_assert(sbe::bound_to<{it.name}, {primitive}>);")
            for each in it.values:
                self.add(f"static_assert({it.name}::{each.name} == {it.name}{{{each.value}}});")
        else:
            self.add(f"enum class {it.name} : {primitive} {{")
            for each in it.values:
                self.add(f"    {each.name} = {each.value},")
            self.add(f"    null_value = {it.null},\n}};")
        cases = "".join(f"\n        case {each.value}:" for each in it.values)
        self.add(f"\n[[nodiscard]] constexpr bool is_{it.name}({primitive} raw) noexcept {{\n"
                 f"    switch (raw) {{{cases} return true;\n        default: return false;\n    }}\n}}")

    def set_declaration(self, it: Set) -> None:
        primitive = cpp_primitive(it.primitive)
        known = sum(1 << choice.value for choice in it.choices)
        self.add(f"struct {it.name} {{\n"
                 f"    static constexpr {primitive} known = {literal(it.primitive, known)};\n"
                 f"    {primitive} bits = 0;\n")
        for each in it.choices:
            self.add(f"    [[nodiscard]] constexpr bool {each.name}() const noexcept {{ "
                     f"return (bits >> {each.value} & 1) != 0; }}")
            self.add(f"    constexpr {it.name}& {each.name}(bool on) noexcept {{\n"
                     f"        const auto bit = static_cast<{primitive}>({primitive}{{1}} <<"
                     f" {each.value});\n"
                     f"        bits = static_cast<{primitive}>(on ? bits | bit : bits & ~bit);\n"
                     f"        return *this;\n    }}")
        self.add(f"    friend constexpr bool operator==(const {it.name}&, const {it.name}&)"
                 f" noexcept = default;\n}};")

    def composite_declaration(self, it: Composite) -> None:
        if self.names.bind:
            self.add(f"using {it.name} = ::{self.names.bind}::{it.name};\n")
        else:
            self.add(f"struct {it.name} {{")
            for each in it.members:
                self.add(f"    {self.names.cpp_type(each.type)} {each.name}{{}};")
            self.add(f"    friend constexpr bool operator==(const {it.name}&, const {it.name}&) noexcept"
                     f" = default;\n}};\n")
        self.add(f"[[nodiscard]] constexpr {it.name} load_{it.name}(const std::byte* at) noexcept {{\n"
                 f"    {it.name} it{{}};")
        for each in it.members:
            primitive = cpp_primitive(each.type.primitive)
            self.add(f"    static_assert(sizeof it.{each.name} == {each.type.size});")
            self.add(f"    it.{each.name} = static_cast<decltype(it.{each.name})>"
                     f"(sbe::load<{primitive}>(at + {each.offset}));")
        self.add(f"    return it;\n}}\n\nconstexpr void store_{it.name}(std::byte* at, const {it.name}& it)"
                 f" noexcept {{")
        for each in it.members:
            primitive = cpp_primitive(each.type.primitive)
            self.add(f"    sbe::store(at + {each.offset}, static_cast<{primitive}>(it.{each.name}));")
        self.add("}")
