/**
 * No answer of a server is older than a change that another process had answered before it was
 * asked: a link, a key, a binding are changed through the store in this process, while a second
 * server adds links, is killed and comes back. What the server keeps between requests, and a
 * snapshot that requests share, must not show.
 *
 * STALE_SECONDS=60 bun test test/e2e/never-stale.test.ts runs it longer, STALE_SEED=n otherwise.
 */

import { expect, test } from 'bun:test';
import type { Store } from '../../src/core/port/store.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { hashKey } from '../../src/core/secret.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { nextTurn } from '../../src/core/turn.ts';
import { ACT } from '../support/actor.ts';
import { call } from '../support/app.ts';
import {
  addProviderByCommand,
  openStoreOf,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { Random } from '../support/random.ts';
import { scaleOf } from '../support/scale.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const SECONDS = scaleOf('STALE_SECONDS', { short: 2, long: 20 });
const SEED = Number(process.env['STALE_SEED'] ?? 3);
const READERS_OF_EACH = 4;
const WRITERS = 4;
const HASH = 'a'.repeat(64);
const CODE = 'Stale1234567';

useProcesses(SECONDS * 1000 + 4 * PATIENCE_MS);

/** A value that changes step by step: which step was begun, and which was answered. */
class Steps {
  begun = 0;
  answered = 0;
  looks = 0;
  readonly #random = new Random(SEED);

  /** Changes until `isOver`; while nothing changes, there are looks that must see just that. */
  async run(isOver: () => boolean, change: (step: number) => Promise<unknown>): Promise<void> {
    while (!isOver()) {
      this.begun += 1;
      await change(this.begun);
      this.answered = this.begun;
      const looks = this.looks + this.#random.int(0, 3 * READERS_OF_EACH);
      while (this.looks < looks && !isOver()) await nextTurn();
    }
  }

  /** Looks until `isOver`; `look` is told what was answered, and returns what it saw. */
  async watch(
    isOver: () => boolean,
    look: (answered: number) => Promise<(step: number) => boolean>,
    problems: string[],
  ): Promise<void> {
    while (!isOver()) {
      const from = this.answered;
      const fits = await look(from);
      const to = this.begun;
      const steps = Array.from({ length: to - from + 1 }, (_, i) => from + i);
      if (!steps.some(fits)) problems.push(`an answer fits no step from ${from} to ${to}`);
      this.looks += 1;
    }
  }
}

const keyOf = (step: number) => `stale-key-${String(step).padStart(22, '0')}`;

/** A second server: adds links, is killed, comes back. */
async function perish(dataDir: string, own: Credentials, isOver: () => boolean): Promise<number> {
  const random = new Random(SEED);
  let kills = 0;
  for (; !isOver(); kills++) {
    const victim = await startServe({ dataDir });
    let left = random.int(1, 200);
    const write = async () => {
      // Its end cuts off whoever it is just answering.
      while (left-- > 0 && !isOver()) {
        await call(victim, '/api/add-install', own, { install_limit: 1 });
      }
    };
    const writing = Array.from({ length: WRITERS }, () => write().catch(() => null));
    await Promise.race(writing);
    await victim.stop('SIGKILL');
    await Promise.all(writing);
  }
  return kills;
}

async function prepare(store: Store, code: string) {
  const providerId = (await store.findProvider(code))?.id ?? 0;
  const draft = { providerId, createdAtMs: Date.now() };
  const link = { installCode: CODE, installLimit: 1, note: '0', installCountMax: 10 };
  const install = await store.addLink({ ...NO_TERMS, ...draft, ...link }, ACT);
  const binding = { domainHash: HASH, domainName: 'stale', domainCountMax: 10 };
  const domain = await store.addDomain({ ...draft, ...binding }, ACT);
  if (typeof install === 'string' || typeof domain === 'string') throw new Error('not prepared');
  const facts = { os: 'ios', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
  const slot = { installCode: CODE, domainHash: HASH, hwid: 'stale' };
  await store.takeSlot(slot, facts, Date.now());
  return { providerId, installId: install.id, domainId: domain.id };
}

test('no answer is older than what another process had answered', async () => {
  const dataDir = temporaryFolder();
  const own = await addProviderByCommand(dataDir);
  const { code } = await addProviderByCommand(dataDir, '--key', keyOf(0));
  const store = await openStoreOf(dataDir);
  const { providerId, installId, domainId } = await prepare(store, own.code);
  const server = await startServe({
    dataDir,
    env: { GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000000' },
  });
  const endMs = performance.now() + SECONDS * 1000;
  const isOver = () => performance.now() > endMs;
  const problems: string[] = [];
  const [note, key, binding] = [new Steps(), new Steps(), new Steps()];

  const readers = Array.from({ length: READERS_OF_EACH }, () => [
    note.watch(
      isOver,
      async () => {
        const { json } = await call(server, '/api/list-install', own, { id: installId });
        return (step) => json.data[0].note === String(step);
      },
      problems,
    ),
    key.watch(
      isOver,
      async (answered) => {
        const rotating = { code, authKey: keyOf(answered) };
        const { json } = await call(server, '/api/list-domain', rotating, { id: 0 });
        return (step) => (json.rc === 1) === (step === answered);
      },
      problems,
    ),
    binding.watch(
      isOver,
      async () => {
        const query = { id: HASH, installid: CODE, hwid: 'stale', os_name: 'ios' };
        const { json } = await call(server, '/install', null, query);
        return (step) => (json.rc === 1) === (step % 2 === 0);
      },
      problems,
    ),
  ]);
  const [kills] = await Promise.all([
    perish(dataDir, own, isOver),
    note.run(isOver, (n) => store.updateLink(providerId, installId, { note: String(n) }, ACT)),
    key.run(isOver, (n) => store.rotateKey(code, hashKey(keyOf(n)), 0, ACT)),
    binding.run(isOver, (n) =>
      n % 2 === 0
        ? store.activateDomain(providerId, domainId, null, ACT)
        : store.disableDomain(providerId, domainId, ACT),
    ),
    ...readers.flat(),
  ]);

  expect(problems).toEqual([]);
  for (const { answered, looks } of [note, key, binding]) {
    expect(answered).toBeGreaterThan(1);
    expect(looks).toBeGreaterThan(1);
  }
  expect(kills).toBeGreaterThan(0);
  expect(server.troubles()).toEqual([]);
  console.log(
    `${note.answered + key.answered + binding.answered} changes,`,
    `${note.looks + key.looks + binding.looks} looks, ${kills} kills`,
  );
  await store.close();
});
