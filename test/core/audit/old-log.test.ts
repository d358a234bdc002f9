/** Logs that earlier releases wrote verify, and the entries of this one continue them. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { exportLine, listAudit } from '../../../src/core/audit/chain.ts';
import { verifyAudit } from '../../../src/core/audit/verify.ts';
import { ACT } from '../../support/actor.ts';
import { type Engine, makeProvider, openEngine } from '../../support/delivery.ts';
import { STORE } from '../../support/place.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(() => engine.close());

const ANY = { provider: null, action: null, hwidHash: null, sinceMs: null, untilMs: null };
const text = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** Puts an export into the database: 600 changes of a minute were pruned, and more uncounted. */
function restore(lines: readonly string[]): void {
  const bytes = (hex: string) => (STORE === 'sqlite' ? `x'${hex}'` : `'\\x${hex}'`);
  engine.db.query('DELETE FROM audit').run();
  for (const line of lines) {
    const { hash, prev, last, entries } = JSON.parse(line);
    const atMs = Date.parse(entries.at(-1).at);
    // The text of the entries is hashed as it stands.
    const list = line.slice(line.indexOf('"entries":') + '"entries":'.length, -1);
    const values = [last, atMs, bytes(prev), bytes(hash), text(list)].join(', ');
    engine.db.query(`INSERT INTO audit VALUES (${values})`).run();
  }
  const { hash, through, until } = JSON.parse(lines.at(-1) ?? '').entries[0].object;
  const anchor = [1, through, bytes(hash), Date.parse(until)].join(', ');
  engine.db.query(`INSERT INTO audit_anchor VALUES (${anchor})`).run();
}

test.each(['0-17-0', '0-18-0'])('the log of %s', async (release) => {
  const file = join(import.meta.dir, `log-of-${release}.jsonl`);
  const lines = (await Bun.file(file).text()).trimEnd().split('\n');
  restore(lines);
  const { core } = engine;
  const bounds = { auditDays: 365, auditEntriesMax: 6 };
  const measure = { ...bounds, expected: [], nowMs: engine.clock.nowMs() };
  expect(await verifyAudit(core, measure)).toMatchObject({
    count: 6,
    prunedCount: 602,
    problem: null,
  });
  const { blocks } = await core.store.readAudit(0, 100);
  expect(blocks.map(exportLine)).toEqual(lines);
  const entries = await listAudit(core, { ...ANY, action: 'install.update', countMax: 9 });
  expect(entries.map(({ object }) => object['unlisted_before'])).toEqual([
    undefined,
    undefined,
    40,
  ]);

  const { code } = await makeProvider(engine);
  await core.store.updateProvider(code, { plan: 'pro' }, ACT);
  const head = blocks.at(-1);
  const expected = [`608:${Buffer.from(head?.hash ?? []).toString('hex')}`];
  expect(await verifyAudit(core, { ...measure, expected })).toMatchObject({
    count: 8,
    problem: null,
  });
});
