/**
 * Ends of slots by two nodes while the device registers, polls, acknowledges and opens a stream: it
 * is never left with a token that reads nothing, nor without the reason.
 */

import { expect, test } from 'bun:test';
import type { Store } from '../../src/core/port/store.ts';
import { ACT } from '../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { ack, byLink, inbox, notify, register, tryRegister } from '../support/messaging.ts';
import { addLink, bind, seedShop } from '../support/shop.ts';
import { openStream, received } from '../support/stream.ts';
import { until } from '../support/until.ts';

const ROUNDS = 30;
const CODES = ['LinkCode0001', 'LinkCode0009'] as const;
const selector = (n: 0 | 1) => ({ installCode: CODES[n], installId: null });

/** Acts after a moment that is another one in each round. */
const soon = async <T>(act: () => Promise<T>): Promise<T> => {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
  return act();
};

async function start() {
  const app = await startTestApp({ hasWorker: true });
  app.settings.registrationsPerMinuteMax = 10_000;
  const owners = [await seedShop(app), await seedProvider(app)] as const;
  await bind(app, owners[1]);
  const ids: number[] = [];
  for (const [n, owner] of owners.entries()) {
    await addLink(app, owner, CODES[n], 100);
    ids.push((await app.core.store.findProvider(owner.code))?.id ?? 0);
  }
  return { app, owner: owners[0], ids: ids as [number, number] };
}

async function slotCount({ core }: TestApp, ids: [number, number], hwid: string) {
  const of = async (n: 0 | 1) => {
    const slots = await core.store.listSlots(ids[n], selector(n), hwid, 5);
    return typeof slots === 'string' ? 0 : slots.length;
  };
  return (await of(0)) + (await of(1));
}

test('a device with two places that end meanwhile knows where it stands', async () => {
  const { app, owner, ids } = await start();
  const beside = await app.openBeside();
  // The server looks for commits of others once a second.
  const ticking = setInterval(() => app.clock.advance(250), 20);
  const free = (store: Store, n: 0 | 1, hwid: string) =>
    store.freeSlot(ids[n], selector(n), hwid, ACT);
  for (let round = 0; round < ROUNDS; round += 1) {
    const hwid = `phone-${round}`;
    const first = await register(app, byLink(hwid, CODES[0]));
    const token = await register(app, byLink(hwid, CODES[1]), first);
    const id = await notify(app, owner, 'hello', { hwid });
    await until('it waits', async () => (await inbox(app, token)).json.data.length === 1);
    const [again, stream] = await Promise.all([
      round % 2 === 0 ? null : soon(() => tryRegister(app, byLink(hwid, CODES[0]), token)),
      soon(() => openStream(app, token)).catch(() => null),
      soon(() => inbox(app, token, 1)),
      soon(() => ack(app, token, received(id).items)),
      soon(() => free(beside, 0, hwid)),
      soon(() => free(app.core.store, 1, hwid)),
    ]);
    const { json } = await inbox(app, again?.json.device_token ?? token);
    const hasSlot = (await slotCount(app, ids, hwid)) > 0;
    expect([round, json.rc === 1]).toEqual([round, hasSlot]);
    if (!hasSlot) expect([round, json.reason]).toEqual([round, 'slot_freed']);
    if (json.rc === 0) await until('its stream ends', () => stream?.socket.readyState !== 1);
    stream?.socket.close();
  }
  clearInterval(ticking);
  await beside.close();
  await app.close();
});
