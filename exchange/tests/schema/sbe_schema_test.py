# SPDX-License-Identifier: BSL-1.0
#
# A schema that is understood wrongly is a wire format without an agreement.
"""Checks sbe_schema.py: where fields stand, and a clear refusal of each thing that is wrong."""

import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "schema"))

from sbe_schema import SchemaError, parse_schema, read_schema  # noqa: E402

HEADER = """
<composite name="messageHeader">
    <type name="blockLength" primitiveType="uint16"/><type name="templateId" primitiveType="uint16"/>
    <type name="schemaId" primitiveType="uint16"/><type name="version" primitiveType="uint16"/>
</composite>
<composite name="groupSizeEncoding">
    <type name="blockLength" primitiveType="uint16"/><type name="numInGroup" primitiveType="uint16"/>
</composite>
"""


def schema(types="", messages="", attributes='version="2"', header=HEADER):
    root = f'messageSchema package="p" id="1" {attributes}'
    text = f"<{root}><types>{header}{types}</types>{messages}</messageSchema>"
    return parse_schema(ElementTree.fromstring(text))


def message(fields):
    return schema(messages=f'<message name="m" id="1">{fields}</message>').messages[0]


class Layout(unittest.TestCase):
    def test_fields_follow_each_other_without_gaps(self):
        block = message('<field name="a" id="1" type="uint8"/><field name="b" id="2" type="int64"/>').block
        self.assertEqual([f.offset for f in block.fields], [0, 1])
        self.assertEqual(block.length, 9)

    def test_an_offset_makes_a_gap(self):
        block = message('<field name="a" id="1" type="uint8"/>'
                        '<field name="b" id="2" type="int64" offset="8"/>').block
        self.assertEqual(block.length, 16)

    def test_the_length_of_a_block_depends_on_the_senders_version(self):
        block = message('<field name="a" id="1" type="uint8"/>'
                        '<field name="b" id="2" type="uint32" presence="optional" sinceVersion="1"/>'
                        '<field name="c" id="3" type="uint16" presence="optional" sinceVersion="2"/>').block
        self.assertEqual([block.length_at(v) for v in (0, 1, 2, 9)], [1, 5, 7, 7])
        self.assertEqual(block.versions(), [1, 2])

    def test_a_constant_takes_no_room(self):
        found = schema('<type name="k" primitiveType="uint16" presence="constant">7</type>',
                       '<message name="m" id="1"><field name="a" id="1" type="k"/>'
                       '<field name="b" id="2" type="uint8"/></message>').messages[0]
        self.assertEqual(found.block.length, 1)
        self.assertEqual(found.block.fields[0].constant, "7")

    def test_a_composite_is_as_long_as_its_members(self):
        found = schema('<composite name="c"><type name="x" primitiveType="uint8"/>'
                       '<type name="y" primitiveType="int32" offset="4"/></composite>')
        self.assertEqual(found.types["c"].size, 8)

    def test_null_values_and_ranges_have_the_defaults_of_sbe(self):
        found = schema('<type name="u" primitiveType="uint16"/><type name="i" primitiveType="int8"/>').types
        self.assertEqual((found["u"].minimum, found["u"].maximum, found["u"].null), (0, 65534, 65535))
        self.assertEqual((found["i"].minimum, found["i"].maximum, found["i"].null), (-127, 127, -128))

    def test_our_schemas_are_understood(self):
        folder = HERE.parent.parent / "schema"
        ids = [read_schema(folder / f"{name}.xml").id
               for name in ("order_entry", "market_data", "administration", "market_data_session")]
        self.assertEqual(ids, [1, 2, 3, 5])


