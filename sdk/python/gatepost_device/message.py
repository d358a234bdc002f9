"""A message of the provider, and its texts in the language of a device."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NOTIFICATION = 10
COMMAND = 20
_ACTIONS = {"import-data", "update-subscription", "set-settings", "sub-change"}


@dataclass(frozen=True)
class Texts:
    """Texts in the language of the device; empty: there is none."""

    title: str
    html: str
    """Filtered by the server."""
    plain: str
    """The same as text with line breaks."""
    link: str
    """What a tap opens."""


@dataclass(frozen=True)
class Message:
    """A message as the server sent it."""

    id: int
    """The same in every copy, and in acknowledgements."""
    type: int
    """10: a notification; 20: a command."""
    payload: Mapping[str, Any]
    raw: Mapping[str, Any]
    """All fields, `created_at` and `expires_at` among them."""

    @property
    def action(self) -> str:
        """The action of a command; empty: a notification."""
        return _text(self.payload, "action_type")

    @property
    def is_stub(self) -> bool:
        """Whether the message itself is to be fetched: it is larger than the device's frames."""
        return self.raw.get("stub") is True

    def check(self) -> None:
        """Raises `ValueError` if the message is of no kind that can be handled."""
        if self.type not in (NOTIFICATION, COMMAND):
            raise ValueError(f"unknown notification_type {self.type}")
        if self.type == COMMAND and self.action not in _ACTIONS:
            raise ValueError(f"unknown action_type {self.action}")

    def texts(self, locale: str) -> Texts:
        """The texts for a locale (`pt-BR`), else for its language, else the general ones."""
        own = _locale_in(self.payload.get("locales"), locale)

        def of(name: str, own_name: str | None = None) -> str:
            return _text(own, own_name or name) or _text(self.payload, name)

        body = of("body")
        return Texts(of("title"), body, plain_text(body), of("link_for_open", "link-for-open"))


def read_message(value: Any) -> Message | None:
    """Reads a message of the inbox, or the one in a push; None: it is none."""
    try:
        raw = json.loads(value) if isinstance(value, str) else value
        payload = raw.get("payload", {} if raw.get("stub") is True else None)
        if isinstance(raw["id"], int) and isinstance(payload, dict):
            return Message(raw["id"], raw.get("notification_type"), payload, raw)
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return None


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""


def _locale_in(locales: Any, locale: str) -> Mapping[str, Any]:
    if not isinstance(locales, dict):
        return {}
    wanted = _tidy(locale)
    language = wanted.split("-")[0]
    tags = [(_tidy(key), texts) for key, texts in locales.items()]
    for fits in (wanted.__eq__, language.__eq__, lambda tag: tag.split("-")[0] == language):
        for tag, texts in tags:
            if fits(tag) and isinstance(texts, dict):
                return texts
    return {}


def _tidy(tag: str) -> str:
    """Spells a tag in one way. Providers write CN for Chinese."""
    tidy = tag.strip().lower().replace("_", "-")
    return "zh-cn" if tidy == "cn" else tidy


_BREAKS = re.compile(r"<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>", re.IGNORECASE)


def plain_text(body: str) -> str:
    """Filtered HTML as text: blocks become line breaks, entities are decoded."""
    text = _BREAKS.sub("\n", re.sub(r"\s+", " ", body))
    text = html.unescape(re.sub(r"<[^<>]*>", "", text)).replace("\u00a0", " ")
    return re.sub(r"\n{3,}", "\n\n", re.sub(r" *\n *", "\n", text)).strip()
