# SPDX-License-Identifier: BSL-1.0
"""The AsyncAPI document and the page of the JSON protocol are those of the schemas."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

SCHEMA = Path(__file__).resolve().parents[2] / "schema"
PAGE = SCHEMA.parent / "docs" / "json_protocol.md"
sys.path.insert(0, str(SCHEMA))

import asyncapi  # noqa: E402
import asyncapi_page  # noqa: E402
from sbe_schema import read_schema  # noqa: E402


def references(value) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [each for inner in value.values() for each in references(inner)]
    return [each for inner in value for each in references(inner)] if isinstance(value, list) else []


class AsyncApi(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.document = json.loads(asyncapi.Document().text())

    def test_the_committed_page_is_not_stale(self) -> None:
        self.assertEqual(asyncapi_page.main(["--check", str(PAGE)]), 0)
        self.assertEqual(asyncapi_page.main(["--check", __file__]), 1)

    def test_every_reference_leads_somewhere(self) -> None:
        for each in references(self.document):
            at = self.document
            for step in each.removeprefix("#/").split("/"):
                self.assertIn(step, at, each)
                at = at[step]

    def test_every_message_of_order_entry_is_there(self) -> None:
        channel = self.document["channels"]["order_entry"]["messages"]
        for message in read_schema(SCHEMA / "order_entry.xml").messages:
            self.assertIn(message.name, channel)

    def test_every_message_of_market_data_is_there_and_none_has_a_sequence(self) -> None:
        channel = self.document["channels"]["market_data"]["messages"]
        for message in read_schema(SCHEMA / "market_data_session.xml").messages:
            self.assertIn(message.name, channel)
            payload = self.document["components"]["messages"][message.name]["payload"]
            self.assertNotIn("sequence", payload["properties"])
        for name, answers in asyncapi.MARKET_DATA_REPLIES.items():
            operation = self.document["operations"][f"market_data_{name}"]
            self.assertEqual(len(operation["reply"]["messages"]), len(answers))

    def test_every_command_of_a_client_says_what_answers_it(self) -> None:
        names = {each.name for each in read_schema(SCHEMA / "order_entry.xml").messages if each.id < 100}
        self.assertEqual(names, set(asyncapi.ORDER_ENTRY_REPLIES) - {"query", "book_request"})
        for name in asyncapi.ORDER_ENTRY_REPLIES:
            operation = self.document["operations"][f"order_entry_{name}"]
            self.assertEqual(len(operation["reply"]["messages"]), len(asyncapi.ORDER_ENTRY_REPLIES[name]))

    def test_only_what_is_in_the_stream_has_a_sequence(self) -> None:
        messages = self.document["components"]["messages"]
        self.assertIn("sequence", messages["order_entered"]["payload"]["required"])
        self.assertNotIn("sequence", messages["message_rejected"]["payload"]["properties"])
        self.assertNotIn("sequence", messages["orders_page"]["payload"]["properties"])

    def test_a_client_may_send_long_numbers_either_way_and_is_told_them_as_text(self) -> None:
        messages = self.document["components"]["messages"]
        self.assertIn("oneOf", messages["enter_quote"]["payload"]["properties"]["client_seq"])
        self.assertEqual(messages["order_entered"]["payload"]["properties"]["order"]["type"], "string")
        self.assertEqual(messages["enter_quote"]["payload"]["properties"]["bid_price"]["type"], "integer")

    def test_what_a_schema_says_of_fields_groups_and_types_is_in_document_and_page(self) -> None:
        page = PAGE.read_text(encoding="utf-8")
        messages, schemas = (self.document["components"][each] for each in ("messages", "schemas"))
        for about in (
            messages["amend_order"]["payload"]["properties"]["quantity"]["description"],
            messages["book_delta"]["payload"]["properties"]["levels"]["description"],
            schemas["order_reference"]["description"],
            schemas["decode_error"]["description"],
        ):
            self.assertGreater(len(about), 10)
            self.assertIn(about, page)

    def test_the_document_is_written(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            asyncapi.main([file.name])
            self.assertEqual(json.loads(Path(file.name).read_text(encoding="utf-8")), self.document)


if __name__ == "__main__":
    unittest.main()
