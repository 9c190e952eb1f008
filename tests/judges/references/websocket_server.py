# SPDX-License-Identifier: BSL-1.0
#
# PyPI's websockets as an echo server: what a judge of servers must find right.
"""websocket_server.py PORT"""

import asyncio
import sys

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed


async def echo(connection):
    try:
        async for message in connection:
            await connection.send(message)
    except ConnectionClosed:
        pass


async def main():
    async with serve(echo, "127.0.0.1", int(sys.argv[1]), max_size=2**25, compression="deflate",
                     server_header="websockets", ping_interval=None):
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
