"""The calls of a device over HTTP, and its stream. This file does not interpret messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from .state import Ack

_POLL, _POLL_MAX = 60, 240
_BYTES_MAX = 16 * 2**20
_PING = 9


@dataclass
class Closed:
    """How a stream ended."""

    code: int = 0
    reason: str = ""
    was_open: bool = False
    lasted: float = 0
    bad_token: bool = False


class Line:
    """The connection of a device. `poll` is the wait of the next poll, s."""

    def __init__(self, url: str, pace: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the address {url!r} must begin with https:// and name a host")
        self._url, self._pace = url.rstrip("/"), pace
        self.poll = _POLL
        self._session: aiohttp.ClientSession | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._pending: list[tuple[list[Ack], asyncio.TimerHandle]] = []
        self._cut_why = ""
        self._reading: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[Any]] = set()
        self._ping_named = ""

    def seconds(self, given: float) -> float:
        return given * self._pace

    async def close(self) -> None:
        if self._closing:
            # A peer that lives answers the close frame at once.
            await asyncio.wait(self._closing, timeout=self.seconds(0.5))
        if self._session is not None:
            await self._session.close()
        self._session = None

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            trace = aiohttp.TraceConfig()
            trace.on_request_end.append(self._note)
            self._session = aiohttp.ClientSession(trace_configs=[trace])
        return self._session

    async def _note(self, _: Any, __: Any, given: aiohttp.TraceRequestEndParams) -> None:
        """Notes what the answer to a handshake says, which the socket doesn't show."""
        if given.url.path.endswith("/device/stream"):
            self._ping_named = given.response.headers.get("x-ping-interval", "")

    async def ask(
        self, path: str, token: str | None, body: Any = None, extra: float = 0
    ) -> tuple[Mapping[str, Any] | None, str]:
        """Makes a call. Returns the answer, or None and what was there in its place."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        limit = aiohttp.ClientTimeout(total=self.seconds(30) + extra)
        try:
            session = self._open_session()
            method = "GET" if body is None else "POST"
            given = {"headers": headers, "json": body, "timeout": limit}
            async with session.request(method, self._url + path, **given) as response:
                answer = _answer_in(await response.text())
                if answer is None:
                    kind = response.headers.get("Content-Type", "")
                    return None, f"{self._url} is not Gatepost: it answers {response.status}, {kind!r}"
                if path != "/device/ack":
                    named = response.headers.get("x-wait-max", "")
                    self.poll = min(int(named), _POLL_MAX) if named.isdigit() and int(named) else _POLL
                return answer, ""
        except TimeoutError:
            return None, "no answer in time"
        except (aiohttp.ClientError, OSError, UnicodeError) as fault:
            return None, str(fault) or type(fault).__name__

    @property
    def is_open(self) -> bool:
        return self._socket is not None

    def cut(self, why: str) -> None:
        """Ends the stream at once, for a reason."""
        self._cut_why = self._cut_why or why
        if self._reading is not None:
            self._reading.cancel()

    def under_way(self, ack: Ack) -> bool:
        """Returns whether the answer to an acknowledgement is to come."""
        return any(ack.same(one) for acks, _ in self._pending for one in acks)

    async def acknowledge(self, acks: list[Ack]) -> None:
        """Sends acknowledgements on the stream. A missing answer ends it, and they go again."""
        if self._socket is None:
            return
        loop = asyncio.get_running_loop()
        late = loop.call_later(self.seconds(30), self.cut, "no answer")
        self._pending.append((acks, late))
        try:
            await self._socket.send_str(json.dumps({"items": [ack.json() for ack in acks]}))
        except (aiohttp.ClientError, ConnectionError, RuntimeError):
            self.cut("no answer")

    def answered(self) -> list[Ack]:
        """Takes the oldest frame that waits for its answer."""
        if not self._pending:
            return []
        acks, late = self._pending.pop(0)
        late.cancel()
        return acks

    async def hold(
        self,
        token: str,
        ping: int,
        on_open: Callable[[], Awaitable[None]],
        on_answer: Callable[[Mapping[str, Any]], Awaitable[None]],
    ) -> Closed:
        """Opens a stream and reads it until it ends. `ping`: seconds between pings; 0: as usual."""
        path = "/device/stream" + (f"?ping={ping}" if ping else "")
        loop = asyncio.get_running_loop()
        try:
            socket = await asyncio.wait_for(
                self._open_session().ws_connect(
                    self._url + path,
                    headers={"Authorization": f"Bearer {token}"},
                    autoping=False,
                    # An answer that fails would hide the code of the server's close frame.
                    autoclose=False,
                    max_msg_size=_BYTES_MAX,
                ),
                self.seconds(30),
            )
        except aiohttp.WSServerHandshakeError as fault:
            return Closed(reason=f"HTTP {fault.status}", bad_token=fault.status == 401)
        except (TimeoutError, aiohttp.ClientError, OSError) as fault:
            return Closed(reason=str(fault) or "no answer in time")
        named = self._ping_named
        waits = 2 * int(named) + 10 if named.isdigit() and int(named) > _PING else 30
        self._socket, self._cut_why = socket, ""
        opened = loop.time()
        reading = self._read(socket, self.seconds(waits), on_answer)
        self._reading = asyncio.create_task(reading)
        try:
            await on_open()
            await self._reading
        except asyncio.CancelledError:
            if not self._cut_why:
                raise
        except (aiohttp.ClientError, ConnectionError):
            pass
        finally:
            self._reading.cancel()
            for _, late in self._pending:
                late.cancel()
            self._pending.clear()
            self._socket = self._reading = None
            # A dead peer answers no close frame: it is closed in the background.
            closing = asyncio.create_task(socket.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        code = socket.close_code or 1006
        return Closed(code, self._cut_why or f"code {code}", True, loop.time() - opened)

    async def _read(
        self,
        socket: aiohttp.ClientWebSocketResponse,
        bears: float,
        on_answer: Callable[[Mapping[str, Any]], Awaitable[None]],
    ) -> None:
        loop = asyncio.get_running_loop()
        silence = loop.call_later(bears, self.cut, "silence")
        try:
            async for frame in socket:
                silence.cancel()
                silence = loop.call_later(bears, self.cut, "silence")
                if frame.type is aiohttp.WSMsgType.PING:
                    await socket.pong(frame.data)
                elif frame.type is aiohttp.WSMsgType.TEXT:
                    answer = _answer_in(frame.data)
                    if answer is None:
                        self.cut("not an answer of the server")
                    else:
                        await on_answer(answer)
        finally:
            silence.cancel()


def _answer_in(text: str) -> Mapping[str, Any] | None:
    try:
        answer = json.loads(text)
        return answer if isinstance(answer["rc"], int) and isinstance(answer["msg"], str) else None
    except (ValueError, TypeError, KeyError):
        return None
