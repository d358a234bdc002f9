"""What a device keeps over restarts: one text in the store of the app."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

RECEIVED, OPENED, EXECUTED, FAILED = "received", "opened", "executed", "failed"
_SEEN_MAX = _ACKS_MAX = 1_000
_DETAIL_MAX = 255


class Store(Protocol):
    """One text of the app."""

    def read(self) -> str | None:
        """Returns the text that was written last; None: there is none."""

    def write(self, text: str) -> None:
        """Replaces the text whole: one that is written in part must never be read."""


class FileStore:
    """A store in a file, which it replaces by renaming."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def read(self) -> str | None:
        try:
            return self._path.read_text("utf-8")
        except FileNotFoundError:
            return None

    def write(self, text: str) -> None:
        following = self._path.with_name(self._path.name + ".new")
        following.write_text(text, "utf-8")
        following.replace(self._path)


@dataclass(frozen=True)
class Ack:
    """An acknowledgement; two of one message and state are the same."""

    id: int
    state: str
    detail: str = field(default="", compare=False)

    def json(self) -> dict[str, object]:
        said = {"id": self.id, "state": self.state}
        return {**said, "detail": self.detail} if self.detail else said


@dataclass(frozen=True)
class State:
    """HWID, token, the last messages with their states, and what is not confirmed."""

    hwid: str
    token: str | None = None
    seen: tuple[tuple[int, str], ...] = ()
    acks: tuple[Ack, ...] = ()

    def text(self) -> str:
        acks = [ack.json() for ack in self.acks]
        return json.dumps({"version": 1, **vars(self), "acks": acks})

    def state_of(self, message: int) -> str | None:
        """The acknowledged state of a message; None: it is new."""
        return next((state for known, state in self.seen if known == message), None)

    def knowing(self, ack: Ack) -> State:
        """With a message and its acknowledgement, which waits."""
        others = tuple(one for one in self.seen if one[0] != ack.id)
        return replace(self, seen=(*others, (ack.id, ack.state))[-_SEEN_MAX:]).owing(ack)

    def owing(self, ack: Ack) -> State:
        """With one more acknowledgement that waits."""
        line = re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", ack.detail)[:_DETAIL_MAX]
        return replace(self, acks=(*self.without([ack]).acks, replace(ack, detail=line))[-_ACKS_MAX:])

    def without(self, sent: Collection[Ack]) -> State:
        """Without acknowledgements that the server confirmed."""
        return replace(self, acks=tuple(ack for ack in self.acks if ack not in sent))


def read_state(text: str | None, hwid: str | None) -> State:
    """Reads a text. A missing or broken one, or one of another HWID, makes a new device."""
    try:
        kept = json.loads(text or "")
        whole = kept["version"] == 1 and isinstance(kept["hwid"], str)
        # The token belongs to the HWID that was registered.
        if whole and hwid in (None, kept["hwid"]):
            seen = tuple((int(known), str(state)) for known, state in kept["seen"])
            acks = tuple(Ack(a["id"], a["state"], a.get("detail", "")) for a in kept["acks"])
            return State(kept["hwid"], kept.get("token"), seen, acks)
    except (ValueError, TypeError, KeyError):
        pass
    # Random: it does not identify the phone.
    return State(hwid or secrets.token_hex(16))