class Refusals(unittest.TestCase):
    def refused(self, sentence, types="", messages="", **more):
        with self.assertRaisesRegex(SchemaError, sentence):
            schema(types, messages, **more)

    def refused_message(self, sentence, fields):
        self.refused(sentence, messages=f'<message name="m" id="1">{fields}</message>')

    def test_byte_order(self):
        self.refused("little-endian", attributes='version="0" byteOrder="bigEndian"')

    def test_header(self):
        self.refused("messageHeader", header="")
        self.refused("messageHeader", header='<composite name="messageHeader">'
                     '<type name="blockLength" primitiveType="uint32"/></composite>')

    def test_types(self):
        self.refused("declared twice", '<type name="t" primitiveType="int8"/>' * 2)
        self.refused("float", '<type name="t" primitiveType="float"/>')
        self.refused("variable length", '<type name="t" primitiveType="char" length="0"/>')
        self.refused("does not fit", '<type name="t" primitiveType="uint8" maxValue="256"/>')
        self.refused("above its largest",
                     '<type name="t" primitiveType="uint8" minValue="9" maxValue="8"/>')
        self.refused("no integer", '<type name="t" primitiveType="uint8" minValue="x"/>')
        self.refused("no name", '<type name="1t" primitiveType="uint8"/>')
        self.refused("constant", '<type name="t" primitiveType="uint8" presence="constant">x</type>')
        self.refused("<thing>", '<thing name="t"/>')

    def test_enums_and_sets(self):
        enum = '<enum name="e" encodingType="uint8">{}</enum>'
        self.refused("no values", enum.format(""))
        value = '<validValue name="a">1</validValue>'
        self.refused("twice", enum.format(value + '<validValue name="b">1</validValue>'))
        self.refused("twice", enum.format(value + '<validValue name="a">2</validValue>'))
        self.refused("null", enum.format('<validValue name="a">255</validValue>'))
        self.refused("not understood", enum.format('<validValue name="a">x</validValue>'))
        self.refused("unknown", f'<enum name="e" encodingType="nope">{value}</enum>')
        self.refused("bit", '<set name="s" encodingType="uint8"><choice name="a">8</choice></set>')
        self.refused("unsigned", '<set name="s" encodingType="int8"><choice name="a">1</choice></set>')

    def test_composites(self):
        composite = '<composite name="c">{}</composite>'
        self.refused("not understood", composite.format('<enum name="e" encodingType="uint8"/>'))
        self.refused("not understood", composite.format('<type name="a" primitiveType="char" length="2"/>'))
        self.refused("not understood", composite.format('<ref name="a" type="nope"/>'))
        self.refused("inside", composite.format('<type name="a" primitiveType="int32"/>'
                                                '<type name="b" primitiveType="int8" offset="3"/>'))

    def test_fields(self):
        field = '<field name="a" id="1" type="uint8"/>'
        self.refused_message("id 1 is used twice", field + '<field name="b" id="1" type="uint8"/>')
        self.refused_message("name a is used twice", field + '<field name="a" id="2" type="uint8"/>')
        self.refused_message("unknown", '<field name="a" id="1" type="nope"/>')
        self.refused_message("inside", field + '<field name="b" id="2" type="uint8" offset="0"/>')
        self.refused_message("version 3", '<field name="a" id="1" type="uint8" sinceVersion="3"/>')
        self.refused_message("must be optional", '<field name="a" id="1" type="uint8" sinceVersion="1"/>')
        young = '<field name="a" id="1" type="uint8" presence="optional" sinceVersion="1"/>'
        self.refused_message("older", young + '<field name="b" id="2" type="uint8"/>')
        self.refused_message("needs `id`", '<field name="a" type="uint8"/>')
        self.refused_message("presence", '<field name="a" id="1" type="uint8" presence="maybe"/>')

    def test_blocks_and_groups(self):
        self.refused("less than", messages='<message name="m" id="1" blockLength="1">'
                     '<field name="a" id="1" type="uint16"/></message>')
        self.refused_message("fields come before groups", '<group name="g" id="9"/>'
                             '<field name="a" id="1" type="uint8"/>')
        self.refused_message("inside a group", '<group name="g" id="9"><group name="h" id="8"/></group>')
        self.refused_message("dimension", '<group name="g" id="9" dimensionType="nope"/>')
        self.refused_message("<data>", '<data name="d" id="1" type="x"/>')

    def test_messages(self):
        self.refused("message id 1 is used twice",
                     messages='<message name="m" id="1"/><message name="n" id="1"/>')
        self.refused("message name m is used twice",
                     messages='<message name="m" id="1"/><message name="m" id="2"/>')


if __name__ == "__main__":
    unittest.main()
