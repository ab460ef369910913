"""The doors: HTTP and WebSockets of spec/live.md, as an ASGI application.

What comes in is bounded in size, number and time here; what it means is judged by the table.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from fairdeal import encoding
from fairdeal.errors import FairdealError, MalformedError
from fairdeal.games.presets import PRESETS
from fairdeal.messages import FORMAT_VERSION, Hex32
from fairdeal.server.hall import ElsewhereError, Hall
from fairdeal.server.limits import Bucket, Buckets
from fairdeal.server.lines import GOING_AWAY, OVER, Line
from fairdeal.server.live import LiveTable, RefusedError, now_ms, trouble
from fairdeal.server.setup import GAME
from fairdeal.server.store import HandName, StoreError
from fairdeal.server.wire import put_of
from fairdeal.signing import verifies

_log = logging.getLogger("fairdeal.server")
_STATUS: Final = {
    "no-table": 404,
    "no-hand": 404,
    "malformed": 400,
    "login": 403,
    "too-large": 413,
    "too-slow": 408,
    "too-often": 429,
    "full": 503,
    "unavailable": 503,
}
#: with what a WebSocket is closed: what may be otherwise in a moment, and what is no refusal
_CODES: Final = {"full": GOING_AWAY, "moved": GOING_AWAY, "unavailable": GOING_AWAY, "over": OVER}
_MOVED: Final = 4307
_ELSEWHERE: Final = "another process has this table, or had it a moment ago"
_REFUSED: Final = 1008
_CHALLENGE_MS: Final = 60_000
_CHALLENGES: Final = 10_000

Signature = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{128}$")]


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key that shows it is here (spec/live.md 2)."""

    key: Hex32
    name: Annotated[str, msgspec.Meta(max_length=64)]
    sig: Signature

    def holds(self, server_key: bytes, table: str, challenge: bytes) -> bool:
        """Whether the signature is the key's, over this server, table, challenge and name."""
        key = bytes.fromhex(self.key)
        digest = encoding.tagged_hash(
            "fairdeal/v1/login", server_key, table, challenge, key, self.name
        )
        return verifies(key, digest, bytes.fromhex(self.sig))


class _LoginFrame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    login: Login


class _Joining(Login, frozen=True, forbid_unknown_fields=True):
    challenge: Hex32


_login_frames: Final = msgspec.json.Decoder(_LoginFrame)
_joinings: Final = msgspec.json.Decoder(_Joining)


