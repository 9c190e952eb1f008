# SPDX-License-Identifier: BSL-1.0
#
# What an SBE schema says, as Python objects, or a sentence about what is wrong with it.
"""Reads a message schema of FIX Simple Binary Encoding 1.0 and computes where every field stands.

Understood: types (also fixed arrays), enums, sets, composites, constants, optional fields with null
values, value ranges, explicit offsets and block lengths, `sinceVersion`, groups of fixed entries, and
`xi:include`. Refused with a clear error, because nothing of ours needs it: big-endian schemas, floating
point, arrays, enums or sets declared inside composites, nested groups, and data of variable length.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.etree import ElementInclude

from sbe_model import (
    SIZES,
    Block,
    Composite,
    Enum,
    Field,
    Group,
    Member,
    Message,
    Schema,
    Set,
    Simple,
    Value,
    bounds,
    representable,
)

HEADER_FIELDS = ("blockLength", "templateId", "schemaId", "version")
DIMENSION_FIELDS = ("blockLength", "numInGroup")


class SchemaError(Exception):
    """The schema is wrong, or needs what this generator does not know."""


def read_schema(path: Path) -> Schema:
    """Errors: `SchemaError` with the file's name in front."""
    try:
        root = ElementTree.parse(path).getroot()
        base = path.parent

        def load(href: str, parse: str, encoding: str | None = None):
            return ElementInclude.default_loader(str(base / href), parse, encoding)

        ElementInclude.include(root, loader=load)
        return parse_schema(root)
    except (SchemaError, ElementTree.ParseError, OSError) as error:
        raise SchemaError(f"{path}: {error}") from error


def parse_schema(root: ElementTree.Element) -> Schema:
    if local(root.tag) != "messageSchema":
        raise SchemaError(f"the root element is <{local(root.tag)}>, not <messageSchema>")
    if root.get("byteOrder", "littleEndian") != "littleEndian":
        raise SchemaError("only little-endian schemas are understood")
    schema = Schema(required(root, "package"), number(root, "id"), number(root, "version"))
    for holder in (e for e in root if local(e.tag) == "types"):
        for element in holder:
            add_type(schema, parse_type(element, schema))
    check_header(schema, root.get("headerType", "messageHeader"))
    for element in (e for e in root if local(e.tag) == "message"):
        schema.messages.append(parse_message(element, schema))
    unique((m.id for m in schema.messages), "message id")
    unique((m.name for m in schema.messages), "message name")
    return schema


# ---------------------------------------------------------------------------------------------
# Types
# ---------------------------------------------------------------------------------------------


def add_type(schema: Schema, new) -> None:
    if new.name in schema.types:
        raise SchemaError(f"type `{new.name}` is declared twice")
    schema.types[new.name] = new


def parse_type(element: ElementTree.Element, schema: Schema):
    kind = local(element.tag)
    parsers = {"type": parse_simple, "enum": parse_enum, "set": parse_set, "composite": parse_composite}
    if kind not in parsers:
        raise SchemaError(f"<{kind}> inside <types> is not understood")
    return parsers[kind](element, schema)


def parse_simple(element: ElementTree.Element, _: Schema) -> Simple:
    name = identifier(element)
    primitive = required(element, "primitiveType")
    if primitive not in SIZES:
        raise SchemaError(f"type `{name}`: primitive type `{primitive}` is not understood")
    presence = presence_of(element, "required")
    low, high, null = bounds(primitive)
    constant = (element.text or "").strip() if presence == "constant" else None
    length = number(element, "length", 1)
    if length < 1:
        raise SchemaError(f"type `{name}`: data of variable length is not understood")
    it = Simple(name, primitive, length, presence, number(element, "minValue", low),
                number(element, "maxValue", high), number(element, "nullValue", null), constant)
    for value in (it.minimum, it.maximum, it.null):
        if not representable(primitive, value):
            raise SchemaError(f"type `{name}`: {value} does not fit into {primitive}")
    if it.minimum > it.maximum:
        raise SchemaError(f"type `{name}`: its smallest value is above its largest")
    if presence == "constant" and (length != 1 or primitive == "char" or not is_integer(constant)):
        raise SchemaError(f"type `{name}`: a constant must be one integer")
    return it


def encoding_of(element: ElementTree.Element, schema: Schema) -> tuple[str, int]:
    """The primitive type behind an enum or a set, and its null value."""
    encoding = required(element, "encodingType")
    if encoding in SIZES:
        return encoding, bounds(encoding)[2]
    found = schema.types.get(encoding)
    if not isinstance(found, Simple) or found.length != 1:
        raise SchemaError(f"`{element.get('name')}`: encoding type `{encoding}` is unknown")
    return found.primitive, found.null


