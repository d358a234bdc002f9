/** Names: looked up, checked, and connected to as checked. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { readNetwork } from '../../src/core/outbox/address.ts';
import type { OutgoingCall } from '../../src/outgoing/call.ts';
import { Outgoing, type OutgoingSettings } from '../../src/outgoing/outgoing.ts';
import type { Resolve } from '../../src/outgoing/resolve.ts';
import { resolveWith } from '../../src/outgoing/resolve.ts';
import { FakeClock } from '../support/clock.ts';
import type { Stranger } from './stranger.ts';
import { callTo, NAME, PATIENT, SETTINGS, saying, startStranger } from './stranger.ts';

let stranger: Stranger;
beforeAll(async () => {
  stranger = await startStranger({ '/ok': saying('ok') });
});
afterAll(() => stranger.stop());

interface Scene {
  names: Resolve;
  settings?: Partial<OutgoingSettings>;
  clock?: FakeClock;
}

/** A client that looks names up as told; `send` calls the stranger by its name. */
function scene({ names, settings = {}, clock }: Scene) {
  let lookUps = 0;
  const outgoing = new Outgoing({
    settings: { ...SETTINGS, ...settings },
    clock: clock ?? systemClock,
    files: { ca: stranger.ca, logins: new Map() },
    resolve: (name) => {
      lookUps += 1;
      return names(name);
    },
  });
  return {
    lookUps: () => lookUps,
    send: (changes: Partial<OutgoingCall> = {}, name = NAME) =>
      outgoing.send(callTo(stranger.url('/ok', name), changes), PATIENT),
  };
}

const heardBy = async (act: () => Promise<unknown>): Promise<number> => {
  const before = stranger.heard.length;
  await act();
  return stranger.heard.length - before;
};

test.each([
  ['10.x', ['10.1.2.3']],
  ['this machine', ['127.0.0.1']],
  ['metadata', ['169.254.169.254']],
  ['mapped', ['::ffff:127.0.0.1']],
  ['IPv6 of this machine', ['::1']],
  ['link-local', ['fe80::1%eth0']],
  ['NAT64', ['64:ff9b::7f00:1']],
  ['one private among public ones', ['8.8.8.8', '1.1.1.1', '192.168.0.1']],
  ['no address', ['not an address']],
])('a name that leads to %s is not called', async (_, addresses) => {
  const { send } = scene({ names: async () => addresses, settings: { outgoingAllow: [] } });
  const heard = await heardBy(async () => {
    expect(await send()).toMatchObject({
      kind: 'name',
      problem: `${NAME}:${stranger.port} has no public address`,
    });
  });
  expect(heard).toBe(0);
});

test('a private name and an unknown one fail with the same sentence', async () => {
  const nobodyKnows = async () => {
    throw new Error('ENOTFOUND');
  };
  const settings = { outgoingAllow: [] };
  const answers = await Promise.all(
    [async () => ['10.1.2.3'], async () => ['127.0.0.1', '8.8.8.8'], nobodyKnows].map((names) =>
      scene({ names, settings }).send(),
    ),
  );
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});

test('what the operator chose is called wherever it leads', async () => {
  const { send } = scene({ names: async () => ['127.0.0.1'], settings: { outgoingAllow: [] } });
  expect(await send({ trust: 'operator' })).toMatchObject({ status: 200 });
  expect(await send({ trust: 'operator' }, 'localhost')).toMatchObject({ status: 200 });
  expect(await send({ trust: 'untrusted' })).toMatchObject({ kind: 'name' });
});

test('localhost is never looked up', async () => {
  const { send, lookUps } = scene({ names: async () => ['8.8.8.8'] });
  expect(await send({}, 'localhost')).toMatchObject({ status: 200 });
  expect(lookUps()).toBe(0);
});

test('a name that changes between look-ups is checked each time, and called as checked', async () => {
  const clock = new FakeClock();
  const allow = [readNetwork('127.0.0.1') ?? []].flat();
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']];
  const { send, lookUps } = scene({
    clock,
    settings: { outgoingAllow: allow },
    names: async () => answers.shift() ?? ['10.0.0.1'],
  });
  // One look-up for check and call: there is none in between that could say otherwise.
  expect(await send()).toMatchObject({ status: 200 });
  expect(lookUps()).toBe(1);
  expect(await send()).toMatchObject({ status: 200 });
  expect(lookUps()).toBe(1);
  clock.advance(30_000);
  expect(await send()).toMatchObject({ kind: 'name' });
  expect(lookUps()).toBe(2);
  clock.advance(30_000);
  expect(await send()).toMatchObject({ status: 200 });
});

test('a network that the operator no longer lists is closed at once', async () => {
  const live = { ...SETTINGS, outgoingOriginRate: 1000 };
  const outgoing = new Outgoing({
    settings: live,
    clock: systemClock,
    files: { ca: stranger.ca, logins: new Map() },
    resolve: async () => ['127.0.0.1'],
  });
  const call = callTo(stranger.url('/ok'));
  expect(await outgoing.send(call, PATIENT)).toMatchObject({ status: 200 });
  live.outgoingAllow = [];
  expect(await outgoing.send(call, PATIENT)).toMatchObject({ kind: 'name' });
});

test('the next address is tried when one cannot be connected to', async () => {
  // No server listens on the first two.
  const { send } = scene({ names: async () => ['127.0.0.2', '127.0.0.3', '127.0.0.1'] });
  for (let count = 0; count < 3; count++) expect(await send()).toMatchObject({ status: 200 });
});

test('a name without an address, and one whose name servers never answer', async () => {
  expect(await scene({ names: async () => [] }).send()).toMatchObject({ kind: 'name' });
  const failing = scene({ names: () => Promise.reject(new Error('ENOTFOUND')) });
  expect(await failing.send()).toMatchObject({ kind: 'name' });
  const silent = scene({ names: () => new Promise(() => {}) });
  expect(await silent.send({ timeoutMs: 50 })).toMatchObject({ kind: 'timeout' });
});

test('calls at the same time share a look-up', async () => {
  const { send, lookUps } = scene({ names: async () => ['127.0.0.1'] });
  await Promise.all(Array.from({ length: 8 }, () => send()));
  expect(lookUps()).toBe(1);
});

test('an address on which no server listens', async () => {
  const { send, lookUps } = scene({ names: async () => ['127.0.0.2', '127.0.0.3'] });
  const outcome = await send();
  expect(outcome).toMatchObject({ kind: 'unreachable' });
  expect(outcome).toHaveProperty('problem', expect.stringContaining('the connection is refused'));
  await send();
  expect(lookUps()).toBe(2);
});

test('the file of hosts comes before the name servers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-hosts-'));
  const file = join(folder, 'hosts');
  writeFileSync(
    file,
    [
      '# 10.0.0.1 bot.example.com',
      '10.0.0.2\tother.example.com Bot.Example.com # the bot',
      'fd00::2 bot.example.com',
      '10.0.0.3 my-bot.example.com bot.example.com.example',
    ].join('\r\n'),
  );
  expect(await resolveWith(file)('bot.example.com')).toEqual(['10.0.0.2', 'fd00::2']);
  expect(await resolveWith(file)('other.example.com')).toEqual(['10.0.0.2']);
  rmSync(folder, { recursive: true });
});
