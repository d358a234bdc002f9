"""The calls of a device over HTTP, and its stream. This file does not interpret messages."""

from __future__ import annotations

import asyncio
import json
import socket as sockets
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from .state import Ack

Answer = Mapping[str, Any]
_ANSWER_SECONDS, _STEADY_SECONDS = 30, 10
_POLL, _POLL_MAX, _PING, _BYTES_MAX = 60, 240, 9, 16 * 2**20
_READ = (aiohttp.WSMsgType.PING, aiohttp.WSMsgType.TEXT)
_FAULTS = (
    (TimeoutError, "timeout", "does not answer in time"),
    (aiohttp.ClientSSLError, "tls", "has no TLS that can be trusted"),
    (sockets.gaierror, "name", "has a name that no host has"),
    (ConnectionRefusedError, "refused_port", "refuses connections to its port"),
)


class Fault(Exception):
    """Why there is no answer: a sentence, and in `reason` one word: `refused_port`, `name`, `tls`,
    `timeout`, `not_json`, `wrong_path`, `bad_url`, or `lost` for any other."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


class Line:
    """The connection of a device. `poll` is the wait of the next poll, s. `gave_up`: a handshake
    was given up without an answer since the last stream that held. `held`: the connection did, for long
    enough to begin with the first pause again. `socket`: the open stream. `end`: the code and the
    reason of the last one."""

    def __init__(self, url: str, path: str, locale: str, frame_max: int, pace: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Fault("bad_url", f"The address {url!r} does not begin with https:// and a host.")
        self._url, self._pace = url.rstrip("/"), pace
        self._base = self._url + path
        usual = {"Accept-Language": locale, "x-frame-max": str(frame_max or "")}
        self._usual = {name: value for name, value in usual.items() if value}
        self.poll, self.gave_up, self.held, self.end = _POLL, False, False, (0, "")
        self.socket: aiohttp.ClientWebSocketResponse | None = None
        self._task: asyncio.Task[Any] | None = None
        self._pending: list[tuple[list[Ack], float]] = []
        self._limit: asyncio.Timeout | None = None
        self._why = self._limit_of = self._ping_named = ""
        self._silent_at = 0.0

    async def within(self, work: Awaitable[None]) -> None:
        """Awaits work with one connection, which :meth:`cut` ends."""

        async def note(_: Any, __: Any, got: aiohttp.TraceRequestEndParams) -> None:
            # A socket doesn't show what the answer to its handshake said.
            if got.url.path.endswith("/stream"):
                self._ping_named = got.response.headers.get("x-ping-interval", "")

        self._task, self._why, self.held = asyncio.current_task(), "", False
        trace = aiohttp.TraceConfig()
        trace.on_request_end.append(note)
        try:
            async with _calls([trace]) as self._calls, asyncio.timeout(None) as self._limit:
                await work
        except TimeoutError:
            raise Fault("timeout", self._limit_of) from None
        finally:
            self._task = self._limit = None

    def cut(self, why: str) -> None:
        """Ends the work at once, for a reason."""
        self._why = self._why or why
        self._arm()

    def _arm(self) -> None:
        """Sets the limit of the work to what comes first."""
        ends = [(self._silent_at, "silence")] if self.socket else []
        ends += [(late_at, "no answer") for _, late_at in self._pending[:1]]
        ends += [(0, self._why)] if self._why else []
        if self._limit is not None and not self._limit.expired():
            at, self._limit_of = min(ends, default=(None, ""))
            self._limit.reschedule(at)

    async def ask(self, path: str, token: str | None, body: Any = None, wait: float = 0) -> Answer:
        """Makes a call. Raises :class:`Fault` where there is no answer of the server."""
        given = {"method": "POST" if body else "GET", "headers": self._headers(token), "json": body}
        try:
            # What a push asks outlives the connection in whose time it came.
            own = nullcontext(self._calls) if asyncio.current_task() is self._task else _calls()
            # The server counts the wait of a poll in seconds of its own.
            async with asyncio.timeout(_ANSWER_SECONDS * self._pace + wait), own as calls:
                async with calls.request(url=self._base + path, **given) as got:
                    answer = _answer_in(await got.text())
        except (TimeoutError, aiohttp.ClientError, OSError, UnicodeError) as fault:
            raise self._fault(fault) from fault
        if answer is None or got.status == 404:
            raise self._no_answer(got.status, got.headers.get("Content-Type", ""))
        if path != "/ack":
            named = got.headers.get("x-wait-max", "")
            self.poll = min(int(named), _POLL_MAX) if named.isdigit() and int(named) else _POLL
        return answer

    def _headers(self, token: str | None) -> dict[str, str]:
        return {**self._usual, **({"Authorization": f"Bearer {token}"} if token else {})}

    def _no_answer(self, status: int, kind: str) -> Fault:
        if status == 404:
            return Fault("wrong_path", f"{self._base} does not exist there: check the address.")
        return Fault("not_json", f"{self._base} is not Gatepost: it answers {status}, {kind!r}.")

    def _fault(self, fault: BaseException) -> Fault:
        inner = getattr(fault, "os_error", fault)
        for kind, reason, what in _FAULTS:
            if isinstance(fault, kind) or isinstance(inner, kind):
                return Fault(reason, f"{self._url} {what}.")
        return Fault("lost", f"{self._url} broke off: {fault or type(fault).__name__}")

    def under_way(self) -> list[list[Ack]]:
        """The acknowledgements whose answers are to come."""
        return [acks for acks, _ in self._pending]

    async def acknowledge(self, acks: list[Ack]) -> None:
        """Sends acknowledgements on the open stream. A missing answer ends it: they go again."""
        late_at = asyncio.get_running_loop().time() + _ANSWER_SECONDS * self._pace
        self._pending.append((acks, late_at))
        self._arm()
        try:
            await self.socket.send_str(json.dumps({"items": [ack.json() for ack in acks]}))
        except (aiohttp.ClientError, OSError):
            self.cut("no answer")

    def answered(self) -> list[Ack]:
        """Takes the oldest frame that waits for its answer."""
        return self._pending.pop(0)[0] if self._pending else []

    async def stream(self, token: str, ping: int) -> AsyncIterator[Answer | None]:
        """Opens a stream, in :meth:`within`; yields None, then its frames. Leaves in `end` the code
        and the reason of its end."""
        address = self._base + "/stream" + (f"?ping={ping}" if ping else "")
        clock = asyncio.get_running_loop().time
        self.end = 1006, ""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS * self._pace):
                socket = await self._calls.ws_connect(
                    # An answer that fails would hide the code of the server's close frame, and a
                    # dead peer answers none.
                    address, headers=self._headers(token), autoping=False, autoclose=False,
                    max_msg_size=_BYTES_MAX, timeout=aiohttp.ClientWSTimeout(ws_close=self._pace),
                )
            named = self._ping_named
            waits = 2 * int(named) + 10 if named.isdigit() and int(named) > _PING else 30
            bears, opened_at, self.socket = waits * self._pace, clock(), socket
            try:
                self._silent_at = opened_at + bears
                self._arm()
                yield None
                while (frame := await socket.receive()).type in _READ:
                    self._silent_at = clock() + bears
                    self._arm()
                    if frame.type is aiohttp.WSMsgType.PING:
                        await socket.pong(frame.data)
                    elif answer := _answer_in(frame.data):
                        yield answer
                    else:
                        raise Fault("not_json", "A frame is not an answer of the server.")
                if frame.type is aiohttp.WSMsgType.CLOSE:
                    self.end = frame.data, frame.extra or ""
            finally:
                self.socket, self.held = None, clock() - opened_at >= _STEADY_SECONDS * self._pace
                self.gave_up = self.gave_up and not self.held
                self._pending.clear()
                self._arm()
                await socket.close()
        except aiohttp.WSServerHandshakeError as fault:
            if fault.status != 401:
                raise self._no_answer(fault.status, "no WebSocket") from fault
            self.end = 401, ""
        except (TimeoutError, aiohttp.ClientError, OSError) as fault:
            self.gave_up = self.gave_up or isinstance(fault, TimeoutError)
            raise self._fault(fault) from fault


def _calls(traces: Sequence[aiohttp.TraceConfig] = ()) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(trace_configs=list(traces), timeout=aiohttp.ClientTimeout())


def _answer_in(text: str) -> Answer | None:
    try:
        answer = json.loads(text)
        return answer if isinstance(answer["rc"], int) and isinstance(answer["msg"], str) else None
    except (ValueError, TypeError, KeyError):
        return None
