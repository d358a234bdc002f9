"""A device of a Gatepost provider: it registers, receives messages by a stream, by polls and by
pushes, gives each message to the app once, and acknowledges it. It logs to `gatepost_device`."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from .line import Answer, Fault, Line
from .message import COMMAND, Message, Texts, read_message
from .state import EXECUTED, FAILED, OPENED, RECEIVED, Ack, FileStore, State, Store, read_state
from .subscription import Server, discover, fetch_headers, headers_of

__all__ = [
    "EXECUTED", "FAILED", "KEPT", "OPENED", "RECEIVED", "Delivery", "Device", "Fault", "FileStore",
    "Message", "Server", "Status", "Stopped", "Store", "Texts", "discover", "fetch_headers",
]

KEPT = "kept"
"""Returned by a handler that wrote :attr:`Delivery.state` itself."""

_log = logging.getLogger("gatepost_device")
_log.addHandler(logging.NullHandler())
_CLOSE_TOKEN, _CLOSE_REPLACED, _CLOSE_ENDED = 4001, 4002, 4004
_TOKEN_ERROR = "Device token error"
_PASSING = ("Too many requests", "Unknown error")
_ACKS_EACH = 100


@dataclass(frozen=True)
class Status:
    """What the device is now: `open`, `closed`, `refused`, `replaced`; or `ended`, while it stays
    open: it lost one of its places."""

    state: str
    detail: str = ""
    """A sentence for the developer, or what the server said."""
    reason: str = ""
    """One word: that of the server (`slot_freed`, `link_limit_reached`), or of a :class:`Fault`."""
    text: str = ""
    """For the user, in the language of the device."""
    limit: int | None = None
    """How many devices the link may have."""
    free_url: str = ""
    """Where the user can free a slot."""


class Stopped(Exception):
    """The device does not go on. `status.state` is `refused`: show `status.text`, else the detail,
    to the user; or `replaced`: another stream of this device is in use, do not start it again."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.detail or status.state)
        self.status = status


@dataclass(frozen=True)
class Delivery:
    """A message for the app's handler."""

    message: Message
    texts: Texts
    action: str
    """The action of a command; empty: a notification."""
    state: str
    """What the device keeps, with this message in it. An app that writes it to its store in the
    transaction of its own effect returns `KEPT`: then the message is handled exactly once, else at
    least once."""


Handler = Callable[[Delivery], "Awaitable[str | None] | str | None"]


