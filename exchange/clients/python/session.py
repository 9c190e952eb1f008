# SPDX-License-Identifier: BSL-1.0
"""One session of the exchange in JSON over WebSocket: logs in, sends heartbeats, and misses nothing.

    session = Session("ws://127.0.0.1:7014/order-entry/v1", "alice", "secret")
    async with contextlib.aclosing(session.messages()) as messages:
        async for message in messages: ...
    await session.send("enter_order", client_seq=1, instrument=1, ...)

Needs `websockets` from PyPI. exchange/docs/json_protocol.md has every message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import websockets

HEARTBEAT_SECONDS = 1.0
GOING_AWAY = 1001  # Another life has begun, or another gateway takes the place of this one.


class Refused(Exception):
    """The login was: there is no use in another try."""


class Session:
    def __init__(self, url: str, username: str, password: str, sequence: int = 1) -> None:
        self.url, self.username, self.password = url, username, password
        self.life, self.sequence = (
            "",
            sequence,
        )  # What the next login asks for; of sequence 0 what comes next.
        self.socket = None

    async def send(self, name: str, **fields) -> None:
        """Raises ConnectionError without a login. What was sent may be lost with its connection."""
        if self.socket is None:
            raise ConnectionError("not logged in")
        await self.socket.send(json.dumps({"message": name, **fields}))

    async def messages(self) -> AsyncIterator[dict]:
        """What the exchange says, once each, over as many connections as it takes; to be closed."""
        pause = 0.05
        while True:
            try:
                async with aclosing(self.connection()) as here:
                    async for message in here:
                        pause = 0.05
                        yield message
                        if message["message"] == "end_of_session":
                            return
            except websockets.InvalidStatus as answer:
                status = answer.response.status_code
                if status not in (408, 429) and status < 500:
                    raise Refused(f"{self.url}: {answer}") from None
                print(f"not reached: {answer}", flush=True)  # A proxy says 502, as long as it lasts.
            except (OSError, websockets.WebSocketException) as trouble:
                print(f"connection lost: {trouble or type(trouble).__name__}", flush=True)
            else:
                return  # Closed in order: at the end of the day, or behind a logout.
            await asyncio.sleep(pause)
            pause = min(2 * pause, 2.0)

    async def connection(self) -> AsyncIterator[dict]:
        async with websockets.connect(self.url, subprotocols=["exchange.json.v1"]) as socket:
            await socket.send(
                json.dumps(
                    {
                        "message": "login",
                        "username": self.username,
                        "password": self.password,
                        "session": self.life,
                        "sequence": str(self.sequence),
                    }
                )
            )
            beating = None
            try:
                async for text in socket:
                    message = json.loads(text)
                    name = message["message"]
                    if name == "login_rejected":
                        if not self.life or message["reason"] != "session_not_available":
                            raise Refused(message["reason"])
                        self.life, self.sequence = "", 1  # All that was known is gone.
                        yield {"message": "life_ended"}
                        raise ConnectionResetError("the exchange was started anew")
                    if name == "login_accepted":
                        self.life, self.socket = message["session"], socket
                        self.sequence = self.sequence or int(message["sequence"])
                        beating = asyncio.create_task(self.beat(socket))
                    if "sequence" in message and name != "login_accepted":
                        if int(message["sequence"]) < self.sequence:
                            continue  # Had it before.
                        self.sequence = int(message["sequence"]) + 1
                    if name != "heartbeat":
                        yield message
                if socket.close_code == GOING_AWAY:
                    raise ConnectionResetError(socket.close_reason)
            finally:
                self.socket = None
                if beating:
                    beating.cancel()

    async def beat(self, socket) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await socket.send('{"message":"heartbeat"}')
