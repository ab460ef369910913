"""A WebSocket that takes frames as bytes: made once for all who hear the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from websockets.http11 import Request

Put = Callable[[bytes], int]

_EXTENSION: Final = "fairdeal"
_TEXT: Final = 0x81
_FEW, _MANY = 126, 127


def protocol() -> type | Literal["auto"]:
    """Uvicorn's WebSocket with a way past ASGI, on which each frame is made anew for each line.

    Another version of uvicorn may have none to build on: then its own choice, and the slower way.
    """
    try:
        from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
    except ImportError:
        return "auto"

    class Wire(WebSocketsSansIOProtocol):
        def handle_connect(self, event: Request) -> None:
            """Begin, and tell the application of the way."""
            super().handle_connect(event)
            if self.response.status_code == 101:
                self.scope["extensions"][_EXTENSION] = {"put": self.put}

        def put(self, frames: bytes) -> int:
            """Send frames, without waiting; how many bytes wait for the other side to read."""
            if not (self.close_sent or self.transport.is_closing()):
                self.transport.write(frames)
            return self.transport.get_write_buffer_size()

    return Wire


def put_of(scope: Any) -> Put | None:
    """The way past ASGI, where there is one."""
    found: Put | None = scope.get("extensions", {}).get(_EXTENSION, {}).get("put")
    return found


def text_frames(texts: Iterable[str]) -> bytes:
    """Unmasked text frames (RFC 6455 section 5.2), one after another."""
    return b"".join(_text_frame(text.encode()) for text in texts)


def _text_frame(data: bytes) -> bytes:
    size = len(data)
    if size < _FEW:
        return b"%c%c%b" % (_TEXT, size, data)
    if size < 1 << 16:
        return b"%c%c%b%b" % (_TEXT, _FEW, size.to_bytes(2, "big"), data)
    return b"%c%c%b%b" % (_TEXT, _MANY, size.to_bytes(8, "big"), data)
