/** What devices say of their messages. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Credentials } from '../../src/core/provider.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { besideOf } from '../support/beside.ts';
import { ack, byBinding, notify, readable, register } from '../support/messaging.ts';
import { seedShop } from '../support/shop.ts';
import { until } from '../support/until.ts';

let app: TestApp;
let own: Credentials;
let token: string;
beforeEach(async () => {
  app = await startTestApp({ hasWorker: true });
  own = await seedShop(app);
  token = await register(app, byBinding('phone', own));
});
afterEach(() => app.close());

async function openDone(of: TestApp): Promise<number> {
  const all = await of.core.store.listAllDistributions({ providerCode: null, countMax: 1_000 });
  return all.filter(({ status }) => status === 100).length;
}

describe('acknowledgements', () => {
  interface Row {
    received_at_ms: number | null;
    opened_at_ms: number | null;
    executed_at_ms: number | null;
    refused_at_ms: number | null;
    is_waiting: number;
    detail: string | null;
  }

  test('in any order, any number of times: nothing that was said is ever unsaid', async () => {
    const db = besideOf(app);
    const rowOf = (id: number) =>
      db
        .query<Row, [number]>(
          'SELECT received_at_ms, opened_at_ms, executed_at_ms, refused_at_ms, is_waiting, detail' +
            ' FROM recipient WHERE distribution_id = ?',
        )
        .get(id) as Row;
    const state = fc.constantFrom('received', 'opened', 'executed', 'failed');
    const said = fc.array(fc.record({ state, detail: fc.constantFrom('a', 'b') }), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(said, fc.boolean(), async (items, isOneCall) => {
        const id = await notify(app, own, 'x', { hwid: 'phone' });
        await until('it is there', () => rowOf(id)?.is_waiting === 1);
        const expected = { ...rowOf(id), is_waiting: 0 };
        for (const item of items) {
          const atMs = isOneCall ? app.clock.nowMs() + items.length - 1 : app.clock.nowMs();
          if (!isOneCall) await ack(app, token, [{ id, ...item }]);
          expected.received_at_ms ??= atMs;
          if (item.state === 'opened') expected.opened_at_ms ??= atMs;
          // Executed or failed: what was said first counts.
          const isOpen = expected.executed_at_ms === null && expected.refused_at_ms === null;
          if (isOpen && item.state === 'executed') expected.executed_at_ms = atMs;
          if (isOpen && item.state === 'failed') {
            expected.refused_at_ms = atMs;
            expected.detail = item.detail;
          }
          if (!isOneCall) app.clock.advance(1);
        }
        if (isOneCall) {
          app.clock.advance(items.length - 1);
          await ack(
            app,
            token,
            items.map((item) => ({ id, ...item })),
          );
        }
        expect(rowOf(id)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
    db.close();
  });

  test('of what is not its own, not delivered or unknown change nothing', async () => {
    await register(app, byBinding('tablet', own));
    const foreign = await notify(app, own, 'x', { hwid: 'tablet' });
    await until('it is delivered', async () => (await openDone(app)) === 1);
    const later = { send_date: '2026-11-20', send_time: '16:00' };
    const planned = await notify(app, own, 'x', { hwid: 'phone' }, later);
    const ids = [foreign, planned, 999_999, 0];
    const reply = await ack(
      app,
      token,
      ids.map((id) => ({ id, state: 'executed' })),
    );
    expect(reply.text).toBe('{"rc":1,"msg":"Ok"}');
    const found = await app.core.store.findDistribution(foreign, 10);
    expect(found?.totals).toMatchObject({ received: 0, executed: 0 });
    app.clock.advance(3_600_000);
    await app.worker?.tick();
    await until('the planned one is there', async () => (await readable(app, token)).length === 1);
  });
});