def parse_enum(element: ElementTree.Element, schema: Schema) -> Enum:
    name = identifier(element)
    primitive, null = encoding_of(element, schema)
    values = tuple(Value(identifier(e), enum_value(e, primitive, name), number(e, "sinceVersion", 0))
                   for e in element)
    if not values:
        raise SchemaError(f"enum `{name}` has no values")
    unique((v.name for v in values), f"name in enum `{name}`")
    unique((v.value for v in values), f"value in enum `{name}`")
    for each in values:
        if not representable(primitive, each.value) or each.value == null:
            raise SchemaError(f"enum `{name}`: {each.name} = {each.value} does not fit, or is null")
    return Enum(name, primitive, values, null, element.get("description", ""))


def enum_value(element: ElementTree.Element, primitive: str, name: str) -> int:
    text = (element.text or "").strip()
    if primitive == "char" and len(text) == 1:
        return ord(text)
    if primitive == "char" or not is_integer(text):
        raise SchemaError(f"enum `{name}`: value `{text}` is not understood")
    return int(text)


def parse_set(element: ElementTree.Element, schema: Schema) -> Set:
    name = identifier(element)
    primitive, _ = encoding_of(element, schema)
    if not primitive.startswith("uint"):
        raise SchemaError(f"set `{name}` must be encoded in an unsigned type")
    choices = []
    for each in element:
        text = (each.text or "").strip()
        if not is_integer(text) or not 0 <= int(text) < 8 * SIZES[primitive]:
            raise SchemaError(f"set `{name}`: `{text}` is not the number of a bit in {primitive}")
        choices.append(Value(identifier(each), int(text), number(each, "sinceVersion", 0)))
    unique((c.name for c in choices), f"name in set `{name}`")
    unique((c.value for c in choices), f"bit in set `{name}`")
    return Set(name, primitive, tuple(choices))


def parse_composite(element: ElementTree.Element, schema: Schema) -> Composite:
    name = identifier(element)
    members: list[Member] = []
    end = 0
    for each in element:
        member = identifier(each)
        inner = member_type(each, schema)
        if inner is None or inner.kind not in {"simple", "enum"} or inner.size != SIZES[inner.primitive]:
            raise SchemaError(f"composite `{name}`: <{local(each.tag)}> `{member}` is not understood")
        offset = place(each, end, f"composite `{name}`: {member}")
        members.append(Member(member, inner, offset))
        end = offset + inner.size
    unique((m.name for m in members), f"member of composite `{name}`")
    return Composite(name, tuple(members), element.get("description", ""))


def member_type(element: ElementTree.Element, schema: Schema):
    if local(element.tag) == "type":
        return parse_simple(element, schema)
    return schema.types.get(required(element, "type")) if local(element.tag) == "ref" else None


def check_header(schema: Schema, name: str) -> None:
    """Every message begins with four uint16, as sbe.hpp reads them."""
    if not four_uint16(schema.types.get(name), HEADER_FIELDS):
        raise SchemaError(f"`{name}` must be a composite of {', '.join(HEADER_FIELDS)}, each uint16")


def four_uint16(it, names: tuple[str, ...]) -> bool:
    return isinstance(it, Composite) and [
        (m.name, m.type.kind, m.offset) for m in it.members if m.type.primitive == "uint16"
    ] == [(name, "simple", 2 * at) for at, name in enumerate(names)] and len(it.members) == len(names)


# ---------------------------------------------------------------------------------------------
# Messages
# ---------------------------------------------------------------------------------------------


def parse_message(element: ElementTree.Element, schema: Schema) -> Message:
    name = identifier(element)
    try:
        block = parse_block(element, schema)
        groups = tuple(parse_group(e, schema) for e in element if local(e.tag) == "group")
        check_order(element)
        unique([f.id for f in block.fields] + [g.id for g in groups], "field id")
        unique([f.name for f in block.fields] + [g.name for g in groups], "field name")
        return Message(number(element, "id"), name, block, groups, since_of(element, schema),
                       element.get("description", ""))
    except SchemaError as error:
        raise SchemaError(f"message `{name}`: {error}") from error


def check_order(element: ElementTree.Element) -> None:
    ranks = {"field": 0, "group": 1}
    found = [local(e.tag) for e in element]
    for tag in found:
        if tag not in ranks:
            raise SchemaError(f"<{tag}> is not understood")
    if [ranks[tag] for tag in found] != sorted(ranks[tag] for tag in found):
        raise SchemaError("fields come before groups")


