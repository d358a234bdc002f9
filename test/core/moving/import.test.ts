/** An import that is stopped drops the records that it has read. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { importFromSource, Mover } from '../../../src/core/moving/import.ts';
import type { AskSource } from '../../../src/core/moving/source.ts';
import { Tally } from '../../../src/core/moving/tally.ts';
import { type Engine, makeProvider, openEngine } from '../../support/delivery.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const TIME = '2026-11-20 15:00:00';
const DOMAIN = { id: 5, domain_hash: 'a'.repeat(64), domain_name: null, status: 10 };
const LINK = {
  id: 7,
  install_code: 'Code00000001',
  install_limit: 1,
  install_count: 0,
  status: 10,
};

/** Imports one binding and one link; what is here afterwards, and the paths that were asked. */
async function bring(isStopped: (asked: readonly string[]) => boolean) {
  const asked: string[] = [];
  const ask: AskSource = async (path) => {
    asked.push(path);
    if (path === '/api/list-domain') return [{ ...DOMAIN, created_at: TIME }];
    return path === '/api/list-install' ? [{ ...LINK, created_at: TIME }] : [];
  };
  const provider = await makeProvider(engine);
  const mover = new Mover(engine.core, provider, new Tally(), false, engine.clock.nowMs);
  const facts = { offsetMinutes: 180, rechecks: false, ids: null, callsMax: 1 };
  await importFromSource(mover, ask, {
    ...facts,
    isStopped: () => isStopped(asked),
    onStep: () => undefined,
  });
  const here = (table: string) => engine.db.query(`SELECT id FROM ${table}`).all();
  return { asked, domains: here('domain'), installs: here('install') };
}

const LISTS = ['/api/list-domain', '/api/list-install'];

test('a stop while the lists are read: nothing of them is kept, and no more is asked', async () => {
  const kept = await bring((asked) => asked.length === LISTS.length);
  expect(kept).toEqual({ asked: LISTS, domains: [], installs: [] });
});

test('without a stop the same lists are kept', async () => {
  const kept = await bring(() => false);
  expect(kept).toEqual({
    asked: [...LISTS, '/remote/list'],
    domains: [{ id: DOMAIN.id }],
    installs: [{ id: LINK.id }],
  });
});
