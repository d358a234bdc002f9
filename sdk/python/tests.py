"""What an app may do wrong, and a device must survive: python -m unittest tests"""

import asyncio
import contextlib
import unittest

from aiohttp import web

from gatepost_device import Delivery, Device, Stopped

OK = {"rc": 1, "msg": "Ok"}


class Memory:
    """A store that fails for as long as `fails` is set."""

    text = None
    fails = False

    def read(self):
        return self.text

    def write(self, text):
        if self.fails:
            raise RuntimeError("the disk is full")
        self.text = text


class Server:
    """A server for one device that polls."""

    def __init__(self):
        self.inbox, self.acks, self.tokens, self.ended = {}, [], [], False

    async def start(self):
        app = web.Application()
        app.router.add_post("/device/register", self.register)
        app.router.add_get("/device/inbox", self.polled)
        app.router.add_post("/device/ack", self.acknowledged)
        self.runner = web.AppRunner(app, shutdown_timeout=0)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"

    def put(self, number):
        self.inbox[number] = {"id": number, "notification_type": 10, "payload": {"body": "text"}}

    async def register(self, request):
        self.tokens.append(request.headers.get("Authorization"))
        self.ended = False
        return web.json_response({**OK, "device_token": "t" * 43})

    async def polled(self, request):
        if self.ended:
            said = {"rc": 0, "msg": "Device token error", "reason": "slot_freed", "text": "Gone."}
            return web.json_response(said)
        await asyncio.sleep(0.01)
        return web.json_response({**OK, "data": list(self.inbox.values())})

    async def acknowledged(self, request):
        items = (await request.json())["items"]
        self.acks += [(item["id"], item["state"]) for item in items]
        for item in items:
            self.inbox.pop(item["id"], None)
        return web.json_response(OK)


async def until(is_so):
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.005)


class DeviceTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.server, self.store, self.handled, self.states = Server(), Memory(), [], []
        url = await self.server.start()
        self.device = Device(
            url, {"os": "linux"}, self.store, self.handle, on_state=self.tell, polls=True, pace=0.02
        )
        self.running = asyncio.create_task(self.device.run())

    async def asyncTearDown(self):
        self.running.cancel()
        with contextlib.suppress(asyncio.CancelledError, Stopped):
            await self.running
        await self.server.runner.cleanup()

    async def handle(self, got: Delivery):
        self.handled.append(got.message.id)
        if got.message.id == 1:
            raise KeyError("no such thing")

    def tell(self, status):
        self.states.append(status.state)
        raise RuntimeError("the screen is gone")

    async def test_what_an_app_raises_ends_nothing(self):
        await until(lambda: "open" in self.states)
        self.server.put(1)
        await until(lambda: (1, "failed") in self.server.acks)
        self.server.put(2)
        await until(lambda: (2, "received") in self.server.acks)

    async def test_a_store_that_fails_ends_nothing(self):
        await until(lambda: "open" in self.states)
        self.store.fails = True
        self.server.put(2)
        await until(lambda: self.states.count("closed") >= 2)
        self.assertEqual(self.server.acks, [])
        self.store.fails = False
        await until(lambda: (2, "received") in self.server.acks)
        self.assertFalse(self.running.done())

    async def test_a_second_run_leaves_the_first_one_alone(self):
        await until(lambda: "open" in self.states)
        with self.assertRaises(RuntimeError):
            await self.device.run()
        self.server.put(2)
        await until(lambda: (2, "received") in self.server.acks)

    async def test_it_ends_when_its_task_is_cancelled(self):
        await until(lambda: "open" in self.states)
        self.running.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await self.running

    async def test_only_a_run_registers_after_the_end_of_a_slot(self):
        await until(lambda: "open" in self.states)
        self.server.ended = True
        with self.assertRaises(Stopped) as stopped:
            await self.running
        self.assertEqual(stopped.exception.status.reason, "slot_freed")
        self.assertEqual(stopped.exception.status.text, "Gone.")
        await self.device.set_push({"gateway": "fcm", "token": "other"})
        await self.device.take_push({"id": "7", "kind": "command"}, False)
        self.assertEqual(self.server.tokens, [None])
        self.running = asyncio.create_task(self.device.run())
        await until(lambda: self.server.tokens == [None, None])


if __name__ == "__main__":
    unittest.main()
