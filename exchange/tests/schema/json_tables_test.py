# SPDX-License-Identifier: BSL-1.0
#
# What the tables for JSON say of a schema, and what they cannot say. What is read and written by them is
# tested in exchange/tests/codec/json_message_test.cpp.
"""Runs json_tables.py as the build does."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parent.parent.parent / "schema"
GENERATOR = SCHEMAS / "json_tables.py"

HEADER = """<messageSchema package="p" id="9" version="0"><types>
<composite name="messageHeader"><type name="blockLength" primitiveType="uint16"/>
<type name="templateId" primitiveType="uint16"/><type name="schemaId" primitiveType="uint16"/>
<type name="version" primitiveType="uint16"/></composite>
<composite name="groupSizeEncoding"><type name="blockLength" primitiveType="uint16"/>
<type name="numInGroup" primitiveType="uint16"/></composite>
<type name="word" primitiveType="char" length="4"/><type name="numbers" primitiveType="uint8" length="4"/>
<set name="flags" encodingType="uint8"><choice name="a">0</choice></set>
<type name="near" primitiveType="int64" minValue="-9007199254740991" maxValue="9007199254740991"/>
<type name="far" primitiveType="int64" minValue="-9007199254740991" maxValue="9007199254740992"/>
</types>"""


def generate(schema: Path) -> tuple[int, str, str]:
    """Exit code, generated header and complaints."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "deep" / "out.hpp"
        run = subprocess.run([sys.executable, "-B", str(GENERATOR), str(schema), "--namespace", "a::b",
                              "-o", str(out)], capture_output=True, text=True, check=False)
        return run.returncode, out.read_text() if out.exists() else "", run.stderr


def generate_message(fields: str) -> tuple[int, str, str]:
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.xml"
        schema.write_text(f'{HEADER}<message name="it" id="1">{fields}</message></messageSchema>')
        return generate(schema)


class Tables(unittest.TestCase):
    def test_the_same_schema_gives_the_same_header(self):
        first = generate(SCHEMAS / "administration.xml")
        self.assertEqual(first[0], 0, first[2])
        self.assertEqual(first, generate(SCHEMAS / "administration.xml"))

    def test_every_field_of_every_message_is_in_them(self):
        _, header, _ = generate(SCHEMAS / "order_entry.xml")
        schema = (SCHEMAS / "order_entry.xml").read_text()
        for line in schema.splitlines():
            if "<field" in line or "<sbe:message " in line:
                self.assertIn(f'{{"{line.split(chr(34))[1]}", ', header)

    def test_numbers_that_javascript_would_round_are_strings(self):
        _, header, errors = generate_message('<field name="x" id="1" type="near"/>'
                                             '<field name="y" id="2" type="far"/>'
                                             '<field name="z" id="3" type="uint64"/>')
        self.assertIn('{"x", 0, 8, schema_tables::form::integer, false,', header, errors)
        self.assertIn('{"y", 8, 8, schema_tables::form::integer, true,', header)
        self.assertIn('{"z", 16, 8, schema_tables::form::natural, true,', header)

    def test_the_presence_of_a_field_counts_and_not_that_of_its_type(self):
        _, header, _ = generate(SCHEMAS / "order_entry.xml")
        self.assertIn('{"instrument", 8, 4, schema_tables::form::natural, false, false, 0x0, 0x0, 0xfffffffe',
                      header)
        self.assertIn('{"id", 0, 8, schema_tables::form::natural, true, true, 0x0,', header)

    def test_what_json_cannot_say_is_refused(self):
        for fields, complaint in [
            ('<field name="sequence" id="1" type="uint8"/>', "JSON needs the name `sequence`"),
            ('<field name="x" id="1" type="flags"/>', "JSON of a set is not understood"),
            ('<field name="x" id="1" type="numbers"/>', "JSON of an array of numbers"),
            ('<group name="a" id="1"><field name="x" id="1" type="uint8"/></group>'
             '<group name="b" id="2"><field name="x" id="1" type="uint8"/></group>', "several groups"),
            ("".join(f'<field name="f{n}" id="{n}" type="uint8"/>' for n in range(1, 34)), "more than 32"),
        ]:
            with self.subTest(complaint):
                code, header, errors = generate_message(fields)
                self.assertEqual((code, header), (1, ""))
                self.assertIn(complaint, errors)

    def test_texts_and_empty_messages_are_understood(self):
        code, header, errors = generate_message('<field name="w" id="1" type="word"/>')
        self.assertEqual(code, 0, errors)
        self.assertIn('{"w", 0, 4, schema_tables::form::text,', header)
        code, header, errors = generate_message("")
        self.assertEqual(code, 0, errors)
        self.assertIn('{"it", 1, 0, {}, nullptr},', header)


if __name__ == "__main__":
    unittest.main()
