#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# The JSON protocol as others' tools read it: made of the schemas, so that there is no second list of fields.
"""Writes an AsyncAPI 3.0 document of what clients and the exchange say to each other in JSON over WebSocket.

    asyncapi.py FILE

A build has it as generated/exchange/schema/asyncapi.json. asyncapi_page.py makes a page for people of it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from sbe_model import Composite, Enum, Field, Message, Simple
from sbe_schema import read_schema

HERE = Path(__file__).resolve().parent
EXACT = (1 << 53) - 1  # As json_tables.py has it: beyond, numbers are strings.
DIGITS, SIGNED_DIGITS = "^(0|[1-9][0-9]*)$", "^-?(0|[1-9][0-9]*)$"

# What answers a message of a client, and how. A test compares the keys with the schemas.
ORDER_ENTRY_REPLIES = {
    "enter_order": ("order_entered", "order_executed", "order_cancelled", "order_rejected"),
    "enter_advanced_order": (
        "order_terms",
        "stop_entered",
        "order_entered",
        "order_executed",
        "order_cancelled",
        "order_rejected",
    ),
    "amend_order": ("order_amended", "order_cancelled", "order_rejected"),
    "amend_stop": ("order_amended", "trigger_amended", "order_cancelled", "order_rejected"),
    "cancel_order": ("order_cancelled", "order_rejected"),
    "cancel_orders": ("order_cancelled", "order_rejected"),
    "enter_quote": ("order_cancelled", "order_entered", "order_executed", "order_rejected"),
    "enter_quotes": ("order_cancelled", "order_entered", "order_executed", "order_rejected"),
    "set_protection": ("protection_set", "order_rejected"),
    "query": (
        "orders_page",
        "positions_page",
        "accounts_page",
        "sessions_page",
        "instruments_page",
        "products_page",
        "report_page",
        "query_refused",
    ),
    "book_request": ("book_page", "book_refused"),
}
MARKET_DATA_REPLIES = {
    "subscribe": ("subscribed", "subscription_refused"),
    "unsubscribe": ("subscribed",),
}
# Of administration.xml this much is for clients; the rest is for operators, who speak SBE.
QUESTIONS = (
    "query",
    "query_refused",
    "orders_page",
    "positions_page",
    "accounts_page",
    "sessions_page",
    "instruments_page",
    "products_page",
    "report_page",
    "book_request",
    "book_page",
    "book_refused",
)
TEXT_ABOUT = """A session is a WebSocket of the subprotocol `exchange.json.v1`. Each text is one object,
whose first member is `message`, its name. The client sends `login` first and is answered by
`login_accepted` or `login_rejected`. Messages of a session's stream carry `sequence`, which counts from 1
within a life of the exchange; a client that was cut off logs in for the next one that it has not heard, and
misses none. Answers to questions and to what cannot be read have none. Whoever has been silent for a second
sends `heartbeat`; either side gives up after fifteen seconds of silence. Numbers that can be beyond 2^53
are strings of digits; a client may send them either way. A field that is optional is left out where there
is none. What a client sends must have no other fields than these."""


def quoted(it: Simple) -> bool:
    return it.minimum < -EXACT or it.maximum > EXACT


def described(it) -> dict:
    return {"description": it.description} if it.description else {}


def schema_of(type_, client: bool) -> dict:
    """The JSON schema of a type; of an enumeration or composite, where that stands."""
    if isinstance(type_, Enum):
        return (
            {"type": "boolean"} if type_.name == "truth" else {"$ref": f"#/components/schemas/{type_.name}"}
        )
    if isinstance(type_, Composite):
        return {"$ref": f"#/components/schemas/{type_.name}"}
    if type_.primitive == "char":
        return {"type": "string", "maxLength": type_.length}
    if not quoted(type_):
        return {"type": "integer", "minimum": type_.minimum, "maximum": type_.maximum}
    text = {
        "type": "string",
        "pattern": SIGNED_DIGITS if type_.minimum < 0 else DIGITS,
        "description": f"{type_.minimum} to {type_.maximum}",
    }
    return {"oneOf": [text, {"type": "integer", "minimum": type_.minimum}]} if client else text


def enumeration(it: Enum) -> dict:
    return {"type": "string", "enum": [value.name for value in it.values]} | described(it)


def named_types(blocks: list, found: dict, client: bool) -> None:
    for type_ in [each.type for block in blocks for each in block.fields if each.presence != "constant"]:
        if isinstance(type_, Enum) and type_.name != "truth":
            found[type_.name] = enumeration(type_)
        elif isinstance(type_, Composite):
            found[type_.name] = {
                "type": "object",
                "properties": {member.name: schema_of(member.type, client) for member in type_.members},
                "required": [
                    member.name
                    for member in type_.members
                    if getattr(member.type, "presence", "required") != "optional"
                ],
            } | described(type_)
            for member in type_.members:
                if isinstance(member.type, Enum) and member.type.name != "truth":
                    found[member.type.name] = enumeration(member.type)


def object_of(fields: tuple[Field, ...], client: bool) -> dict:
    shown = [each for each in fields if each.presence != "constant"]
    properties = {each.name: schema_of(each.type, client) for each in shown}
    for each in shown:
        if each.description:
            properties[each.name] = {"allOf": [properties[each.name]], "description": each.description}
    return {
        "type": "object",
        "properties": properties,
        "required": [each.name for each in shown if each.presence != "optional"],
    }


def payload_of(name: str, body: dict, client: bool, sequenced: bool) -> dict:
    first = {"message": {"const": name}}
    if sequenced:
        first["sequence"] = {
            "type": "string",
            "pattern": "^[1-9][0-9]*$",
            "description": "In the session's stream.",
        }
    made = {
        "type": "object",
        "properties": first | body.get("properties", {}),
        "required": ["message", *(["sequence"] if sequenced else []), *body.get("required", [])],
    }
    if client:
        made["additionalProperties"] = False
    return made


def message_of(it: Message, client: bool, sequenced: bool) -> dict:
    body = object_of(it.block.fields, client)
    for group in it.groups:
        body["properties"][group.name] = {
            "type": "array",
            "items": object_of(group.block.fields, client),
        } | described(group)
        body["required"].append(group.name)
    made = {
        "name": it.name,
        "title": it.name,
        "contentType": "application/json",
        "payload": payload_of(it.name, body, client, sequenced),
    }
    return made | described(it)


def plain(
    name: str, client: bool, about: str, properties: dict | None = None, optional: tuple[str, ...] = ()
) -> dict:
    body = {
        "properties": properties or {},
        "required": [key for key in properties or {} if key not in optional],
    }
    return {
        "name": name,
        "title": name,
        "contentType": "application/json",
        "description": about,
        "payload": payload_of(name, body, client, False),
    }


def packets() -> tuple[dict, dict]:
    """What a session is made of, beside messages of the schemas: from the client, and to it."""
    text = {"type": "string"}
    sequence = {"type": "string", "pattern": DIGITS}
    client = {
        "login": plain(
            "login",
            True,
            "The first message. `session` is the life to resume, or empty for whichever is "
            "current; `sequence` the first message wanted, 0 for the next that comes to be.",
            {
                "username": {"type": "string", "maxLength": 6},
                "password": {"type": "string", "maxLength": 10},
                "session": {"type": "string", "maxLength": 10},
                "sequence": sequence,
            },
            ("session", "sequence"),
        ),
        "logout": plain("logout", True, "Ends the session; the exchange closes the WebSocket."),
        "heartbeat": plain("heartbeat", True, "After a second of silence, either way."),
    }
    server = {
        "login_accepted": plain(
            "login_accepted",
            False,
            "`session` is the life that the client is in, `sequence` the "
            "number of the first message that follows.",
            {"session": {"type": "string", "maxLength": 10}, "sequence": sequence},
        ),
        "login_rejected": plain(
            "login_rejected",
            False,
            "The connection ends.",
            {"reason": {"type": "string", "enum": ["not_authorized", "session_not_available"]}},
        ),
        "heartbeat_of_exchange": plain("heartbeat", False, "After a second of silence, either way."),
        "end_of_session": plain("end_of_session", False, "Nothing follows: the day is over."),
        "debug": plain("debug", False, "Text for people.", {"text": text}),
        "error": plain(
            "error",
            False,
            "The message before was none, and had no effect.",
            {"refused": text, "field": text, "reason": text, "position": {"type": "integer", "minimum": 0}},
            ("refused", "field"),
        ),
    }
    return client, server


class Document:
    def __init__(self) -> None:
        self.messages: dict = {}
        self.schemas: dict = {}
        self.channels: dict = {}
        self.operations: dict = {}

    def channel(
        self,
        name: str,
        address: str,
        about: str,
        from_client: dict,
        to_client: dict,
        replies: dict[str, tuple[str, ...]],
    ) -> None:
        self.messages |= from_client | to_client
        here = {key: {"$ref": f"#/components/messages/{key}"} for key in [*from_client, *to_client]}
        self.channels[name] = {
            "address": address,
            "title": name,
            "description": about,
            "messages": here,
            "bindings": {
                "ws": {
                    "method": "GET",
                    "bindingVersion": "0.1.0",
                    "headers": {
                        "type": "object",
                        "required": ["Sec-WebSocket-Protocol"],
                        "properties": {"Sec-WebSocket-Protocol": {"const": "exchange.json.v1"}},
                    },
                }
            },
        }
        replies = replies | {"login": ("login_accepted", "login_rejected"), "logout": (), "heartbeat": ()}
        channel = {"$ref": f"#/channels/{name}"}

        def reference(key: str) -> dict:
            return {"$ref": f"#/channels/{name}/messages/{key}"}

        for key in from_client:
            answers = [each for each in replies.get(key, ()) if each in to_client]
            made = {"action": "receive", "channel": channel, "messages": [reference(key)]}
            if answers:
                made["reply"] = {"channel": channel, "messages": [reference(each) for each in answers]}
            self.operations[f"{name}_{key}"] = made
        self.operations[f"{name}_told"] = {
            "action": "send",
            "channel": channel,
            "summary": "What the exchange tells without being asked, too.",
            "messages": [reference(each) for each in to_client],
        }

    def take(self, message: Message, client: bool, sequenced: bool) -> dict:
        named_types([message.block, *[group.block for group in message.groups]], self.schemas, client)
        return message_of(message, client, sequenced)

    def order_entry(self) -> None:
        client, server = packets()
        for it in read_schema(HERE / "order_entry.xml").messages:
            side = client if it.id < 100 else server
            side[it.name] = self.take(it, it.id < 100, 100 < it.id < 200)
        for it in read_schema(HERE / "administration.xml").messages:
            if it.name in QUESTIONS:
                side = client if it.name in ORDER_ENTRY_REPLIES else server
                side[it.name] = self.take(it, it.name in ORDER_ENTRY_REPLIES, False)
        self.channel(
            "order_entry",
            "/order-entry/v1",
            "Orders, quotes, questions, and what becomes of them.",
            client,
            server,
            ORDER_ENTRY_REPLIES,
        )

    def market_data(self) -> None:
        client, server = packets()
        for it in read_schema(HERE / "market_data_session.xml").messages:
            side = client if it.id < 128 else server
            side[it.name] = self.take(it, it.id < 128, False)
        for it in read_schema(HERE / "order_entry.xml").messages:
            if it.name == "message_rejected":
                server[it.name] = self.take(it, False, False)
        self.channel(
            "market_data",
            "/market-data/v1",
            "Books, trades and sums by subscription, as fast as the subscriber reads. Nothing of it has a "
            "number: a subscriber that comes again subscribes again.",
            client,
            server,
            MARKET_DATA_REPLIES,
        )

    def text(self) -> str:
        self.order_entry()
        self.market_data()
        made = {
            "asyncapi": "3.0.0",
            "info": {
                "title": "The exchange in JSON over WebSocket",
                "version": "1.0.0",
                "description": TEXT_ABOUT.replace("\n", " "),
                "license": {"name": "BSL-1.0", "url": "https://www.boost.org/LICENSE_1_0.txt"},
            },
            "defaultContentType": "application/json",
            "servers": {
                "gateway": {
                    "host": "127.0.0.1:7014",
                    "protocol": "ws",
                    "description": "Of the sample configuration: a gateway, for order entry.",
                },
                "distributor": {
                    "host": "127.0.0.1:7042",
                    "protocol": "ws",
                    "description": "Of the sample configuration: a distributor, for market data.",
                },
            },
            "channels": self.channels,
            "operations": self.operations,
            "components": {"messages": self.messages, "schemas": dict(sorted(self.schemas.items()))},
        }
        for name, server in (("order_entry", "gateway"), ("market_data", "distributor")):
            self.channels[name]["servers"] = [{"$ref": f"#/servers/{server}"}]
        return json.dumps(made, indent=1, ensure_ascii=True) + "\n"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Writes the JSON protocol as AsyncAPI.")
    parser.add_argument("file", type=Path)
    parser.parse_args(arguments).file.write_text(Document().text(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
