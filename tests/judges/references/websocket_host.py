# SPDX-License-Identifier: BSL-1.0
#
# The paths of the suite's server, on PyPI's websockets: does a client echo what an ordinary peer sends?
"""websocket_host.py PORT: prints `all echoed` when the client asks for reports and was right in each case."""

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import serve

CASES = (["hello"], ["", "\N{GREEK SMALL LETTER KAPPA}" * 40000], [bytes(range(256)) * 1024],
         [f"message {each}" for each in range(300)], [["frag", "men", "ts"]])
right = set()


async def run_case(connection, case):
    for message in CASES[case - 1]:
        await connection.send(message)
        expected = "".join(message) if isinstance(message, list) else message
        if await asyncio.wait_for(connection.recv(), 10) != expected:
            return
    await (await connection.ping())
    right.add(case)


async def handle(connection):
    path = urlsplit(connection.request.path)
    if path.path == "/getCaseCount":
        await connection.send(str(len(CASES)))
    elif path.path == "/runCase":
        await run_case(connection, int(parse_qs(path.query)["case"][0]))
    elif path.path == "/updateReports":
        said = f"only {sorted(right)} of {len(CASES)} were echoed"
        print("all echoed" if len(right) == len(CASES) else said, flush=True)


async def main():
    async with serve(handle, "127.0.0.1", int(sys.argv[1]), max_size=2**25):
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