class Doors:
    """The requests of one process."""

    def __init__(self, hall: Hall) -> None:
        self._hall, self._options = hall, hall.options
        self._buckets = Buckets(hall.options.request_rate, hall.options.request_burst)
        self._challenges: dict[tuple[str, str], int] = {}
        self._lines = 0

    # -- HTTP --

    async def health(self, _: Request) -> Response:
        """Whether the last write to the store went well."""
        if self._hall.writer.trouble:
            return _answer({"status": "no store"}, 503)
        return _answer({"status": "ok"})

    async def metrics(self, _: Request) -> Response:
        """For Prometheus."""
        return Response(self._hall.metrics.text(), media_type="text/plain; version=0.0.4")

    async def server(self, _: Request) -> Response:
        """What players pin, and the tables there are."""
        keys = list(self._hall.keys)
        return _answer({"fairdeal": FORMAT_VERSION, "server_keys": keys, "rules": list(PRESETS)})

    async def make(self, request: Request) -> Response:
        """Open a table."""
        self._bounded(request)
        return _answer(await self._hall.make(await self._body(request)), 201)

    async def tables(self, request: Request) -> Response:
        """A page of tables."""
        after = request.query_params.get("after")
        return _answer({"tables": await self._hall.listed(after)})

    async def table(self, request: Request) -> Response:
        """One table."""
        return _answer(await self._hall.described(request.path_params["table"]))

    async def challenge(self, request: Request) -> Response:
        """Something fresh to sign."""
        self._bounded(request)
        table = await self._found(request)
        challenge, now = secrets.token_hex(32), now_ms()
        old = [one for one, until in self._challenges.items() if until < now]
        for one in old if len(self._challenges) < _CHALLENGES else list(self._challenges)[:1]:
            del self._challenges[one]
        self._challenges[table.name, challenge] = now + _CHALLENGE_MS
        return _answer({"challenge": challenge})

    async def join(self, request: Request) -> Response:
        """Sit down, by a signed login."""
        self._bounded(request)
        table = await self._found(request)
        said = encoding.decode(await self._body(request), _joinings)
        until = self._challenges.pop((table.name, said.challenge), 0)
        challenge = bytes.fromhex(said.challenge)
        fresh = until >= now_ms()
        if not fresh or not said.holds(table.key.public, table.name, challenge):
            raise RefusedError("login", "the login is not signed by its key over a fresh challenge")
        return _answer({"seat": await table.sit(said.key, said.name)})

    async def hands(self, request: Request) -> Response:
        """The hands of a table."""
        name = request.path_params["table"]
        await self._hall.described(name)  # there is such a table
        rows = await self._hall.stored(lambda store: store.hands(name))
        hands = [
            {"hand": row.name.hand, "attempt": row.name.attempt, "entries": row.entries}
            for row in rows
        ]
        return _answer({"hands": hands})

    async def hand(self, request: Request) -> Response:
        """One transcript."""
        table = request.path_params["table"]
        numbers = request.path_params["hand"].split("-")
        if len(numbers) != 2 or not all(one.isdecimal() and len(one) <= 6 for one in numbers):
            raise RefusedError("no-hand", "a hand is named as 1-1: its number and its attempt")
        name = HandName(table, GAME, int(numbers[0]), int(numbers[1]))
        return _file(await self._hall.stored(lambda store: store.log(name)))

    async def game(self, request: Request) -> Response:
        """The game's file."""
        name = request.path_params["table"]
        return _file(await self._hall.stored(lambda store: store.game(name)))

    async def _found(self, request: Request) -> LiveTable:
        return await self._hall.find(request.path_params["table"])

    def _bounded(self, request: Request) -> None:
        who = request.client.host if request.client else ""
        if not self._buckets.take(who, time.monotonic()):
            raise RefusedError("too-often", "too many requests from this address: wait a second")

    async def _body(self, request: Request) -> bytes:
        most, body = self._options.max_frame, b""
        try:
            async with asyncio.timeout(self._options.login):
                async for part in request.stream():
                    body += part
                    if len(body) > most:
                        raise RefusedError("too-large", f"a body is at most {most} bytes")
        except TimeoutError:
            raise RefusedError("too-slow", "the body did not come in time") from None
        return body

    # -- WebSockets --

    async def seat(self, socket: WebSocket) -> None:
        """A person's stream."""
        await self._connected(socket, self._sit)

    async def watch(self, socket: WebSocket) -> None:
        """A spectator's stream."""
        await self._connected(socket, self._spectate)

    async def _connected(
        self, socket: WebSocket, serve: Callable[[WebSocket, LiveTable], Awaitable[None]]
    ) -> None:
        """Serve one connection; whatever ends it, the other side is told in one frame."""
        await socket.accept()
        self._lines += 1
        self._hall.metrics.lines.inc()
        try:
            self._require_room()
            await serve(socket, await self._hall.find(socket.path_params["table"]))
        except ElsewhereError as error:
            if error.url:
                await _closed(socket, _MOVED, error.url)
            else:
                await self._dismissed(socket, RefusedError("moved", _ELSEWHERE))
        except (RefusedError, FairdealError, TimeoutError) as error:
            await self._dismissed(socket, error)
        except WebSocketDisconnect:
            pass
        finally:
            self._lines -= 1
            self._hall.metrics.lines.dec()

    async def _dismissed(self, socket: WebSocket, error: Exception) -> None:
        """Say why, and close."""
        if isinstance(error, StoreError):
            error = RefusedError("unavailable", trouble(error))
        code = getattr(error, "code", "malformed")
        frame: dict[str, Any] = {
            "error": {"code": code, "text": str(error) or "the login did not come in time"}
        }
        if code == "over":
            frame = {"over": await self._hall.described(socket.path_params["table"])}
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await socket.send_text(msgspec.json.encode(frame).decode())
        await _closed(socket, _CODES.get(code, _REFUSED), code)

    def _require_room(self) -> None:
        if self._lines > self._options.max_lines:
            raise RefusedError("full", "this server has as many connections as it may")

    async def _sit(self, socket: WebSocket, table: LiveTable) -> None:
        challenge, server = secrets.token_bytes(32), table.key.public
        hello = {"challenge": challenge.hex(), "server_key": server.hex()}
        await socket.send_text(json.dumps(hello))
        async with asyncio.timeout(self._options.login):
            said = encoding.decode(await self._frame(socket), _login_frames).login
        if not said.holds(server, table.name, challenge):
            raise RefusedError("login", "the login is not signed by its key over this challenge")
        await self._talk(socket, table, await table.sit(said.key, said.name))

    async def _spectate(self, socket: WebSocket, table: LiveTable) -> None:
        await self._talk(socket, table, None)

    async def _talk(self, socket: WebSocket, table: LiveTable, seat: int | None) -> None:
        line = Line(seat, self._options.max_waiting, put_of(socket.scope))
        pump = asyncio.create_task(line.pump(socket.send_text, socket.close))
        try:
            await table.attach(line)
            await self._listen(socket, table, line)
        finally:
            table.detach(line)
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)

    async def _listen(self, socket: WebSocket, table: LiveTable, line: Line) -> None:
        bucket = Bucket(self._options.frame_rate, self._options.frame_burst)
        while True:
            data = await self._frame(socket)
            if not bucket.take(time.monotonic()):
                raise RefusedError("too-often", "too many frames a second")
            await table.hear(line, data, now_ms())

    async def _frame(self, socket: WebSocket) -> bytes:
        """The next frame. Raises WebSocketDisconnect at the end."""
        said = await socket.receive()
        if said["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(said.get("code", 1006))
        text = said.get("text")
        return bytes(said["bytes"]) if text is None else text.encode(errors="surrogatepass")


async def _closed(socket: WebSocket, code: int, reason: str) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await socket.close(code, reason)


def _answer(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def _file(data: bytes | None) -> Response:
    if data is None:
        raise RefusedError("no-hand", "there is no such hand at a table of that name")
    return Response(data, media_type="application/json")


def _error(code: str, text: str, status: int) -> Response:
    answer = _answer({"error": {"code": code, "text": text}}, status)
    if status == 429:
        answer.headers["Retry-After"] = "1"
    return answer


async def _refused(_: Request, error: Exception) -> Response:
    code = getattr(error, "code", "")
    return _error(code, str(error), _STATUS.get(code, 409))


async def _malformed(_: Request, error: Exception) -> Response:
    return _error("malformed", str(error), 400)


async def _no_store(_: Request, error: Exception) -> Response:
    text = trouble(error) if isinstance(error, StoreError) else ""
    return _error("unavailable", text, 503)


async def _elsewhere(request: Request, error: Exception) -> Response:
    url = getattr(error, "url", None)
    if not url:
        return _error("moved", _ELSEWHERE, 503)
    return Response(status_code=307, headers={"Location": url.rstrip("/") + request.url.path})


async def _no_page(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    return _error("no-page", str(getattr(error, "detail", "")), status)


class _GivenUp:
    """What still waits for the store when the server stops is cancelled, which is no fault."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            _log.warning("given up as the server stops", extra={"path": scope.get("path")})


def application(hall: Hall) -> Starlette:
    """The ASGI application of one process; its lifespan opens and shuts the hall."""
    doors = Doors(hall)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with hall.open():
            yield

    at = "/v1/tables/{table}"
    routes = [
        Route("/healthz", doors.health),
        Route("/metrics", doors.metrics),
        Route("/v1/server", doors.server),
        Route("/v1/tables", doors.tables),
        Route("/v1/tables", doors.make, methods=["POST"]),
        Route(at, doors.table),
        Route(f"{at}/challenge", doors.challenge, methods=["POST"]),
        Route(f"{at}/seats", doors.join, methods=["POST"]),
        Route(f"{at}/hands", doors.hands),
        Route(f"{at}/hands/{{hand}}", doors.hand),
        Route(f"{at}/game", doors.game),
        WebSocketRoute(f"{at}/seat", doors.seat),
        WebSocketRoute(f"{at}/watch", doors.watch),
    ]
    handlers: dict[Any, Any] = {
        RefusedError: _refused,
        ElsewhereError: _elsewhere,
        MalformedError: _malformed,
        StoreError: _no_store,
        HTTPException: _no_page,
    }
    return Starlette(
        routes=routes,
        exception_handlers=handlers,
        lifespan=lifespan,
        middleware=[Middleware(_GivenUp)],
    )
