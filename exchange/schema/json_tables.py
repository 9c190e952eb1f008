#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The same contract for programs that speak JSON: no second list of fields that somebody has to keep.
"""Turns an SBE schema into one C++20 header of constants, of exchange/codec/json_schema.hpp.

    json_tables.py SCHEMA.xml --namespace NS -o OUT.hpp

Refused with a clear error, because no message of ours needs it: sets, arrays of numbers, more than one group
in a message, and names that the JSON itself uses.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sbe_model import Block, Composite, Enum, Message, Schema, Simple, signed
from sbe_schema import SchemaError, read_schema

RESERVED = {"message", "sequence"}  # Keys of every message.
EXACT = (1 << 53) - 1  # JavaScript's numbers are exact up to here.
FIELDS_MAX = 32


def bits(value: int) -> str:
    return f"0x{value & ((1 << 64) - 1):x}"


def truth(value: bool) -> str:
    return "true" if value else "false"


class Tables:
    """One header, line by line."""

    def __init__(self, schema: Schema, namespace: str, source: str) -> None:
        self.schema = schema
        self.namespace = namespace
        self.source = source
        self.declared: set[str] = set()
        self.lines: list[str] = []

    def add(self, text: str) -> None:
        self.lines.extend(text.split("\n"))

    def text(self) -> str:
        self.add("// SPDX-" + "License-Identifier: BSL-1.0\n//")  # Not of this file.
        self.add(f"// Generated from {self.source} by json_tables.py: change the schema instead.\n"
                 f"#pragma once\n\n#include <exchange/codec/json_schema.hpp>\n\n"
                 f"namespace {self.namespace}::json_tables {{\n")
        for message in self.schema.messages:
            self.message(message)
        self.add("inline constexpr schema_tables::message messages[] = {")
        for message in self.schema.messages:
            group = f"&{message.name}_list" if message.groups else "nullptr"
            self.add(f'    {{"{message.name}", {message.id}, {message.block.length},'
                     f" {self.fields_of(message.name, message.block)}, {group}}},")
        self.add("};\n")
        self.add(f"}}  // namespace {self.namespace}::json_tables\n\nnamespace {self.namespace} {{\n")
        self.add("/// All messages of the schema.")
        self.add(f"inline constexpr schema_tables::schema json_schema{{{self.schema.id},"
                 f" {self.schema.version},"
                 f" json_tables::messages}};\n\n}}  // namespace {self.namespace}")
        return "\n".join(self.lines) + "\n"

    @staticmethod
    def fields_of(name: str, block: Block) -> str:
        return f"{name}_fields" if shown(block) else "{}"

    def message(self, it: Message) -> None:
        if len(it.groups) > 1:
            raise SchemaError(f"message `{it.name}`: JSON of several groups is not understood")
        taken = {f.name for f in it.block.fields} | {g.name for g in it.groups}
        for name in RESERVED & taken:
            raise SchemaError(f"message `{it.name}`: JSON needs the name `{name}`")
        self.block(it.name, it.block)
        for group in it.groups:
            self.block(f"{it.name}_{group.name}", group.block)
            self.add(f'inline constexpr schema_tables::group {it.name}_list{{"{group.name}",'
                     f' {group.block.length},'
                     f' {self.fields_of(f"{it.name}_{group.name}", group.block)}}};\n')

    def block(self, name: str, block: Block) -> None:
        fields = shown(block)
        if len(fields) > FIELDS_MAX:
            raise SchemaError(f"`{name}`: JSON of more than {FIELDS_MAX} fields is not understood")
        for each in fields:
            self.declare(each.type)
        if not fields:
            return
        self.add(f"inline constexpr schema_tables::field {name}_fields[] = {{")
        for each in fields:
            self.add(f"    {self.field(each.name, each.offset, each.type, each.presence)},")
        self.add("};\n")

    def declare(self, type_) -> None:
        """Names of an enum's values, members of a composite: once."""
        if type_.name in self.declared or type_.kind == "simple":
            return
        self.declared.add(type_.name)
        if isinstance(type_, Enum) and type_.name != "truth":
            self.add(f"inline constexpr schema_tables::value_name {type_.name}_names[] = {{")
            for each in type_.values:
                self.add(f'    {{"{each.name}", {each.value}}},')
            self.add("};\n")
        elif isinstance(type_, Composite):
            for each in type_.members:
                self.declare(each.type)
            self.add(f"inline constexpr schema_tables::field {type_.name}_members[] = {{")
            for each in type_.members:
                presence = getattr(each.type, "presence", "required")
                self.add(f"    {self.field(each.name, each.offset, each.type, presence)},")
            self.add("};\n")

    def field(self, name: str, offset: int, type_, presence: str) -> str:
        optional = truth(presence == "optional")
        start = f'{{"{name}", {offset}, {type_.size}'
        if isinstance(type_, Composite):
            return (f"{start}, schema_tables::form::object, false, false, 0, 0, 0, {{}},"
                    f" {type_.name}_members}}")
        if isinstance(type_, Enum):
            if type_.name == "truth":
                return (f"{start}, schema_tables::form::truth, false, {optional}, {type_.null}, 0, 0, {{}},"
                        f" {{}}}}")
            return (f"{start}, schema_tables::form::name, false, {optional}, {type_.null}, 0, 0,"
                    f" {type_.name}_names, {{}}}}")
        if not isinstance(type_, Simple):
            raise SchemaError(f"field `{name}`: JSON of a {type_.kind} is not understood")
        if type_.primitive == "char":
            return f"{start}, schema_tables::form::text, false, {optional}, 0, 0, 0, {{}}, {{}}}}"
        if type_.length > 1:
            raise SchemaError(f"field `{name}`: JSON of an array of numbers is not understood")
        form = "integer" if signed(type_.primitive) else "natural"
        quoted = truth(type_.minimum < -EXACT or type_.maximum > EXACT)
        return (f"{start}, schema_tables::form::{form}, {quoted}, {optional}, {bits(type_.null)},"
                f" {bits(type_.minimum)}, {bits(type_.maximum)}, {{}}, {{}}}}")


def shown(block: Block) -> list:
    """A constant is no part of what is said."""
    return [f for f in block.fields if f.presence != "constant"]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Turns an SBE schema into tables for its JSON.")
    parser.add_argument("schema", type=Path)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    try:
        text = Tables(read_schema(options.schema), options.namespace, options.schema.name).text()
    except SchemaError as error:
        print(f"json_tables: {error}", file=sys.stderr)
        return 1
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
