"""A device of a Gatepost provider: it registers, receives messages by a stream, by polls and by
pushes, gives each message to the app once, and acknowledges it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .line import Line
from .message import COMMAND, Message, Texts, plain_text, read_message
from .state import EXECUTED, FAILED, OPENED, RECEIVED, Ack, FileStore, State, Store, read_state

__all__ = [
    "EXECUTED",
    "FAILED",
    "KEPT",
    "OPENED",
    "RECEIVED",
    "Delivery",
    "Device",
    "FileStore",
    "Message",
    "Refused",
    "Replaced",
    "Store",
    "Texts",
    "plain_text",
]

KEPT = "kept"
"""Returned by a handler that wrote :attr:`Delivery.state` itself."""

_CLOSE_TOKEN, _CLOSE_REPLACED = 4001, 4002
_TOKEN_ERROR = "Device token error"
_ACKS_EACH = 100


class Refused(Exception):
    """The server refused the device: show the reason to the user."""


class Replaced(Exception):
    """Another stream of this device is in use: do not start it again."""


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


class Device:
    """A device. `run` works until its task is cancelled.

    `registration` has the fields of `POST /device/register` but `hwid` and `push`; `push` has
    `gateway` and `token`. `polls`: no socket may stay open. `ping`: seconds between two pings of
    the stream, 15 to 600; 0: every 9 seconds. `pace` multiplies all times, for tests. A handler
    must not wait for a method of its device, which waits for it.
    """

    def __init__(
        self,
        url: str,
        registration: Mapping[str, str],
        store: Store,
        on_message: Handler,
        *,
        on_state: Callable[[str, str], None] = lambda state, reason: None,
        hwid: str | None = None,
        locale: str = "",
        push: Mapping[str, Any] | None = None,
        polls: bool = False,
        ping: int = 0,
        pace: float = 1,
    ) -> None:
        self._line = Line(url, pace)
        self._registration, self._store, self._hwid = dict(registration), store, hwid
        self._on_message, self._on_state = on_message, on_state
        self._locale, self._push, self._polls, self._ping = locale, push, polls, ping
        self._kept: State | None = None
        self._steps, self._registering = asyncio.Lock(), asyncio.Lock()
        self._is_known = False
        self._renewed_at: float | None = None
        # The token of a registration whose answer was lost: the new token was in it.
        self._doubted: str | None = None
        self._ending: Exception | None = None

    async def run(self) -> None:
        """Works until its task is cancelled. Raises `Refused` or `Replaced`."""
        first, longest = self._line.seconds(0.5), self._line.seconds(60)
        wait = first
        try:
            while self._ending is None:
                held = await self._session()
                wait = first if held else wait
                if self._ending is None:
                    await asyncio.sleep(wait * random.uniform(0.5, 1.5))
                wait = min(2 * wait, longest)
            raise self._ending
        finally:
            await self._line.close()

    async def take_push(self, data: Mapping[str, Any], was_shown: bool) -> None:
        """Takes what FCM, APNs or Web Push brought. `was_shown`: the system showed it."""
        try:
            number = int(data.get("id", 0))
        except (TypeError, ValueError):
            return
        if number <= 0:
            return
        message = read_message(data.get("message"))
        if was_shown and data.get("kind") == "notification":
            shown = Ack(number, RECEIVED)
            await self._change(lambda s: s if s.state_of(number) else s.knowing(shown))
        elif message is not None and message.id == number:
            await self._take([message])
        elif not self._line.is_open:
            await self._fetch(None)
        await self._send_acks()

    async def opened(self, message: int) -> None:
        """Tells that the user opened a notification."""
        await self._change(lambda s: s.owing(Ack(message, OPENED)))
        await self._send_acks()

    async def set_push(self, push: Mapping[str, Any] | None) -> None:
        """Tells that the network gave another address; None: there is none."""
        self._push, self._is_known = push, False
        await self._register()

    async def headers(self) -> dict[str, str]:
        """The headers by which a subscription's fetch names this device."""
        fields = {"x-device-os": "os", "x-ver-os": "os_version", "x-device-model": "device_name",
                  "x-app-version": "app_version"}
        own = {name: self._registration.get(field, "") for name, field in fields.items()}
        hwid = (await self._now()).hwid
        return {"x-hwid": hwid, **{name: value for name, value in own.items() if value}}

    def _end(self, ending: Exception, state: str, reason: str) -> None:
        if self._ending is None:
            self._ending = ending
            self._on_state(state, reason)
            self._line.cut(reason or state)

    async def _session(self) -> bool:
        """Works with one connection. Returns whether it held for a while."""
        try:
            token = (await self._now()).token
            # The gateway may have dropped a dead address: with pushes it registers at each start.
            if token is None or (self._push is not None and not self._is_known):
                await self._register()
                token = (await self._now()).token
            if token is None or self._ending is not None:
                return False
            return await (self._poll(token) if self._polls else self._listen(token))
        except OSError as fault:
            self._on_state("closed", f"the store: {fault}")
            return False

    async def _register(self) -> None:
        async with self._registering:
            state = await self._now()
            push = self._push
            body = {**self._registration, "hwid": state.hwid, **({"push": push} if push else {})}
            answer, fault = await self._line.ask("/device/register", state.token, body)
            if answer is None:
                self._doubted = state.token
                self._on_state("closed", fault)
                return
            said, token = answer["msg"], answer.get("device_token")
            if answer["rc"] == 1 and token:
                await self._change(lambda s: replace(s, token=token))
                self._is_known = push is self._push
            elif said == _TOKEN_ERROR and state.token is not None:
                await self._forget(state.token)
            elif said in ("Too many requests", "Unknown error"):
                self._on_state("closed", said)
            else:
                self._end(Refused(said), "refused", said)

    async def _drop(self, token: str) -> None:
        """Forgets a token that died, after a registration that may have renewed it."""
        async with self._registering:
            await self._forget(token)

    async def _forget(self, token: str) -> None:
        """Registers again, once: two devices of one HWID would do it for ever."""
        if (await self._now()).token != token:
            return
        await self._change(lambda s: replace(s, token=None))
        self._is_known = False
        if token == self._doubted:
            return
        now = asyncio.get_running_loop().time()
        if self._renewed_at is not None and now - self._renewed_at < self._line.seconds(3_600):
            reason = "another device registers this HWID"
            self._end(Refused(reason), "refused", reason)
        self._renewed_at = now

    async def _listen(self, token: str) -> bool:
        batches: asyncio.Queue[list[Message]] = asyncio.Queue(128)

        async def handle() -> None:
            while True:
                batch = await batches.get()
                try:
                    await self._take(batch)
                    await self._send_acks()
                except OSError as fault:
                    # A state that can't be written ends the stream; the messages come again.
                    self._line.cut(f"the store: {fault}")

        async def on_open() -> None:
            self._on_state("open", "")
            await self._send_acks()

        async def on_answer(answer: Mapping[str, Any]) -> None:
            if "data" in answer:
                await batches.put(_messages_in(answer))
            elif acks := self._line.answered():
                # Those that the server refused for their form it will never take.
                await self._confirmed(acks)

        handling = asyncio.create_task(handle())
        try:
            end = await self._line.hold(token, self._ping, on_open, on_answer)
        finally:
            handling.cancel()
        if self._ending is not None:
            return False
        self._on_state("closed", end.reason)
        if end.code == _CLOSE_REPLACED:
            self._end(Replaced(), "replaced", "")
        elif end.code == _CLOSE_TOKEN or end.bad_token:
            await self._drop(token)
        return end.lasted >= self._line.seconds(10)

    async def _poll(self, token: str) -> bool:
        count = 0
        while True:
            # The first one tells at once that the line is open, and how long others may wait. The
            # server repeats a message at once until it is acknowledged.
            wait = self._line.poll if count else 0
            well = await self._send_acks() and await self._fetch(token, wait)
            if self._ending is not None:
                return False
            if not well:
                self._on_state("closed", "no answer")
                return count > 0
            if count == 0:
                self._on_state("open", "")
            count += 1

    async def _fetch(self, token: str | None, seconds: int = 0) -> bool:
        """Takes the messages of the inbox. Returns False if it had no answer."""
        token = token or (await self._now()).token
        if token is None:
            return False
        path = "/device/inbox" + (f"?wait={seconds}" if seconds else "")
        answer, _ = await self._line.ask(path, token, extra=seconds)
        if answer is not None and answer["msg"] == _TOKEN_ERROR:
            await self._drop(token)
        if answer is None or answer["rc"] != 1:
            return False
        await self._take(_messages_in(answer))
        return True

    async def _send_acks(self) -> bool:
        """Sends what is not confirmed. Returns False if some could not be sent."""
        state = await self._now()
        due = [ack for ack in state.acks if not self._line.under_way(ack)]
        for start in range(0, len(due), _ACKS_EACH):
            some = due[start : start + _ACKS_EACH]
            if state.token is None or self._ending is not None:
                return False
            if self._line.is_open:
                await self._line.acknowledge(some)
                continue
            items = {"items": [ack.json() for ack in some]}
            answer, _ = await self._line.ask("/device/ack", state.token, items)
            if answer is None or answer["rc"] != 1:
                return False
            await self._confirmed(some)
        return True

    async def _take(self, messages: list[Message]) -> None:
        for message in messages:
            async with self._steps:
                await self._handle(message)

    async def _handle(self, message: Message) -> None:
        """Gives a new message to the app. A copy is acknowledged again: the first may be lost."""
        if self._ending is not None:
            return
        state = self._read()
        before = state.state_of(message.id)
        if before is not None:
            self._write(state.owing(Ack(message.id, before)))
            return
        usual = EXECUTED if message.type == COMMAND else RECEIVED
        known = state.knowing(Ack(message.id, usual))
        ack = Ack(message.id, usual)
        try:
            if unknown := message.unknown():
                raise ValueError(unknown)
            texts = message.texts(self._locale)
            said = self._on_message(Delivery(message, texts, message.action, known.text()))
            said = await said if isinstance(said, Awaitable) else said
            if said == KEPT:
                self._kept = known
                return
            ack = Ack(message.id, said or usual)
        except Exception as fault:  # whatever the app raises
            ack = Ack(message.id, FAILED, str(fault) or type(fault).__name__)
        self._write(state.knowing(ack))

    async def _confirmed(self, acks: list[Ack]) -> None:
        await self._change(lambda s: s.without(acks))

    async def _now(self) -> State:
        async with self._steps:
            return self._read()

    async def _change(self, changed: Callable[[State], State]) -> None:
        async with self._steps:
            state = self._read()
            following = changed(state)
            if following is not state:
                self._write(following)

    def _read(self) -> State:
        """Reads the state, in a step. A HWID that was drawn is kept before it is used."""
        if self._kept is None:
            self._write(read_state(self._store.read(), self._hwid))
        assert self._kept is not None
        return self._kept

    def _write(self, state: State) -> None:
        """Keeps the state, in a step."""
        self._store.write(state.text())
        self._kept = state


def _messages_in(answer: Mapping[str, Any]) -> list[Message]:
    read = [read_message(one) for one in answer.get("data") or []]
    return [message for message in read if message is not None]
