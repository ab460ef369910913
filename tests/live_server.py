"""`Live` behind real sockets: HTTP for the table, WebSocket for its seats. For tests only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Self

from live import ID, Line, Live
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response


class Site:
    """A server of one table. `weather` may do something to a connection at each frame it sends."""

    def __init__(self, live: Live) -> None:
        self.live = live
        #: status, headers and body of the next HTTP answers instead of the table's state
        self.answers: dict[str, tuple[int, dict[str, str], Any]] = {}
        self.weather: Callable[[ServerConnection, str], Awaitable[bool]] | None = None
        #: close code and reason for whoever connects
        self.moved: tuple[int, str] | None = None
        #: statuses for those who connect, after the first of them
        self.rejects: list[int] = []
        #: sent first to whoever connects
        self.greeting: str | None = None
        self.connections = 0
        self.wires: dict[int, tuple[Line, ServerConnection]] = {}
        self.sent: dict[int, int] = {}
        self.server: Server | None = None

    async def __aenter__(self) -> Self:
        self.server = await serve(
            self._seat, "127.0.0.1", 0, process_request=self._http, compression=None
        )
        self.port = next(iter(self.server.sockets)).getsockname()[1]
        return self

    async def __aexit__(self, *args: object) -> None:
        assert self.server is not None
        self.server.close()
        await self.server.wait_closed()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.address}/v1/tables/{ID}"

    def _http(self, wire: ServerConnection, request: Request) -> Response | None:
        if request.path in self.answers:
            status, headers, body = self.answers[request.path]
        elif request.path == f"/v1/tables/{ID}":
            status, headers, body = 200, {}, self.live.state()
        elif request.path == f"/v1/tables/{ID}/seat":
            return None if not self.rejects or not self.connections else self._reject(wire)
        else:
            status, headers, body = 404, {}, {"error": {"code": "not-found", "text": "no table"}}
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        told = Headers({"Content-Length": str(len(raw)), "Connection": "close", **headers})
        return Response(status, "", told, raw)

    def _reject(self, wire: ServerConnection) -> Response:
        return wire.respond(self.rejects.pop(0), "")

    async def _seat(self, wire: ServerConnection) -> None:
        self.connections += 1
        if self.greeting is not None:
            await wire.send(self.greeting)
        if self.moved is not None:
            await wire.close(*self.moved)
            return
        line = self.live.connect()
        mine = self.connections
        self.wires[mine], self.sent[mine] = (line, wire), 0
        try:
            await self._flush()
            async for text in wire:
                self.live.hear(line, str(text))
                await self._flush()
        except ConnectionClosed:
            pass
        finally:
            self.wires.pop(mine, None)
            if line in self.live.lines:
                self.live.drop(line)

    async def _flush(self) -> None:
        """Everything that waits for anybody."""
        for mine, (line, wire) in list(self.wires.items()):
            while self.sent[mine] < len(line.outbox):
                text = line.outbox[self.sent[mine]]
                self.sent[mine] += 1
                if self.weather and await self.weather(wire, text):
                    break
                try:
                    await wire.send(text)
                except ConnectionClosed:
                    break
            if self.live.over and self.sent[mine] == len(line.outbox):
                await wire.close()


async def kill(wire: ServerConnection) -> None:
    """Cut it in the middle of a message, without a word."""
    wire.transport.write(b"\x81\x7e\x10\x00half a frame")
    await asyncio.sleep(0)
    wire.transport.abort()
