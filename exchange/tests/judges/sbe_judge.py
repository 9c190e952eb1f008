# SPDX-License-Identifier: BSL-1.0
#
# The reference generator of SBE reads the same schemas: do its codecs and ours mean the same bytes?
"""Generates C++ from our schemas with uk.co.real-logic:sbe-all, writes and compiles a program that encodes
random messages with its code and with ours, and compares: the bytes, and each field that either reads
from what the other wrote.

    sbe_judge.py --generated DIR --compiler CXX --work DIR

DIR holds <exchange/schema/*.hpp>. Needs java, and mvn to fetch the generator (or SBE_ALL_JAR, its path).
Ends with 77, which ctest takes for skipped, if they are missing.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "exchange" / "schema"))

from sbe_model import Composite, Enum, Field, Group, Message, Simple  # noqa: E402
from sbe_schema import read_schema  # noqa: E402

SKIPPED = 77
ARTIFACT = "uk.co.real-logic:sbe-all:1.30.0"
SCHEMAS = ("order_entry", "market_data", "administration", "market_data_session")
ROUNDS = 2000
ENTRIES = 3  # In each group.

PROLOGUE = """// Written by sbe_judge.py.
#include <array>
#include <cstdio>
#include <cstring>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>
%(includes)s

static std::mt19937_64 engine{%(seed)s};
static unsigned long compared = 0;
static unsigned long differing = 0;

static std::int64_t between(std::int64_t low, std::int64_t high) {
    const std::uint64_t first = static_cast<std::uint64_t>(low);
    const std::uint64_t width = static_cast<std::uint64_t>(high) - first + 1;
    const std::int64_t extremes[] = {low, high};
    if (engine() %% 4 == 0) return extremes[engine() %% 2];
    return static_cast<std::int64_t>(first + (width ? engine() %% width : engine()));
}

template <std::size_t Count>
static std::int64_t one_of(const std::int64_t (&values)[Count]) { return values[engine() %% Count]; }

template <class Left, class Right>
static void same(const char* what, Left left, Right right) {
    ++compared;
    if (static_cast<std::int64_t>(left) == static_cast<std::int64_t>(right)) return;
    if (++differing < 20) std::printf("%%s differs\\n", what);
}

template <std::size_t Count>
static std::array<char, Count> text() {
    std::array<char, Count> characters;
    for (char& each : characters) each = static_cast<char>(engine());
    return characters;
}

template <std::size_t Count>
static void same_text(const char* what, const char* left, const std::array<char, Count>& right) {
    ++compared;
    if (std::memcmp(left, right.data(), Count) == 0) return;
    if (++differing < 20) std::printf("%%s differs\\n", what);
}

static void same_bytes(const char* what, const std::vector<char>& left, const std::vector<char>& right) {
    ++compared;
    if (left == right) return;
    if (++differing < 20) std::printf("bytes of %%s differ\\n", what);
}