def parse_group(element: ElementTree.Element, schema: Schema) -> Group:
    name = identifier(element)
    dimension = schema.types.get(element.get("dimensionType", "groupSizeEncoding"))
    if not four_uint16(dimension, DIMENSION_FIELDS):
        needed = " and ".join(DIMENSION_FIELDS)
        raise SchemaError(f"group `{name}`: its dimension must be {needed}, each uint16")
    for each in element:
        if local(each.tag) != "field":
            raise SchemaError(f"group `{name}`: <{local(each.tag)}> inside a group is not understood")
    block = parse_block(element, schema)
    unique((f.id for f in block.fields), f"field id in group `{name}`")
    unique((f.name for f in block.fields), f"field name in group `{name}`")
    return Group(number(element, "id"), name, block, dimension, since_of(element, schema),
                 element.get("description", ""))


def parse_block(element: ElementTree.Element, schema: Schema) -> Block:
    fields: list[Field] = []
    end = 0
    for each in (e for e in element if local(e.tag) == "field"):
        new = parse_field(each, end, schema)
        if fields and new.since < fields[-1].since:
            raise SchemaError(f"field `{new.name}` is older than the one before it")
        fields.append(new)
        end = new.offset + new.size
    length = number(element, "blockLength", end)
    if length < end:
        raise SchemaError(f"block length {length} is less than the {end} bytes of its fields")
    return Block(tuple(fields), length)


def parse_field(element: ElementTree.Element, end: int, schema: Schema) -> Field:
    name = identifier(element)
    wanted = required(element, "type")
    type_ = schema.types.get(wanted) or primitive_type(wanted)
    if type_ is None:
        raise SchemaError(f"field `{name}`: type `{wanted}` is unknown")
    inherited = type_.presence if type_.kind == "simple" else "required"
    presence = presence_of(element, inherited)
    constant = constant_of(element, type_, schema) if presence == "constant" else None
    if presence == "optional" and type_.kind not in {"simple", "enum"}:
        raise SchemaError(f"field `{name}`: a {type_.kind} has no null value")
    since = since_of(element, schema)
    if since > 0 and presence == "required" and type_.kind != "set":
        raise SchemaError(f"field `{name}`: what older senders lack must be optional")
    return Field(number(element, "id"), name, type_, place(element, end, f"field `{name}`"), presence,
                 since, constant, element.get("description", ""))


def primitive_type(name: str) -> Simple | None:
    if name not in SIZES:
        return None
    low, high, null = bounds(name)
    return Simple(name, name, 1, "required", low, high, null, None)


def constant_of(element: ElementTree.Element, type_, schema: Schema) -> str:
    if type_.kind == "simple" and type_.constant is not None:
        return type_.constant
    reference = element.get("valueRef", "")
    enum_name, _, value_name = reference.partition(".")
    enum = schema.types.get(enum_name)
    if type_.kind != "enum" or enum is not type_ or value_name not in {v.name for v in enum.values}:
        raise SchemaError(f"field `{element.get('name')}`: `{reference}` names no value of its type")
    return value_name


def since_of(element: ElementTree.Element, schema: Schema) -> int:
    since = number(element, "sinceVersion", 0)
    if since > schema.version:
        raise SchemaError(f"`{element.get('name')}` is of version {since}, the schema of {schema.version}")
    return since


def place(element: ElementTree.Element, end: int, what: str) -> int:
    offset = number(element, "offset", end)
    if offset < end:
        raise SchemaError(f"{what}: offset {offset} is inside the field before, which ends at {end}")
    return offset


# ---------------------------------------------------------------------------------------------
# Attributes
# ---------------------------------------------------------------------------------------------


def local(tag: str) -> str:
    return tag.rpartition("}")[2]


def required(element: ElementTree.Element, attribute: str) -> str:
    value = element.get(attribute)
    if value is None:
        raise SchemaError(f"<{local(element.tag)}> `{element.get('name', '')}` needs `{attribute}`")
    return value


def identifier(element: ElementTree.Element) -> str:
    name = required(element, "name")
    if not re.fullmatch(r"[A-Za-z]\w*", name):
        raise SchemaError(f"`{name}` is no name that C++ could use")
    return name


def presence_of(element: ElementTree.Element, otherwise: str) -> str:
    presence = element.get("presence", otherwise)
    if presence not in {"required", "optional", "constant"}:
        raise SchemaError(f"`{element.get('name')}`: presence `{presence}` is not understood")
    return presence


def is_integer(text: str | None) -> bool:
    return bool(re.fullmatch(r"-?\d+", text or ""))


def number(element: ElementTree.Element, attribute: str, otherwise: int | None = None) -> int:
    text = element.get(attribute)
    if text is None and otherwise is not None:
        return otherwise
    if not is_integer(required(element, attribute)):
        raise SchemaError(f"`{element.get('name')}`: {attribute}=`{text}` is no integer")
    return int(text)


def unique(values, what: str) -> None:
    seen = set()
    for value in values:
        if value in seen:
            raise SchemaError(f"{what} {value} is used twice")
        seen.add(value)
