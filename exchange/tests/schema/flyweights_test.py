# SPDX-License-Identifier: BSL-1.0
#
# The generator must be deterministic, and refuse what C++ or it cannot express.
"""Runs flyweights.py as the build does. What its C++ does is tested by flyweights_test.cpp."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
GENERATOR = HERE.parent.parent / "schema" / "flyweights.py"
SCHEMAS = HERE.parent.parent / "schema"


def generate(schema: Path, *options: str) -> tuple[int, str, str]:
    """Exit code, generated header and complaints."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "deep" / "out.hpp"
        run = subprocess.run([sys.executable, "-B", str(GENERATOR), str(schema), "--namespace", "a::b",
                              *options, "-o", str(out)], capture_output=True, text=True, check=False)
        return run.returncode, out.read_text() if out.exists() else "", run.stderr


def generate_text(text: str) -> tuple[int, str, str]:
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.xml"
        schema.write_text(text)
        return generate(schema)


class Generation(unittest.TestCase):
    def test_the_same_schema_gives_the_same_header(self):
        first = generate(HERE / "fixture_v2.xml")
        self.assertEqual(first, generate(HERE / "fixture_v2.xml"))
        self.assertEqual(first[0], 0, first[2])

    def test_bound_enums_are_asserted_and_not_declared(self):
        code, header, errors = generate(SCHEMAS / "order_entry.xml", "--bind", "x::y", "--include", "z.hpp")
        self.assertEqual(code, 0, errors)
        self.assertIn("#include <z.hpp>", header)
        self.assertIn("using order_side = ::x::y::order_side;", header)
        self.assertIn("static_assert(order_side::sell == order_side{1});", header)
        self.assertNotIn("enum class", header)
        self.assertIn("struct exchange::sbe::wire<::x::y::enter_order>", header)

    def test_fields_beside_records_are_not_copied(self):
        _, header, _ = generate(SCHEMAS / "market_data.xml", "--beside", "stamp")
        self.assertNotIn("record.stamp", header)
        self.assertIn("record.quantity = quantity();", header)

    def test_only_types_that_messages_use_are_declared(self):
        _, header, _ = generate(SCHEMAS / "market_data.xml")
        self.assertIn("enum class book_action", header)
        self.assertNotIn("enum class reject_reason", header)

    def test_every_line_of_a_header_is_whole(self):
        _, header, _ = generate(HERE / "fixture_v2.xml")
        self.assertTrue(header.startswith("// SPDX-" + "License-Identifier: BSL-1.0\n"))
        self.assertTrue(header.endswith("\n"))
        self.assertEqual(header.count("{"), header.count("}"))


class Refusals(unittest.TestCase):
    def test_a_wrong_schema_leaves_no_header_and_names_the_file(self):
        code, header, errors = generate_text("<messageSchema/>")
        self.assertEqual((code, header), (1, ""))
        self.assertIn("schema.xml", errors)

    def test_a_missing_file_is_an_error_and_no_traceback(self):
        code, _, errors = generate(HERE / "no_such_file.xml")
        self.assertEqual(code, 1)
        self.assertNotIn("Traceback", errors)

    def test_names_that_cannot_be_cpp_are_refused(self):
        text = (HERE / "fixture_v0.xml").read_text()
        for bad in ("class", "delete", "template_id", "copy_to"):
            with self.subTest(bad):
                code, _, errors = generate_text(text.replace('name="total"', f'name="{bad}"'))
                self.assertEqual(code, 1)
                self.assertIn(bad, errors)


if __name__ == "__main__":
    unittest.main()
