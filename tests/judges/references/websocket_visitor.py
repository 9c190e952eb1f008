# SPDX-License-Identifier: BSL-1.0
#
# What a client of PyPI's websockets asks of an echo server.
"""websocket_visitor.py URL: ends with 0 if everything came back, else says what did not."""

import asyncio
import sys

from websockets.asyncio.client import connect

MESSAGES = ("", "hello", "\N{GREEK SMALL LETTER KAPPA}\N{GRINNING FACE}" * 1000, b"",
            bytes(range(256)) * 4096)


async def pieces():
    for _ in range(100):
        yield "piece"


async def visit(url, compression):
    async with connect(url, compression=compression, max_size=2**25) as connection:
        for message in MESSAGES:
            await connection.send(message)
            assert await connection.recv() == message, f"{len(message)} came back changed"
        await connection.send(pieces())
        assert await connection.recv() == "piece" * 100, "fragments came back changed"
        await (await connection.ping(b"are you there?"))
        many = [f"message {each}" for each in range(1000)]
        sending = asyncio.create_task(send_all(connection, many))
        assert [await connection.recv() for _ in many] == many, "1,000 in a row came back changed"
        await sending
        await connection.close(1000, "done")
    assert connection.close_code == 1000, f"closed with {connection.close_code}"


async def send_all(connection, messages):
    for message in messages:
        await connection.send(message)


async def main(url):
    for compression in (None, "deflate"):
        async with asyncio.timeout(40):
            await visit(url, compression)
    print("all came back")


asyncio.run(main(sys.argv[1]))
