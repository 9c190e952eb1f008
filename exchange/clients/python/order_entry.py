#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Enters one order, waits until it rests, cancels it, and says what it is told.

    EXCHANGE_PASSWORD=secret order_entry.py URL USER INSTRUMENT buy|sell PRICE QUANTITY

URL is that of a facility or a gateway: ws://127.0.0.1:7014/order-entry/v1.
"""

import asyncio
import os
import sys
from contextlib import aclosing

from session import Refused, Session


async def place_and_cancel(session: Session, terms: dict) -> int:
    order, number = 0, 0  # Of our order, and of our last message.
    async with aclosing(session.messages()) as messages:
        async for told in messages:
            name = told["message"]
            if name not in ("login_accepted", "sessions_page"):
                print(told, flush=True)
            if name == "login_accepted":
                # Numbers grow over all of a life, so whoever begins asks for the last one.
                await session.send("query", subject="sessions", **{"from": "0"})
            elif name == "sessions_page" and not order:
                number = max((int(row.get("last_client_seq", 0)) for row in told["rows"]), default=0) + 1
                order = number
                await session.send(
                    "enter_order",
                    client_seq=str(number),
                    type="limit",
                    tif="day",
                    instruction="none",
                    self_trade="account_default",
                    **terms,
                )
            elif name == "order_entered" and int(told["client_seq"]) == order:
                number += 1
                await session.send("cancel_order", client_seq=str(number), target={"client_seq": str(order)})
            elif name in ("order_rejected", "message_rejected", "error"):
                return 1
            elif name in ("order_cancelled", "order_executed") and int(told["client_seq"]) == order:
                if name == "order_executed" and told["open"] > 0:
                    continue
                await session.send("logout")
                return 0
    return 1


def main(words: list[str]) -> int:
    if len(words) != 6:
        print(__doc__, file=sys.stderr)
        return 2
    url, user, instrument, side, price, quantity = words
    session = Session(url, user, os.environ.get("EXCHANGE_PASSWORD", ""), sequence=0)
    terms = {"instrument": int(instrument), "side": side, "price": int(price), "quantity": int(quantity)}
    try:
        return asyncio.run(place_and_cancel(session, terms))
    except Refused as why:
        print(f"refused: {why}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
