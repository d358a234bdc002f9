"""The driver of the kit, for `gatepost device check --against` and tests: orders come as lines of
JSON on standard input, and results go out in the same form."""

import asyncio
import json
import sys
from pathlib import Path

from gatepost_device import KEPT, Delivery, Device, Fault, FileStore, Status, Stopped, discover


class File:
    """A store whose state the app may write beside an effect."""

    def __init__(self, folder: str) -> None:
        self.path = FileStore(Path(folder) / "device.json")
        self.kept = json.loads(self.path.read() or '{"state": null, "effects": []}')

    def change(self, **more) -> None:
        self.kept = {**self.kept, **more}
        self.path.write(json.dumps(self.kept))

    def read(self):
        return self.kept["state"]

    def write(self, text: str) -> None:
        self.change(state=text)


def say(said: str, **line) -> None:
    print(json.dumps({"said": said, **line}), flush=True)


def tell(status: Status) -> None:
    line = vars(status)
    more = {name: line[name] for name in ("reason", "text", "limit", "free_url") if line[name]}
    say("state", state=status.state, detail=status.detail, **more)


def start(order: dict, file: File) -> Device | None:
    def handle(got: Delivery) -> str | None:
        texts = {"title": got.texts.title, "text": got.texts.plain, "action": got.action}
        say("message", id=got.message.id, type=got.message.type, **texts)
        effects = [*file.kept["effects"], got.message.id]
        if not order["transaction"]:
            file.change(effects=effects)
            return None
        file.change(effects=effects, state=got.state)
        return KEPT

    own = {"os": order["os"], "os_version": "15", "device_name": "Driver", "app_version": "1.0"}
    by_link = {"install_code": order["link"], "domain_hash": order["domain_hash"]}
    subscription = order.get("subscription")
    server = discover(**subscription) if subscription else order["url"]
    if server is None:
        return None
    return Device(
        server,
        own if subscription else {**own, **by_link},
        file,
        handle,
        on_state=tell,
        hwid=order["hwid"],
        locale=order["locale"],
        push=order["push"],
        polls=order["mode"] == "poll",
        ping=order["ping"] or 0,
        frame_max=order.get("frame_max") or 0,
        pace=order["pace"],
    )


async def main() -> None:
    lines = asyncio.StreamReader(limit=2**24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    device, file, running, tasks = None, None, None, set()

    def later(work) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def run() -> None:
        try:
            await device.run()
        except Stopped:
            pass

    while line := await lines.readline():
        order = json.loads(line)
        if order["do"] == "start":
            file = File(order["folder"])
            try:
                device = start(order, file)
            except Fault as fault:
                tell(Status("refused", str(fault), fault.reason))
                continue
            if device is None:
                say("nothing")
                continue
            running = asyncio.create_task(run())
            say("started")
        elif order["do"] == "push":
            later(device.take_push(order["data"], order["shown"]))
        elif order["do"] == "push_token":
            later(device.set_push({"gateway": order["gateway"], "token": order["token"]}))
        elif order["do"] == "opened":
            later(device.opened(order["id"]))
        elif order["do"] == "headers":
            say("headers", headers=await device.headers())
        elif order["do"] == "effects":
            say("effects", ids=file.kept["effects"])
        elif order["do"] == "stop":
            running.cancel()
            say("stopped")


asyncio.run(main())