static std::span<const std::byte> as_bytes(const std::vector<char>& bytes) {
    return std::as_bytes(std::span{bytes});
}
"""


def class_name(name: str) -> str:
    return name[0].upper() + name[1:]


def leaves(field: Field):
    """Path and type of each number, or text, in a field."""
    if isinstance(field.type, Composite):
        return [((field.name, m.name), m.type) for m in field.type.members]
    return [((field.name,), field.type)]


def is_text(type_) -> bool:
    return isinstance(type_, Simple) and type_.length > 1


def random_value(type_) -> str:
    if isinstance(type_, Enum):
        return "one_of({" + ", ".join(f"std::int64_t{{{v.value}}}" for v in type_.values) + "})"
    least = type_.minimum + 1 if type_.minimum == type_.null else type_.minimum
    return f"between({least}, static_cast<std::int64_t>({type_.maximum}u))" if type_.primitive == "uint64" \
        else f"between({least}, {type_.maximum})"


class Comparison:
    """The function that compares one message."""

    def __init__(self, schema: str, message: Message) -> None:
        self.schema = schema
        self.message = message
        self.lines: list[str] = []

    def text(self) -> str:
        name = f"{self.schema}_{self.message.name}"
        self.lines = [f"static void compare_{name}() {{"]
        self.values()
        self.ours()
        self.theirs()
        self.lines.append(f'    same_bytes("{name}", ours, theirs);')
        self.read_theirs()
        self.read_ours()
        return "\n".join(self.lines) + "\n}\n"

    def add(self, text: str) -> None:
        self.lines.append("    " + text)

    def blocks(self):
        """The message's fields, then those of each entry of each group: a prefix and fields."""
        yield "", self.message.block.fields
        for group in self.message.groups:
            for entry in range(ENTRIES):
                yield f"{group.name}{entry}_", group.block.fields

    def values(self) -> None:
        for prefix, fields in self.blocks():
            for field in fields:
                for path, type_ in leaves(field):
                    name = f"{prefix}{'_'.join(path)}"
                    self.add(f"const auto {name} = text<{type_.length}>();" if is_text(type_)
                             else f"const std::int64_t {name} = {random_value(type_)};")

    def ours(self) -> None:
        writer = f"exchange::{self.schema}::{self.message.name}_writer"
        if self.message.groups:
            self.add(f"std::vector<char> ours({writer}::message_bytes({ENTRIES}));")
            self.add(f"{writer} writer{{std::as_writable_bytes(std::span{{ours}}), {ENTRIES}}};")
        else:
            self.add(f"std::vector<char> ours({writer}::message_bytes);")
            self.add(f"{writer} writer{{std::as_writable_bytes(std::span{{ours}})"
                     f".first<{writer}::message_bytes>()}};")
        for field in self.message.block.fields:
            self.add(f"writer.{field.name}({self.our_value(field, '')});")
        for group in self.message.groups:
            for entry in range(ENTRIES):
                for field in group.block.fields:
                    value = self.our_value(field, f"{group.name}{entry}_", group)
                    self.add(f"writer.{group.name}({entry}).{field.name}({value});")

    def our_value(self, field: Field, prefix: str, group: Group | None = None) -> str:
        if not isinstance(field.type, Composite):
            inner = f"_{group.name}_entry" if group else ""
            reader = f"std::declval<exchange::{self.schema}::{self.message.name}{inner}_reader>()"
            return f"static_cast<decltype({reader}.{field.name}())>({prefix}{field.name})"
        type_ = f"exchange::{self.schema}::{field.type.name}"
        members = ", ".join(f"static_cast<decltype({type_}::{m.name})>({prefix}{field.name}_{m.name})"
                            for m in field.type.members)
        return f"{type_}{{{members}}}"

    def their_class(self) -> str:
        return f"reference_{self.schema}::{class_name(self.message.name)}"

    def theirs(self) -> None:
        self.add("std::vector<char> theirs(ours.size());")
        self.add(f"{self.their_class()} message;")
        self.add("message.wrapAndApplyHeader(theirs.data(), 0, theirs.size());")
        self.set_theirs("message", self.message.block.fields, "")
        for group in self.message.groups:
            self.add(f"auto& {group.name} = message.{group.name}Count({ENTRIES});")
            for entry in range(ENTRIES):
                self.add(f"{group.name}.next();")
                self.set_theirs(group.name, group.block.fields, f"{group.name}{entry}_")

    def set_theirs(self, target: str, fields, prefix: str) -> None:
        for field in fields:
            for path, type_ in leaves(field):
                holder = ".".join([target, *(f"{p}()" for p in path[:-1])])
                value = f"{prefix}{'_'.join(path)}"
                if is_text(type_):
                    self.add(f"{holder}.put{class_name(path[-1])}({value}.data());")
                    continue
                cast = (f"reference_{self.schema}::{class_name(type_.name)}::Value"
                        if isinstance(type_, Enum) else f"std::{type_.primitive}_t")
                self.add(f"{holder}.{path[-1]}(static_cast<{cast}>({value}));")

    def read_theirs(self) -> None:
        """With our reader."""
        self.add(f"const auto fault = exchange::{self.schema}::read_message(as_bytes(theirs), "
                 f"[&](const auto& reader) -> exchange::decode_fault {{")
        self.add(f"    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(reader)>, "
                 f"exchange::{self.schema}::{self.message.name}_reader>) {{")
        for field in self.message.block.fields:
            self.check("reader", field, "", "()")
        for group in self.message.groups:
            for entry in range(ENTRIES):
                for field in group.block.fields:
                    self.check(f"reader.{group.name}({entry})", field, f"{group.name}{entry}_", "()")
        self.add("    } else ++differing;")
        self.add("    return {};")
        self.add("});")
        self.add(f'same("fault of {self.message.name}", fault.error, 0);')

    def check(self, target: str, field: Field, prefix: str, call: str) -> None:
        for path, type_ in leaves(field):
            member = ".".join([path[0] + call, *path[1:]])
            same, data = ("same_text", ".data()") if is_text(type_) else ("same", "")
            self.add(f'        {same}("{field.name} of {self.message.name}", {target}.{member}{data}, '
                     f"{prefix}{'_'.join(path)});")

    def read_ours(self) -> None:
        """With their reader."""
        header = f"reference_{self.schema}::MessageHeader"
        self.add(f"{header} header{{ours.data(), ours.size()}};")
        for name, value in (("templateId", self.message.id), ("version", 0),
                            ("blockLength", self.message.block.length)):
            self.add(f'same("{name} of {self.message.name}", header.{name}(), {value});')
        self.add(f"{self.their_class()} read;")
        self.add(f"read.wrapForDecode(ours.data(), {header}::encodedLength(), header.blockLength(), "
                 f"header.version(), ours.size());")
        self.check_ours("read", self.message.block.fields, "")
        for group in self.message.groups:
            self.add(f"auto& read_{group.name} = read.{group.name}();")
            self.add(f'same("count of {group.name}", read_{group.name}.count(), {ENTRIES});')
            for entry in range(ENTRIES):
                self.add(f"read_{group.name}.next();")
                self.check_ours(f"read_{group.name}", group.block.fields, f"{group.name}{entry}_")

    def check_ours(self, target: str, fields, prefix: str) -> None:
        for field in fields:
            for path, type_ in leaves(field):
                member = ".".join(f"{p}()" for p in path)
                same = "same_text" if is_text(type_) else "same"
                self.add(f'{same}("{field.name} of {self.message.name}", {target}.{member}, '
                         f"{prefix}{'_'.join(path)});")


