#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
#
# For people: who reads a protocol wants tables, and not a tree of references.
"""Writes the JSON protocol, as asyncapi.py describes it, as a page of Markdown.

    asyncapi_page.py [--check] PAGE

With --check it compares, and ends with 1 if PAGE is stale.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path

from asyncapi import Document


def type_words(schema: dict) -> str:
    if "allOf" in schema:
        return type_words(schema["allOf"][0])
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "oneOf" in schema:
        return type_words(schema["oneOf"][0]) + " or integer"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if schema["type"] == "integer":
        return (
            f"integer, {schema.get('minimum', '')} to {schema['maximum']}"
            if "maximum" in schema
            else "integer"
        )
    if schema["type"] == "string" and "pattern" in schema:
        return "digits as a string"
    if schema["type"] == "string" and "maxLength" in schema:
        return f"string, at most {schema['maxLength']}"
    return "list of" if schema["type"] == "array" else schema["type"]


def rows_of(schema: dict, indent: str = "") -> list[str]:
    rows = []
    for name, each in schema["properties"].items():
        needed = "" if name in schema["required"] else "optional"
        about = each.get("description", "") if "pattern" not in each else ""
        rows.append(f"| {indent}`{name}` | {type_words(each)} | {needed} | {about} |")
        if each.get("type") == "array":
            rows += rows_of(each["items"], f"{indent}{name}: ")
    return rows


def message_lines(key: str, message: dict, operation: dict | None) -> list[str]:
    lines = [f"### {key}", ""]
    if "description" in message:
        lines += [*textwrap.wrap(message["description"], 110), ""]
    fields = dict(message["payload"])
    fields["properties"] = {name: each for name, each in fields["properties"].items() if name != "message"}
    lines.append(f'`{{"message":"{message["name"]}"{", ..." if fields["properties"] else ""}}}`')
    if operation and "reply" in operation:
        answers = [each["$ref"].rpartition("/")[2] for each in operation["reply"]["messages"]]
        lines.append("")
        lines += textwrap.wrap(
            "Answered by: " + ", ".join(f"[{each}](#{each})" for each in answers) + ".", 110
        )
    if fields["properties"]:
        lines += ["", "| field | type | | |", "|---|---|---|---|", *rows_of(fields)]
    return [*lines, ""]


def page_of(document: dict) -> str:
    lines = [
        "# The exchange in JSON over WebSocket",
        "",
        "Made from the schemas by [asyncapi_page.py](../schema/asyncapi_page.py). For generators of clients,",
        "`exchange/schema/asyncapi.py FILE` writes the same as AsyncAPI 3.0.",
        "",
        *textwrap.wrap(document["info"]["description"], 110),
        "",
    ]
    told = set()
    for name, channel in document["channels"].items():
        server = document["servers"][channel["servers"][0]["$ref"].rpartition("/")[2]]
        lines += [
            f"## {channel['address']}",
            "",
            channel["description"],
            f"In the sample configuration at `{server['protocol']}://{server['host']}{channel['address']}`.",
            "",
        ]
        receiving = {
            each["messages"][0]["$ref"].rpartition("/")[2]: each
            for each in document["operations"].values()
            if each["action"] == "receive" and each["channel"]["$ref"].endswith(f"/{name}")
        }
        for heading, keys in (
            ("From the client", receiving),
            ("To the client", [key for key in channel["messages"] if key not in receiving]),
        ):
            lines += [f"**{heading}**", ""]
            for key in keys:
                if key in told:
                    lines += [f"[{key}](#{key}) as above.", ""]
                    continue
                told.add(key)
                lines += message_lines(key, document["components"]["messages"][key], receiving.get(key))
    lines += ["## Types", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += [f"### {name}", ""]
        if "description" in schema:
            lines += [*textwrap.wrap(schema["description"], 110), ""]
        if "enum" in schema:
            lines += [
                *textwrap.wrap("One of " + ", ".join(f"`{each}`" for each in schema["enum"]) + ".", 110),
                "",
            ]
        else:
            lines += ["| member | type | | |", "|---|---|---|---|", *rows_of(schema), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Writes the page of the JSON protocol.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    page = page_of(json.loads(Document().text()))
    if not options.check:
        options.page.write_text(page, encoding="utf-8")
    elif not options.page.exists() or options.page.read_text(encoding="utf-8") != page:
        print(f"{options.page} is stale: exchange/schema/asyncapi_page.py writes it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
