# SPDX-License-Identifier: BSL-1.0
#
# aiohttp as a server for clients that are judged.
"""aiohttp_server.py PORT"""

import sys

from aiohttp import web


async def hello(request):
    return web.Response(text="hello\n")


application = web.Application()
application.router.add_get("/", hello)
web.run_app(application, host="127.0.0.1", port=int(sys.argv[1]), print=None)