@dataclass(eq=False)
class Device:
    """A device of the server at `url`, or of the one that :func:`discover` found. A handler must
    not wait for a method of its device, which waits for it. Raises `Fault` for an address without
    scheme or host."""

    url: str | Server
    registration: Mapping[str, str]
    """The fields of `POST /device/register` but `hwid` and `push`."""
    store: Store
    on_message: Handler
    _: KW_ONLY
    on_state: Callable[[Status], None] = lambda status: None
    hwid: str | None = None
    """The one that the app has; None: one is drawn and kept."""
    locale: str = ""
    push: Mapping[str, Any] | None = None
    """`gateway` and `token`."""
    polls: bool = False
    """No socket may stay open."""
    ping: int = 0
    """Seconds between two pings of the stream, 15 to 600; 0: every 9 seconds."""
    frame_max: int = 0
    """The most bytes of a frame, 1024 to 65536; 0: any."""
    pace: float = 1
    """Multiplies all times, for tests."""

    def __post_init__(self) -> None:
        at = self.url if isinstance(self.url, Server) else Server(self.url, "/device", {})
        self._line = Line(at.url, at.path, self.locale, self.frame_max, self.pace)
        self._fields = {**self.registration, **at.registration}
        self._kept: State | None = None
        # What the server confirmed, until the state is written.
        self._gone: set[Ack] = set()
        self._steps = asyncio.Lock()
        self._work: asyncio.Task[None] | None = None
        # Whether no registration is due but for a token. The gateway may have dropped a dead address
        # for pushes, and a server that was discovered tells nothing of a dead token.
        self._is_known, self._hurries = self.push is None and not at.registration, False
        self._renewed_at = float("-inf")
        # The token of a registration whose answer was lost: the new token was in it.
        self._doubted: str | None = None
        self._ending: Stopped | None = None

    async def run(self) -> None:
        """Works until its task is cancelled. Raises `Stopped`; a run after a refusal registers
        again. Raises `RuntimeError` while another run of this device works."""
        if self._work is not None:
            raise RuntimeError("this device runs already")
        self._ending = None
        self._work = asyncio.create_task(self._sessions())
        try:
            await self._work
        except asyncio.CancelledError as cancelled:
            raise self._ending or cancelled from None
        finally:
            self._work = None

    async def take_push(self, data: Mapping[str, Any], was_shown: bool) -> None:
        """Takes what FCM, APNs or Web Push brought. `was_shown`: the system showed it."""
        text = str(data.get("id"))
        number = int(text) if text.isdecimal() else 0
        if number == 0:
            return
        message = read_message(data.get("message"))
        if was_shown and data.get("kind") == "notification":
            shown = Ack(number, RECEIVED)
            await self._change(lambda s: s if s.state_of(number) else s.knowing(shown))
        elif message is not None and message.id == number and not message.is_stub:
            await self._take([message])
        elif self._line.socket is None:
            await self._later(self._fetch())
        await self._later(self._send_acks())

    async def opened(self, message: int) -> None:
        """Tells that the user opened a notification."""
        await self._change(lambda s: s.owing(Ack(message, OPENED)))
        await self._later(self._send_acks())

    async def set_push(self, push: Mapping[str, Any] | None) -> None:
        """Tells that the network gave another address; None: there is none. The device registers
        at once, or when it runs."""
        self.push, self._is_known, self._hurries = push, False, True
        self._line.cut("another address for pushes")

    async def headers(self) -> dict[str, str]:
        """The headers by which a subscription's fetch names this device."""
        return headers_of(self._read().hwid, self._fields)

    async def _later(self, work: Awaitable[None]) -> None:
        """Awaits what the next connection does if it fails."""
        try:
            await work
        except Fault as fault:
            _log.info("it waits for the next connection: %s", fault)

    def _tell(self, status: Status) -> None:
        if self._ending is None:
            _log.info("%s: %s", status.state, status.detail)
            try:
                self.on_state(status)
            except Exception:  # whatever the app raises
                _log.exception("on_state raised")

    def _end(self, status: Status) -> None:
        self._tell(status)
        self._ending = self._ending or Stopped(status)
        if self._work is not None:
            self._work.cancel()

    async def _sessions(self) -> None:
        wait = first = 0.5 * self.pace
        while True:
            self._hurries = False
            try:
                await self._line.within(self._session())
            except Exception as fault:  # of the connection, or whatever the store raises
                self._tell(Status("closed", str(fault), getattr(fault, "reason", "store")))
            wait = first if self._line.held else wait
            if not self._hurries:
                await asyncio.sleep(wait * random.uniform(0.5, 1.5))
            wait = min(2 * wait, 60 * self.pace)

    async def _session(self) -> None:
        """Works with one connection."""
        token = self._read().token
        if token is None or not self._is_known:
            token = await self._register(token)
        await (self._poll() if self.polls else self._listen(token))

    async def _register(self, token: str | None) -> str:
        push = self.push
        body = {**self._fields, "hwid": self._read().hwid, **({"push": push} if push else {})}
        try:
            answer = await self._line.ask("/register", token, body)
        except (Fault, asyncio.CancelledError):
            self._doubted = token
            raise
        await self._hear(answer, token)
        renewed = answer.get("device_token")
        if answer["rc"] == 1 and renewed:
            await self._change(lambda s: replace(s, token=renewed))
            self._is_known = push is self.push
            return renewed
        if self._read().token == token and answer["msg"] not in _PASSING:
            self._end(_status("refused", answer))
        raise Fault("refused", answer["msg"])

    async def _call(self, path: str, token: str, body: Any = None, wait: int = 0) -> Answer:
        answer = await self._line.ask(path, token, body, wait)
        await self._hear(answer, token)
        if answer["rc"] != 1:
            raise Fault("refused", answer["msg"])
        return answer

    async def _hear(self, answer: Answer, token: str | None) -> None:
        """Heeds what any answer may say: places that ended, and the death of the token."""
        for place in answer.get("ended") or []:
            self._tell(_status("ended", place))
        if answer["msg"] == _TOKEN_ERROR and token is not None:
            await self._forget(token, answer)

    async def _forget(self, token: str, answer: Answer) -> None:
        """Forgets a token that died. Its slot ended, or the device registers again, once: two
        devices of one HWID would do it for ever."""
        if self._read().token != token:
            return
        await self._change(lambda s: replace(s, token=None))
        self._is_known = False
        if answer.get("reason"):
            self._end(_status("refused", {**answer, "msg": ""}))
        elif token != self._doubted:
            now = asyncio.get_running_loop().time()
            if now - self._renewed_at < 3_600 * self.pace:
                self._end(Status("refused", "another device registers this HWID"))
            self._renewed_at = now

    async def _listen(self, token: str) -> None:
        batches: asyncio.Queue[list[Message]] = asyncio.Queue(128)
        line = self._line

        async def handle() -> None:
            while True:
                await self._take(await batches.get())
                await self._send_acks()

        def failed(task: asyncio.Task[None]) -> None:
            if not task.cancelled():
                line.cut(f"not handled: {task.exception()!r}")

        handling = asyncio.create_task(handle())
        # The store failed, or the fetch of a stub: the messages come again.
        handling.add_done_callback(failed)
        try:
            async with aclosing(line.stream(token, self.ping)) as answers:
                async for answer in answers:
                    if answer is None:
                        self._tell(Status("open"))
                        await self._send_acks()
                        continue
                    await self._hear(answer, token)
                    if "data" not in answer:
                        # Those that the server refused for their form it will never take.
                        self._gone.update(line.answered())
                    await batches.put(_messages_in(answer))
        finally:
            handling.cancel()
        code, reason = line.end
        if code == _CLOSE_REPLACED:
            if not line.gave_up:
                self._end(Status("replaced"))
            line.gave_up = False
        elif code == _CLOSE_TOKEN:
            await self._forget(token, {})
        elif code in (_CLOSE_ENDED, 401):
            # The inbox has the text for the user.
            await self._later(self._fetch())
            if code == _CLOSE_ENDED:
                await self._forget(token, {"reason": reason})
        raise Fault("lost", reason or f"code {code}")

    async def _poll(self) -> None:
        # The first one tells at once that the line is open, and how long others may wait. The
        # server repeats a message at once until it is acknowledged.
        wait = 0
        while True:
            await self._send_acks()
            await self._fetch(f"?wait={wait}" if wait else "", wait)
            if not self._line.held:
                self._tell(Status("open"))
            self._line.held, wait = True, self._line.poll

    async def _fetch(self, query: str = "", wait: int = 0) -> None:
        """Takes messages of the inbox."""
        token = self._read().token
        if token is not None:
            got = _messages_in(await self._call("/inbox" + query, token, wait=wait))
            await self._take([one for one in got if not (one.is_stub and "id=" in query)])

    async def _send_acks(self) -> None:
        """Sends what is not confirmed."""
        state = self._read()
        waiting = self._gone.union(*self._line.under_way())
        due = [ack for ack in state.acks if ack not in waiting]
        for some in (due[at : at + _ACKS_EACH] for at in range(0, len(due), _ACKS_EACH)):
            if self._line.socket is not None:
                await self._line.acknowledge(some)
            elif state.token is not None:
                items = {"items": [ack.json() for ack in some]}
                await self._call("/ack", state.token, items)
                self._gone.update(some)
        if self._gone:
            await self._change(lambda s: s)

    async def _take(self, messages: list[Message]) -> None:
        for message in messages:
            if message.is_stub and self._read().state_of(message.id) is None:
                # One that is gone meanwhile is not there.
                await self._fetch(f"?id={message.id}")
                continue
            async with self._steps:
                await self._handle(message)

    async def _handle(self, message: Message) -> None:
        """Gives a new message to the app. A copy is acknowledged again: the first may be lost."""
        state = self._read()
        before = state.state_of(message.id)
        if before is not None:
            self._write(state.owing(Ack(message.id, before)))
            return
        said = usual = EXECUTED if message.type == COMMAND else RECEIVED
        known, detail = state.knowing(Ack(message.id, usual)), ""
        try:
            message.check()
            texts = message.texts(self.locale)
            given = self.on_message(Delivery(message, texts, message.action, known.text()))
            said = (await given if isinstance(given, Awaitable) else given) or usual
        except Exception as fault:  # whatever the app raises
            _log.warning("message %s failed: %r", message.id, fault)
            said, detail = FAILED, str(fault) or type(fault).__name__
        if said == KEPT:
            self._kept = known
        else:
            self._write(state.knowing(Ack(message.id, said, detail)))

    async def _change(self, changed: Callable[[State], State]) -> None:
        async with self._steps:
            self._write(changed(self._read()))

    def _read(self) -> State:
        # A HWID that was drawn is kept before it is used.
        return self._kept or self._write(read_state(self.store.read(), self.hwid))

    def _write(self, state: State) -> State:
        """Keeps the state, in a step: one that read, handled and writes it."""
        state = state.without(self._gone)
        self.store.write(state.text())
        self._kept = state
        self._gone.clear()
        return state


def _messages_in(answer: Answer) -> list[Message]:
    read = [read_message(one) for one in answer.get("data") or []]
    return [message for message in read if message is not None]


def _status(state: str, said: Answer) -> Status:
    reason, text = said.get("reason") or "", said.get("text") or ""
    more = said.get("limit"), said.get("free_url") or ""
    return Status(state, said.get("msg") or reason, reason, text, *more)