def program(seed: int) -> str:
    includes, functions, calls = [], [], []
    for name in SCHEMAS:
        schema = read_schema(ROOT / "exchange" / "schema" / f"{name}.xml")
        includes.append(f"#include <exchange/schema/{name}.hpp>")
        for message in schema.messages:
            includes.append(f'#include "reference_{name}/{class_name(message.name)}.h"')
            functions.append(Comparison(name, message).text())
            calls.append(f"        compare_{name}_{message.name}();")
    main = "\n".join(["int main() {", f"    for (int round = 0; round < {ROUNDS}; ++round) {{",
                      *calls, "    }",
                      f'    std::printf("{len(calls)} messages x {ROUNDS}: %lu comparisons, %lu differ\\n", '
                      "compared, differing);", "    return differing == 0 && compared > 0 ? 0 : 1;", "}", ""])
    return PROLOGUE % {"includes": "\n".join(includes), "seed": seed} + "\n".join(functions) + main


def fetch(work: Path) -> Path | None:
    """The generator, from SBE_ALL_JAR, from an earlier run, or from Maven's repository."""
    if given := os.environ.get("SBE_ALL_JAR"):
        return Path(given)
    jar = work / (ARTIFACT.split(":")[1] + "-" + ARTIFACT.split(":")[2] + ".jar")
    if not jar.exists() and shutil.which("mvn"):
        subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}",
                        f"-DoutputDirectory={work}"], check=False)
    return jar if jar.exists() else None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Compares our SBE codecs with the reference generator's.")
    parser.add_argument("--generated", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    options = parser.parse_args(arguments)
    if shutil.which("java") is None:
        print("skipped: java is not installed")
        return SKIPPED
    options.work.mkdir(parents=True, exist_ok=True)
    jar = fetch(options.work)
    if jar is None:
        print(f"skipped: {ARTIFACT} could not be fetched")
        return SKIPPED

    for name in SCHEMAS:
        subprocess.run(["java", "-Dsbe.target.language=Cpp", "-Dsbe.xinclude.aware=true",
                        f"-Dsbe.target.namespace=reference_{name}", f"-Dsbe.output.dir={options.work}",
                        "-jar", str(jar), str(ROOT / "exchange" / "schema" / f"{name}.xml")], check=True)
    print(f"seed {options.seed}")
    source = options.work / "compare.cpp"
    source.write_text(program(options.seed))
    binary = options.work / "compare.program"
    subprocess.run([options.compiler, "-std=c++20", "-O1", "-w", f"-I{ROOT}", f"-I{ROOT / 'include'}",
                    f"-I{options.generated}", f"-I{options.work}", str(source),
                    str(ROOT / "src" / "base" / "check.cpp"), f"-I{ROOT / 'src'}", "-o", str(binary)],
                   check=True)
    return subprocess.run([str(binary)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
