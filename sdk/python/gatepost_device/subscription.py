"""A subscription's fetch: the headers that name the device, and the server that it finds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from .state import Store, read_state

_PATH = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9._~-]+)+")
_FIELDS = {"x-device-os": "os", "x-ver-os": "os_version", "x-device-model": "device_name",
           "x-app-version": "app_version"}


class Server(NamedTuple):
    """A server of devices, and the fields of a registration by which it knows the subscription."""

    url: str
    path: str
    registration: Mapping[str, str]


def discover(url: str, headers: Mapping[str, str]) -> Server | None:
    """Reads the answer to a subscription's fetch: the address that was fetched, and the headers.
    Returns the server for a :class:`Device`, on the same host; None: the answer names none."""
    at = urlsplit(url)
    path = {name.lower(): value for name, value in headers.items()}.get("x-device-server", "")
    if at.scheme not in ("http", "https") or not at.hostname or not _PATH.fullmatch(path):
        return None
    return Server(f"{at.scheme}://{at.netloc.rpartition('@')[2]}", path, {"subscription_url": url})


def headers_of(hwid: str, registration: Mapping[str, str]) -> dict[str, str]:
    """The headers of a HWID and of the fields of a registration."""
    named = {name: registration[key] for name, key in _FIELDS.items() if registration.get(key)}
    return {"x-hwid": hwid, **named, "x-device-protocol": "1"}


def fetch_headers(
    store: Store, registration: Mapping[str, str], hwid: str | None = None
) -> dict[str, str]:
    """The headers for a subscription's fetch before there is a device: they ask for the server of
    :func:`discover`. A HWID that was drawn is kept in the store, where the device finds it."""
    state = read_state(store.read(), hwid)
    store.write(state.text())
    return headers_of(state.hwid, registration)
