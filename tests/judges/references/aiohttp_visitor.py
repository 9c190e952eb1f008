# SPDX-License-Identifier: BSL-1.0
#
# What aiohttp asks of a server of HTTP/1.1.
"""aiohttp_visitor.py URL: ends with 0 if all was answered, else says what was not."""

import asyncio
import sys

import aiohttp


async def fetch(session, url):
    async with session.get(url) as answer:
        assert answer.status == 200, answer.status
        return await answer.read()


async def pieces(size):
    for _ in range(16):
        yield b"y" * size


async def main(url):
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        first = await fetch(session, url)
        assert await asyncio.gather(*[fetch(session, url) for _ in range(100)]) == [first] * 100
        for size in (1, 4096, 1 << 16):
            async with session.post(f"{url}echo", data=b"x" * size * 16) as answer:
                assert await answer.read() == b"x" * size * 16, f"{size * 16} bytes came back changed"
            async with session.post(f"{url}echo", data=pieces(size)) as answer:
                assert await answer.read() == b"y" * size * 16, f"chunks of {size} came back changed"
    print("all came back")


asyncio.run(main(sys.argv[1]))
