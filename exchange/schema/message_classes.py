# SPDX-License-Identifier: BSL-1.0
#
# The messages of a schema as C++: a reader and a writer for each, and for each group's entries.
"""Generates classes over borrowed bytes. A reader's `wrap` checks what its getters then rely on; `fault`
finds the first field whose value the schema does not allow."""

from __future__ import annotations

from cpp_types import Names, cpp_primitive, is_array, literal
from sbe_model import Block, Field, Group, Message, Simple, bounds

# What the generated classes call their own.
TAKEN = {"blank", "block_length", "copy_from", "copy_to", "fault", "message_bytes", "record_fields",
         "required_length", "size", "template_id", "version", "wrap"}
HEADER_BYTES = 8
DIMENSION_BYTES = 4


class MessageClasses:
    """The classes of one message, line by line."""

    def __init__(self, names: Names, beside: frozenset[str]) -> None:
        self.names = names
        self.beside = beside
        self.lines: list[str] = []

    def add(self, text: str = "") -> None:
        self.lines.extend(text.split("\n"))

    def text(self, it: Message) -> str:
        self.add(f"// {'-' * 93}\n// {it.name}" + (f": {it.description}" if it.description else "") +
                 f"\n// {'-' * 93}\n")
        for group in it.groups:
            self.entry_reader(it, group)
            self.entry_writer(it, group)
        self.reader(it)
        self.writer(it)
        return "\n".join(self.lines)

    def entry_name(self, message: Message, group: Group) -> str:
        return f"{message.name}_{group.name}_entry"

    def entry_reader(self, message: Message, group: Group) -> None:
        name = f"{self.entry_name(message, group)}_reader"
        self.add(f"/// An entry of the group `{group.name}`; borrowed from a checked message.\n"
                 f"class {name} {{\n"
                 f"public:\n    {self.required_length(group.block)}\n"
                 f"    constexpr {name}(const std::byte* block, std::uint16_t version) noexcept\n"
                 f"        : block_{{block}}, version_{{version}} {{}}\n")
        self.getters(group.block)
        self.fault(group.block, ())
        self.copy_to(group.block)
        self.add("private:\n    const std::byte* block_;\n"
                 "    [[maybe_unused]] std::uint16_t version_;\n};\n")

    def entry_writer(self, message: Message, group: Group) -> None:
        name = f"{self.entry_name(message, group)}_writer"
        self.add(f"class {name} {{\npublic:\n    explicit constexpr {name}(std::byte* block) noexcept"
                 f" : block_{{block}} {{}}\n")
        self.setters(name, group.block)
        self.copy_from(name, group.block)
        self.add("private:\n    std::byte* block_;\n};\n")

    def required_length(self, block: Block) -> str:
        """A function: what a block of some version has at least."""
        lines = [f"if (version >= {v}) return {block.length_at(v)};" for v in reversed(block.versions())]
        unused = "" if lines else "[[maybe_unused]] "
        body = "\n        ".join([*lines, f"return {block.length_at(0)};"])
        return (f"[[nodiscard]] static constexpr std::size_t required_length({unused}std::uint16_t version)"
                f" noexcept {{\n        {body}\n    }}\n")

    def reader(self, it: Message) -> None:
        name = f"{it.name}_reader"
        self.add(f"/// Looks at one message, which is borrowed. Until `wrap` has found it whole,"
                 f" nothing else may"
                 f" be called.\nclass {name} {{\npublic:\n{self.record_of(it)}"
                 f"    static constexpr std::uint16_t template_id = {it.id};\n\n"
                 f"    {self.required_length(it.block)}\n"
                 f"    /// @param  body  What follows the header; may be longer than the message.\n"
                 f"    [[nodiscard]] constexpr sbe::decode_fault wrap(const sbe::message_header& header,\n"
                 f"                                                   std::span<const std::byte>"
                 f" body) noexcept {{\n"
                 f"        using enum sbe::decode_error;\n"
                 f"        if (header.block_length < required_length(header.version)) return"
                 f" {{block_too_short, 0}};\n"
                 f"        // A sender that knows no more than we do has no longer block either.\n"
                 f"        if (header.version == schema_version && header.block_length > {it.block.length})\n"
                 f"            return {{block_too_long, 0}};\n"
                 f"        if (body.size() < header.block_length) return {{message_truncated, 0}};\n"
                 f"        block_ = body.data();\n        version_ = header.version;\n"
                 f"        size_ = header.block_length;")
        for group in it.groups:
            self.wrap_group(it, group)
        self.add("        return {};\n    }\n\n"
                 "    /// Of the whole message behind its header.\n"
                 "    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }\n"
                 "    [[nodiscard]] constexpr std::uint16_t version() const noexcept"
                 " { return version_; }\n")
        self.getters(it.block)
        for group in it.groups:
            self.group_getter(it, group)
        self.fault(it.block, it.groups)
        self.copy_to(it.block)
        self.add("private:\n    const std::byte* block_ = nullptr;\n    std::size_t size_ = 0;\n"
                 "    std::uint16_t version_ = 0;")
        for group in it.groups:
            self.add(f"    sbe::group_entries {group.name}_;")
        self.add("};\n")

    def record_of(self, it: Message) -> str:
        return f"    using record = ::{self.names.bind}::{it.name};\n" if self.names.bind else ""

    def wrap_group(self, message: Message, group: Group) -> None:
        entry = f"{self.entry_name(message, group)}_reader"
        lines = (f"        {group.name}_ = {{}};\n        if (version_ >= {group.since}) {{\n"
                 if group.since else "        {\n")
        length = group.block.length
        self.add(f"{lines}            const auto error = {group.name}_.wrap(body.subspan(size_),\n"
                 f"                {entry}::required_length(version_),\n"
                 f"                version_ == schema_version ? {length} : std::size_t{{UINT16_MAX}});\n"
                 f"            if (error != none) return {{error, {group.id}}};\n"
                 f"            size_ += {group.name}_.bytes();\n        }}")

    def group_getter(self, message: Message, group: Group) -> None:
        entry = f"{self.entry_name(message, group)}_reader"
        self.add(f"    [[nodiscard]] constexpr std::size_t {group.name}_count() const noexcept {{"
                 f" return {group.name}_.count; }}\n"
                 f"    /// @param  index  Below `{group.name}_count()`.\n"
                 f"    [[nodiscard]] constexpr {entry} {group.name}(std::size_t index) const noexcept {{\n"
                 f"        ::gyre::expects(index < {group.name}_.count);\n"
                 f"        return {{{group.name}_.at(index), version_}};\n    }}\n")

    def getters(self, block: Block) -> None:
        for each in block.fields:
            self.null_constant(each)
            self.getter(each)
        self.add()

    def null_constant(self, it: Field) -> None:
        if it.presence == "optional" and not is_array(it.type):
            self.add(f"    static constexpr {self.names.cpp_type(it.type)} {it.name}_null ="
                     f" {self.null_of(it)};")

    def null_of(self, it: Field) -> str:
        return f"static_cast<{self.names.cpp_type(it.type)}>({literal(it.type.primitive, it.type.null)})"

    def getter(self, it: Field) -> None:
        type_ = self.names.cpp_type(it.type)
        if it.presence == "constant":
            self.add(f"    [[nodiscard]] static constexpr {type_} {it.name}() noexcept"
                     f" {{ return {self.constant(it)}; }}")
            return
        guard = f"        if (version_ < {it.since}) return {self.absent(it)};\n" if it.since else ""
        self.add(f"    [[nodiscard]] constexpr {type_} {it.name}() const noexcept {{\n{guard}"
                 f"        return {self.load(it)};\n    }}")

    def constant(self, it: Field) -> str:
        if it.type.kind == "enum":
            return f"{self.names.cpp_type(it.type)}::{it.constant}"
        return literal(it.type.primitive, int(it.constant))

    def absent(self, it: Field) -> str:
        """What a field holds that the sender's version did not have."""
        return "{}" if it.type.kind == "set" or is_array(it.type) else f"{it.name}_null"

    def load(self, it: Field) -> str:
        type_, at = self.names.cpp_type(it.type), f"block_ + {it.offset}"
        if it.type.kind == "composite":
            return f"load_{it.type.name}({at})"
        primitive = cpp_primitive(it.type.primitive)
        if is_array(it.type):
            return f"sbe::load_array<{primitive}, {it.type.length}>({at})"
        if it.type.kind == "set":
            return f"{type_}{{sbe::load<{primitive}>({at})}}"
        return f"static_cast<{type_}>(sbe::load<{primitive}>({at}))"

    def fault(self, block: Block, groups: tuple[Group, ...]) -> None:
        """A function: the first field whose value the schema does not allow."""
        checks = [line for each in block.fields for line in self.field_checks(each)]
        for group in groups:
            checks.append(f"for (std::size_t each = 0; each < {group.name}_.count; ++each)\n"
                          f"            if (const auto fault = {group.name}(each).fault()) return fault;")
        body = "\n        ".join(["using enum sbe::decode_error;"] * bool(checks) + checks + ["return {};"])
        self.add(f"    /// The first field that holds what the schema does not allow.\n"
                 f"    [[nodiscard]] constexpr sbe::decode_fault fault() const noexcept {{\n"
                 f"        {body}\n    }}\n")

    def field_checks(self, it: Field) -> list[str]:
        if it.presence == "constant":
            return []
        if it.type.kind == "composite":
            return [line for m in it.type.members
                    for line in self.value_checks(m.type, it.offset + m.offset, it.id,
                                                  getattr(m.type, "presence", "required"), 0)]
        return self.value_checks(it.type, it.offset, it.id, it.presence, it.since)

    def value_checks(self, type_, offset: int, id_: int, presence: str, since: int) -> list[str]:
        if is_array(type_) or (type_.kind == "simple" and type_.primitive == "char"):
            return []
        primitive = cpp_primitive(type_.primitive)
        raw = f"sbe::load<{primitive}>(block_ + {offset})"
        young = f"version_ >= {since} && " if since else ""
        if type_.kind == "set":
            return [f"if ({young}({raw} & ~{self.names.qualified(type_.name)}::known) != 0)"
                    f" return {{field_out_of_range, {id_}}};"]
        null = literal(type_.primitive, type_.null)
        bad = (f"!is_{type_.name}({raw})" if type_.kind == "enum" else self.outside(type_, raw))
        if presence == "optional":
            test = f"if ({young}{raw} != {null} && ({bad})) return {{field_out_of_range, {id_}}};"
            return [test] if bad else []
        missing = [f"if ({young}{raw} == {null}) return {{field_missing, {id_}}};"]
        return missing + ([f"if ({young}({bad})) return {{field_out_of_range, {id_}}};"] if bad else [])

    def outside(self, type_: Simple, raw: str) -> str:
        """The comparisons that a value in range fails; those that no value or only null fails are"
        " left out."""
        low, high, null = bounds(type_.primitive)
        least = min(low, null)
        most = max(high, null)
        tests = []
        if type_.minimum > least and not (type_.null == least and type_.minimum == least + 1):
            tests.append(f"{raw} < {literal(type_.primitive, type_.minimum)}")
        if type_.maximum < most and not (type_.null == most and type_.maximum == most - 1):
            tests.append(f"{raw} > {literal(type_.primitive, type_.maximum)}")
        return " || ".join(tests)

    def record_fields(self, block: Block) -> list[Field]:
        return [f for f in block.fields if f.name not in self.beside and f.presence != "constant"]

    def copy_to(self, block: Block) -> None:
        self.add(f"    /// How many members of a record `copy_to` fills in.\n"
                 f"    static constexpr std::size_t record_fields = {len(self.record_fields(block))};\n\n"
                 f"    template <class Record>\n"
                 f"    constexpr void copy_to([[maybe_unused]] Record& record) const noexcept {{")
        for each in self.record_fields(block):
            self.add(f"        record.{each.name} = {each.name}();")
        self.add("    }\n")

    def writer(self, it: Message) -> None:
        name = f"{it.name}_writer"
        size = HEADER_BYTES + it.block.length
        self.add(f"/// Fills in one message. What is not set is null, or zero if it is required.\n"
                 f"class {name} {{\npublic:\n    static constexpr std::uint16_t template_id = {it.id};\n"
                 f"    static constexpr std::uint16_t block_length = {it.block.length};")
        if it.groups:
            self.sized_constructor(it, name, size)
        else:
            self.add(f"    static constexpr std::size_t message_bytes = {size};  ///< Header included.\n\n"
                     f"    explicit constexpr {name}(std::span<std::byte, message_bytes> space) noexcept\n"
                     f"        : block_{{space.data() + sbe::header_bytes}} {{\n"
                     f"        sbe::copy(blank, space.data());\n    }}\n")
        self.setters(name, it.block)
        for group in it.groups:
            self.group_setter(it, group)
        self.copy_from(name, it.block)
        self.add(f"private:\n    static constexpr auto blank = [] {{\n"
                 f"        std::array<std::byte, {size}> bytes{{}};\n"
                 f"        sbe::store_header(bytes.data(),"
                 f" {{{it.block.length}, {it.id}, {self.names.schema.id},"
                 f" {self.names.schema.version}}});")
        for line in self.nulls(it.block, "bytes.data()", HEADER_BYTES):
            self.add(f"        {line}")
        self.add("        return bytes;\n    }();\n\n    std::byte* block_;")
        for group in it.groups:
            self.add(f"    std::byte* {group.name}_;\n    std::uint16_t {group.name}_count_;")
        self.add("};\n")

    def nulls(self, block: Block, base: str, shift: int) -> list[str]:
        return [f"sbe::store({base} + {shift + f.offset}, {literal(f.type.primitive, f.type.null)});"
                for f in block.fields
                if f.presence == "optional" and f.type.null != 0 and not is_array(f.type)]

    def sized_constructor(self, it: Message, name: str, size: int) -> None:
        counts = ", ".join(f"std::uint16_t {g.name}_count" for g in it.groups)
        extra = "".join(f" + {DIMENSION_BYTES} + std::size_t{{{g.name}_count}} * {g.block.length}"
                        for g in it.groups)
        names = ", ".join(f"{g.name}_count" for g in it.groups)
        self.add(f"\n    /// Header and groups included.\n"
                 f"    [[nodiscard]] static constexpr std::size_t message_bytes({counts}) noexcept {{\n"
                 f"        return {size}{extra};\n    }}\n\n"
                 f"    /// @param  space  At least `message_bytes({names})`.\n"
                 f"    constexpr {name}(std::span<std::byte> space, {counts}) noexcept\n"
                 f"        : block_{{space.data() + sbe::header_bytes}} {{\n"
                 f"        ::gyre::expects(space.size() >= message_bytes({names}));\n"
                 f"        sbe::copy(blank, space.data());\n"
                 f"        std::byte* next = space.data() + {size};")
        for group in it.groups:
            self.add(f"        sbe::store(next, std::uint16_t{{{group.block.length}}});\n"
                     f"        sbe::store(next + 2, {group.name}_count);\n"
                     f"        {group.name}_ = next + {DIMENSION_BYTES};\n"
                     f"        {group.name}_count_ = {group.name}_count;\n"
                     f"        next = {group.name}_ + std::size_t{{{group.name}_count}} *"
                     f" {group.block.length};\n"
                     f"        for (std::byte* each = {group.name}_; each != next; ++each) *each ="
                     f" std::byte{{0}};")
        self.add("    }\n")

    def group_setter(self, message: Message, group: Group) -> None:
        entry = f"{self.entry_name(message, group)}_writer"
        self.add(f"    /// @param  index  Below the count that was given at construction.\n"
                 f"    [[nodiscard]] constexpr {entry} {group.name}(std::size_t index) noexcept {{\n"
                 f"        ::gyre::expects(index < {group.name}_count_);\n"
                 f"        return {entry}{{{group.name}_ + index * {group.block.length}}};\n    }}\n")

    def setters(self, name: str, block: Block) -> None:
        for each in block.fields:
            if each.presence != "constant":
                self.add(f"    constexpr {name}& {each.name}(const"
                         f" {self.names.cpp_type(each.type)}& value) noexcept {{\n"
                         f"        {self.store(each)};\n        return *this;\n    }}")
        self.add()

    def store(self, it: Field) -> str:
        at = f"block_ + {it.offset}"
        if it.type.kind == "composite":
            return f"store_{it.type.name}({at}, value)"
        if is_array(it.type):
            return f"sbe::store_array({at}, value)"
        if it.type.kind == "set":
            return f"sbe::store({at}, value.bits)"
        return f"sbe::store({at}, static_cast<{cpp_primitive(it.type.primitive)}>(value))"

    def copy_from(self, name: str, block: Block) -> None:
        self.add(f"    template <class Record>\n"
                 f"    constexpr {name}& copy_from([[maybe_unused]] const Record& record) noexcept {{")
        for each in self.record_fields(block):
            self.add(f"        {each.name}(record.{each.name});")
        self.add("        return *this;\n    }\n")
