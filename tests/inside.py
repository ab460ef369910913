"""A live table's server in the test's own process and loop, and seats that talk to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import uvicorn
import websockets
from helpers import SHORT

import fairdeal
from fairdeal import encoding
from fairdeal.games.policies import POLICIES
from fairdeal.games.presets import PRESETS, S0, Preset
from fairdeal.seat import Outgoing, Seat
from fairdeal.server.app import application
from fairdeal.server.hall import Hall
from fairdeal.server.options import Options
from fairdeal.server.store import Store
from fairdeal.server.vault import Vault
from fairdeal.server.wire import protocol
from fairdeal.signing import SigningKey

#: a preset of short hands; a game of it ends after the first or second
QUICK = Preset("for tests", msgspec.structs.replace(S0, end_score=14), (4,), 1, SHORT.removed)
VAULT_KEY = b"v" * 32
OPTIONS = Options(pause=0.0, patience=5.0, request_rate=1000.0, request_burst=1000)


def run(test: Coroutine[Any, Any, None], seconds: float = 60.0) -> None:
    """Run a test in a loop of its own, bounded."""

    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await test

    PRESETS["quick"] = QUICK
    try:
        asyncio.run(bounded())
    finally:
        del PRESETS["quick"]


class Answer(NamedTuple):
    status: int
    body: bytes
    headers: Any

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["error"]["code"])


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_Stay)


class Served(NamedTuple):
    hall: Hall
    base: str

    async def get(self, path: str) -> Answer:
        return await asyncio.to_thread(_ask, urllib.request.Request(self.base + path))

    async def post(self, path: str, body: Any = None) -> Answer:
        data = body if isinstance(body, bytes) else b"" if body is None else encoded(body)
        request = urllib.request.Request(self.base + path, data=data, method="POST")
        return await asyncio.to_thread(_ask, request)

    async def table(self, **body: Any) -> str:
        made = await self.post("/v1/tables", {"rules": "quick", **body})
        assert made.status == 201, made.body
        return str(made.json["table"])

    def line(self, table: str, kind: str = "seat") -> Any:
        url = self.base.replace("http", "ws") + f"/v1/tables/{table}/{kind}"
        return websockets.connect(url, max_size=None, compression=None)

    def person(self, name: str = "Ana", policy: str = "low/1") -> Person:
        return Person(self, name, policy)


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def _ask(request: urllib.request.Request) -> Answer:
    try:
        with _opener.open(request) as answer:
            return Answer(answer.status, answer.read(), answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read(), error.headers)


def login(key: SigningKey, name: str, server: bytes, table: str, challenge: str) -> dict[str, str]:
    digest = encoding.tagged_hash(
        "fairdeal/v1/login", server, table, bytes.fromhex(challenge), key.public, name
    )
    return {"key": key.public.hex(), "name": name, "sig": key.sign(digest).hex()}


async def swallowed(line: Any) -> AsyncIterator[str]:
    """Frames until the connection is closed, however."""
    with contextlib.suppress(websockets.ConnectionClosed):
        async for text in line:
            yield text


class Person:
    """An automatic seat: one key, a hand at a time, and everything that it heard."""

    def __init__(self, served: Served, name: str, policy: str) -> None:
        self.served, self.name, self.policy = served, name, POLICIES[policy]
        self.key = SigningKey.generate()
        self.seat: Seat | None = None
        self.heard: list[dict[str, Any]] = []
        self.records: dict[str, bytes] = {}
        #: what this one does not say
        self.mute: frozenset[str] = frozenset()
        self.on_frame: Callable[[dict[str, Any]], None] = lambda _: None

    @contextlib.asynccontextmanager
    async def connected(self, table: str) -> AsyncIterator[Any]:
        async with self.served.line(table) as line:
            hello = json.loads(await line.recv())
            server = bytes.fromhex(hello["server_key"])
            said = login(self.key, self.name, server, table, hello["challenge"])
            await line.send(json.dumps({"login": said}))
            yield line

    async def play(self, table: str) -> dict[str, Any]:
        """Play until the game is over, or the connection; the last frame."""
        async with self.connected(table) as line:
            said = b""
            async for text in swallowed(line):
                frame = json.loads(text)
                self.heard.append(frame)
                self.on_frame(frame)
                out = self.answer(frame, text)
                if out is not None and out.send != said:
                    said = out.send
                    await line.send(said.decode())
        return self.heard[-1]

    def answer(self, frame: dict[str, Any], text: str) -> Outgoing | None:
        if "entry" not in frame:
            return None
        data = text[len('{"entry":') : -1].encode()
        if frame["entry"]["seq"] == 0:
            hand = fairdeal.read_entry(data).message.digest().hex()
            kept = self.records.get(hand)
            self.seat = Seat.resume(kept, self.key) if kept else Seat(self.key)
            if self.key.public.hex() not in text:
                self.seat = None  # a bot has the seat now
        if self.seat is None:
            return None
        out = self.seat.receive(data) or self.seat.pending() or self.decide(self.seat)
        if out is None or json.loads(out.send)["type"] in self.mute:
            return None
        self.records[self.seat.hand.hand_id.hex()] = out.store
        return out

    def decide(self, seat: Seat) -> Outgoing | None:
        word = lambda: secrets.randbelow(1 << 16)  # noqa: E731
        if seat.turn == "pass":
            return seat.pass_cards(self.policy.pass_cards(seat.view(), word))
        if seat.turn == "play":
            return seat.play(self.policy.play_card(seat.view(), word))
        return None


def hall_of(folder: Path, options: Options, *keys: SigningKey, url: str | None = None) -> Hall:
    path = folder / "server.key"
    if not path.exists():
        path.write_bytes(SigningKey.generate().private_bytes())
    store = Store.open(f"sqlite:///{folder}/store.sqlite", Vault([VAULT_KEY]))
    return Hall(store, keys or [SigningKey(path.read_bytes())], options, url=url)


@contextlib.asynccontextmanager
async def served(
    folder: Path, options: Options = OPTIONS, *keys: SigningKey
) -> AsyncIterator[Served]:
    """A server on a free port of loopback."""
    hall = hall_of(folder, options, *keys)
    config = uvicorn.Config(
        application(hall), port=0, log_config=None, ws=protocol(), ws_max_size=options.max_frame,
        ws_per_message_deflate=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Served(hall, f"http://127.0.0.1:{port}")
    finally:
        server.should_exit = True
        await task
