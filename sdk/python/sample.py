"""A phone in the terminal: python sample.py https://HOST LINK DOMAIN_HASH"""

import asyncio
import sys

from gatepost_device import Delivery, Device, FileStore, Status


def show(got: Delivery) -> None:
    if got.action:
        print(f"{got.action}: {dict(got.message.payload)}")
    else:
        print(f"{got.texts.title}\n{got.texts.plain}")


def tell(status: Status) -> None:
    print(f"({status.state}) {status.text or status.detail}", flush=True)


async def main(url: str, link: str, domain_hash: str) -> None:
    registration = {"os": "linux", "install_code": link, "domain_hash": domain_hash}
    store = FileStore("device.json")
    device = Device(url, registration, store, show, on_state=tell, locale="en")
    await device.run()


asyncio.run(main(*sys.argv[1:4]))
