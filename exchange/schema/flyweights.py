#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The schema is the contract; this makes C++ of it, so that no offset is written by hand.
"""Turns an SBE schema into one C++20 header of readers and writers.

    flyweights.py SCHEMA.xml --namespace NS [--bind NS2 --include HEADER...] [--beside FIELD...] -o OUT.hpp

A reader looks at bytes that it has checked once; a writer fills bytes of exactly the right size. Neither
owns memory, throws, or calls anything but the loads and stores of exchange/codec/sbe.hpp.

`--bind` takes the schema's named types from a namespace instead of declaring them: an enum there must
have the same enumerators and numbers, which the header asserts. The enum `truth` is `bool`.
`--beside` names fields that the program's records do not have: `copy_from` and `copy_to` skip them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cpp_types import Names, TypeDeclarations
from message_classes import TAKEN, MessageClasses
from sbe_model import Message
from sbe_schema import SchemaError, read_schema

KEYWORDS = set(
    "alignas alignof and asm auto bool break case catch char class const continue default delete do double "
    "else enum explicit export extern false float for friend goto if inline int long mutable namespace new "
    "not operator or private protected public register return short signed sizeof static struct switch "
    "template this throw true try typedef typename union unsigned using virtual void volatile while"
    " xor".split()
)


class Header:
    """One generated header, line by line."""

    def __init__(self, names: Names, includes: list[str], beside: list[str], source: str) -> None:
        self.names = names
        self.schema = names.schema
        self.includes = includes
        self.beside = frozenset(beside)
        self.source = source
        self.lines: list[str] = []

    def add(self, text: str = "") -> None:
        self.lines.extend(text.split("\n"))

    def text(self) -> str:
        self.check_names()
        self.preamble()
        self.add(TypeDeclarations(self.names).text())
        for message in self.schema.messages:
            self.add(MessageClasses(self.names, self.beside).text(message))
        self.dispatch()
        self.add(f"}}  // namespace {self.names.namespace}")
        for message in self.schema.messages if self.names.bind else []:
            self.wire(message)
        return "\n".join(self.lines) + "\n"

    def check_names(self) -> None:
        names = list(self.schema.types)
        for type_ in self.schema.types.values():
            names += [v.name for v in getattr(type_, "values", ())]
            names += [c.name for c in getattr(type_, "choices", ())]
            names += [m.name for m in getattr(type_, "members", ())]
        for message in self.schema.messages:
            fields = [f.name for f in message.block.fields]
            for group in message.groups:
                fields += [group.name] + [f.name for f in group.block.fields]
            for name in TAKEN.intersection(fields):
                raise SchemaError(f"message `{message.name}`: generated classes need the name `{name}`")
            names += [message.name, *fields]
        for name in KEYWORDS.intersection(names):
            raise SchemaError(f"`{name}` is a keyword of C++")

    def preamble(self) -> None:
        self.add("// SPDX-" + "License-Identifier: BSL-1.0\n//")  # Not of this file.
        self.add(f"// Generated from {self.source} by flyweights.py: change the schema instead.\n"
                 f"#pragma once\n")
        for include in ["exchange/codec/sbe.hpp", *self.includes]:
            self.add(f"#include <{include}>")
        self.add("\n#include <gyre/base/check.hpp>\n")
        for include in ("array", "cstddef", "cstdint", "span", "type_traits"):
            self.add(f"#include <{include}>")
        self.add(f"\nnamespace {self.names.namespace} {{\n")
        self.add("namespace sbe = ::exchange::sbe;\n")
        self.add(f"inline constexpr std::uint16_t schema_id = {self.schema.id};")
        self.add(f"inline constexpr std::uint16_t schema_version = {self.schema.version};\n")

    def wire(self, it: Message) -> None:
        """From the program's record to its flyweights; the reader itself knows the way back."""
        self.add(f"\ntemplate <>\nstruct exchange::sbe::wire<::{self.names.bind}::{it.name}> {{\n"
                 f"    using reader = {self.names.qualified(it.name)}_reader;\n"
                 f"    using writer = {self.names.qualified(it.name)}_writer;\n}};")

    def dispatch(self) -> None:
        self.add("/// Checks one whole message, header included, and calls `visitor(reader)` with"
                 " its reader.\n"
                 "///\n"
                 "/// @param  bytes    The message and nothing else; a younger sender may have"
                 " added to its end.\n"
                 "/// @param  visitor  Takes any reader of this schema, returns a `sbe::decode_fault`.\n"
                 "template <class Visitor>\n"
                 "constexpr sbe::decode_fault read_message(std::span<const std::byte> bytes,"
                 " Visitor&& visitor) {\n"
                 "    using enum sbe::decode_error;\n"
                 "    if (bytes.size() < sbe::header_bytes) return {header_truncated, 0};\n"
                 "    const sbe::message_header header ="
                 " sbe::load_header(bytes.first<sbe::header_bytes>());\n"
                 "    if (header.schema_id != schema_id) return {unknown_schema, 0};\n"
                 "    const auto body = bytes.subspan(sbe::header_bytes);\n"
                 "    const auto read = [&]<class Reader>(Reader reader) -> sbe::decode_fault {\n"
                 "        if (const auto fault = reader.wrap(header, body)) return fault;\n"
                 "        const bool younger = header.version > schema_version;\n"
                 "        if (reader.size() < body.size() && !younger) return {trailing_bytes, 0};\n"
                 "        if (const auto fault = reader.fault()) return fault;\n"
                 "        return visitor(reader);\n    };\n"
                 "    switch (header.template_id) {")
        for each in self.schema.messages:
            self.add(f"        case {each.name}_reader::template_id: return read({each.name}_reader{{}});")
        self.add("        default: return {unknown_template, 0};\n    }\n}\n")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Turns an SBE schema into a C++ header.")
    parser.add_argument("schema", type=Path)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--bind", default="", metavar="NAMESPACE", help="take named types from there")
    parser.add_argument("--include", action="append", default=[], metavar="HEADER")
    parser.add_argument("--beside", action="append", default=[], metavar="FIELD")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    try:
        schema = read_schema(options.schema)
        names = Names(schema, options.namespace, options.bind)
        text = Header(names, options.include, options.beside, options.schema.name).text()
    except SchemaError as error:
        print(f"flyweights: {error}", file=sys.stderr)
        return 1
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
