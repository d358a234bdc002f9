/** What a write on PostgreSQL tells of itself: entries, events and figures, whatever happens. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { hashOfBlock, NO_ANCHOR } from '../../src/core/audit/chain.ts';
import type { AuditEntry, Deed } from '../../src/core/audit/entry.ts';
import type { AuditBlock } from '../../src/core/port/audit.ts';
import type { Happening } from '../../src/core/port/event.ts';
import { auditNoun } from '../../src/store/noun/audit.ts';
import { figureNoun } from '../../src/store/noun/figure.ts';
import { FigureCounter } from '../../src/store/noun/figure-counter.ts';
import { postgresBackend } from '../../src/store/postgres/backend.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { DatabaseClock } from '../../src/store/postgres/database-clock.ts';
import { nodeStore } from '../../src/store/postgres/node.ts';
import { Sealer } from '../../src/store/postgres/sealer.ts';
import { Signals } from '../../src/store/postgres/signals.ts';
import type { Context } from '../../src/store/postgres/write.ts';
import { NOTES, type Write, write } from '../../src/store/postgres/write.ts';
import { OutcomeUnknown } from '../../src/store/refusal.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres } from '../support/needs.ts';
import { noLeap } from '../support/no-leap.ts';
import { placeOf } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { until } from '../support/until.ts';
import { CLOCK, NOW_MS } from './contract/fixture.ts';

const PROVIDER = 1;
const deed = (id: number): Deed => ({ action: 'domain.add', object: { id } });
const linkFull = (id: number): Happening => ({ kind: 'link.full', data: { install_id: id } });

describePostgres('what a write tells of itself on PostgreSQL', () => {
  let database: TestDatabase;
  let nodes: Database[];
  let one: Context;
  /** Events on disk at each signal, as another connection sees them. */
  let signals: Promise<number>[];

  beforeEach(async () => {
    database = await freshDatabase();
    nodes = [];
    signals = [];
    one = open();
    await database.sql.unsafe(`
      INSERT INTO provider (id, code, name, plan, key_hash, created_at_ms)
      VALUES (1, 'Provide1', 'one', 'basic', decode(repeat('00', 32), 'hex'), 0)`);
  });
  afterEach(async () => {
    for (const db of nodes) await db.close();
    await database.drop();
  });

  /** The parts of a node; its sealer does nothing of itself unless it is told to. */
  function open(): Context {
    const db = new Database(placeOf(database.url));
    nodes.push(db);
    const context: Context = {
      db,
      figures: new FigureCounter(),
      signals: new Signals(),
      statementMs: 10_000,
      write: (work) => write(context, work),
      sealer: new Sealer(db, (work) => context.write(work)),
      observers: { onOutbox: () => signals.push(countOf('event')) },
      clock: CLOCK,
      storeNowMs: () => NOW_MS,
      storeMs: (atMs) => atMs,
      leastMs: noLeap,
    };
    return context;
  }

  async function countOf(table: string): Promise<number> {
    const [row] = await database.sql.unsafe(`SELECT count(*)::integer AS count FROM ${table}`);
    return row.count;
  }

  const noting = (context: Context, ...ids: number[]) =>
    context.write(async (w) => {
      for (const id of ids) w.notes.audit(ACT, deed(id));
    });

  /** The ids of the deeds by block; the chain must hold. */
  async function chain(context: Context): Promise<number[][]> {
    const { blocks } = await auditNoun(postgresBackend(context), () =>
      context.sealer.seal(),
    ).readAudit(0, 10_000);
    let before: Pick<AuditBlock, 'number' | 'hash'> = NO_ANCHOR;
    return blocks.map((block) => {
      const entries = JSON.parse(block.entries) as AuditEntry[];
      expect(block.prevHash).toEqual(before.hash);
      expect(block.hash).toEqual(hashOfBlock(block));
      expect(block.number).toBe(before.number + entries.length);
      before = block;
      return entries.map(({ object }) => Number(object['id']));
    });
  }

  const sorted = (blocks: number[][]) => blocks.flat().sort((a, b) => a - b);
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

  const writes: [string, (w: Write) => unknown][] = [
    ['is refused', (w) => w.notes.refuse('no')],
    ['throws', () => Promise.reject(new Error('a rule was broken'))],
  ];

  test.each(writes)('a write that %s leaves no entry, no event and no figure', async (_, end) => {
    await addWebhook(1);
    const failing = one.write(async (w) => {
      w.notes.audit(ACT, deed(1));
      w.notes.event(PROVIDER, NOW_MS, () => linkFull(1));
      w.notes.figure(PROVIDER, 'links', NOW_MS);
      await end(w);
    });
    await failing.catch(() => undefined);
    expect([await countOf('audit_pending'), await countOf('event')]).toEqual([0, 0]);
    await saveFigures(one);
    expect([await countOf('provider_day'), signals.length]).toEqual([0, 0]);
  });

  test('the entries of a write are one block, in their order', async () => {
    await noting(one, 3, 1, 2);
    await noting(one, 4);
    expect(await chain(one)).toEqual([[3, 1, 2], [4]]);
    expect(await countOf('audit_pending')).toBe(0);
  });

  test('a commit is one block, though a step seals less', async () => {
    const many = upTo(5_000);
    await noting(one, 0);
    await noting(one, ...many);
    for (const id of [6_001, 6_002, 6_003]) await noting(one, id);
    expect(await chain(one)).toEqual([[0], many, [6_001], [6_002], [6_003]]);
  });

  test('what a node that died left is sealed by whoever reads', async () => {
    const dead = open();
    await noting(dead, 1);
    await dead.db.close();
    expect(await chain(one)).toEqual([[1]]);
  });

  test('what a node that died left is sealed by a node that serves, though nobody reads', async () => {
    const dead = open();
    await noting(dead, 1);
    await dead.db.close();
    const self = { nodeId: null, clock: new DatabaseClock(one.db, CLOCK) };
    const facts = { name: 'one', address: '', version: '', startedAtMs: NOW_MS };
    await nodeStore(one, self).noteNode(facts);
    await until('it is sealed', async () => (await countOf('audit')) === 1);
  });

  test('what nobody reads is sealed within a second or two', async () => {
    await noting(one, 1);
    expect(await countOf('audit')).toBe(0);
    await until('it is sealed', async () => (await countOf('audit')) === 1);
    expect(await countOf('audit_pending')).toBe(0);
  });

  test('nodes that write and seal at the same time make one chain', async () => {
    const all = [one, open(), open()];
    await Promise.all(
      upTo(90).map(async (id) => {
        const node = all[id % 3] as Context;
        await noting(node, id);
        if (id % 5 === 0) await node.sealer.seal();
      }),
    );
    const blocks = await chain(one);
    expect(sorted(blocks)).toEqual(upTo(90));
    expect(blocks).toHaveLength(90);
  });

  test('a commit that comes after a younger one is sealed behind it', async () => {
    const late = Promise.withResolvers<void>();
    const hasBegun = Promise.withResolvers<void>();
    const older = one.write(async (w) => {
      await w.ask(`INSERT INTO audit_pending (at_ms, entry) VALUES (1, '{"object":{"id":1}}')`, []);
      hasBegun.resolve();
      await late.promise;
    });
    await hasBegun.promise;
    await noting(open(), 2);
    // By another node: a party alone may have one transaction less than there are.
    expect(await chain(open())).toEqual([[2]]);
    late.resolve();
    await older;
    expect(await chain(one)).toEqual([[2], [1]]);
  });

  test("a provider's repeated changes are counted over all nodes", async () => {
    const actor = { kind: 'provider', name: 'Provide1', from: '127.0.0.1' } as const;
    const changes = (['install.update', 'webhook.update'] as const).map(
      (action): Deed => ({
        action,
        object: { id: 1 },
      }),
    );
    const nodes = [one, open()];
    await Promise.all(
      upTo(20).map((n) =>
        (nodes[n % 2] as Context).write(async (w) => {
          for (const change of [...changes, ...changes]) {
            w.notes.audit({ actor, atMs: NOW_MS }, change, PROVIDER);
          }
        }),
      ),
    );
    const [row] = await database.sql`
      SELECT change_count::integer AS folding, alone_count::integer AS alone FROM provider`;
    expect(row).toEqual({ folding: 40, alone: 40 });
  });

  async function addWebhook(id: number, { kinds = '', waiting = 0 } = {}): Promise<void> {
    await database.sql`
      INSERT INTO webhook (id, provider_id, kind, address, events, scheme, secret, locale,
        created_at_ms)
      VALUES (${id}, 1, 'webhook', 'https://bot.example.com/', ${kinds}, 'v1', 's', '', 0)`;
    await database.sql`
      INSERT INTO destination (id, kind, origin, webhook_id, waiting_count)
      VALUES (${id}, 'webhook', '', ${id}, ${waiting})`;
  }

  const waitingFor = async (webhookId: number): Promise<string[]> => {
    const rows = await database.sql`
      SELECT e.kind || ' ' || e.data AS told FROM outbox o JOIN event e ON e.id = o.event_id
      WHERE o.destination_id = ${webhookId} ORDER BY e.id`;
    return Array.from(rows, ({ told }: { told: string }) => told);
  };

  test('events are there with their change, in their order, before anybody hears of it', async () => {
    await addWebhook(1);
    await addWebhook(2, { kinds: 'link.created' });
    await one.write(async (w) => {
      for (const id of [2, 1]) w.notes.event(PROVIDER, NOW_MS, () => linkFull(id));
      w.notes.event(null, NOW_MS, () => linkFull(3));
    });
    const told = ['link.full {"install_id":2}', 'link.full {"install_id":1}'];
    expect(await waitingFor(1)).toEqual(told);
    expect(await waitingFor(2)).toEqual([]);
    expect(await Promise.all(signals)).toEqual([2]);
    expect(await countOf('event')).toBe(2);
  });

  test('nothing is made of what nobody wants', async () => {
    await addWebhook(1, { kinds: 'link.created' });
    let isMade = false;
    await one.write(async (w) => {
      w.notes.event(null, NOW_MS, () => {
        isMade = true;
        return linkFull(1);
      });
      w.notes.event(PROVIDER, NOW_MS, () => linkFull(2));
    });
    expect([isMade, await countOf('event'), signals.length]).toEqual([false, 0, 0]);
  });

  test('a webhook that takes nothing is disabled when its queue is full; others hear of it', async () => {
    await addWebhook(1, { waiting: 100_000 });
    await addWebhook(2);
    const made = { kind: 'link.created', data: { install_id: 1 } } as const;
    await one.write(async (w) => w.notes.event(PROVIDER, NOW_MS, () => made));
    const [row] = await database.sql`SELECT disabled_why AS why FROM webhook WHERE id = 1`;
    expect(row.why).toStartWith('100000 events wait for it');
    expect(await waitingFor(1)).toEqual([]);
    const told = await waitingFor(2);
    expect(told.map((text) => text.split(' ')[0])).toEqual(['link.created', 'webhook.disabled']);
  });

  test('a webhook that is removed at the same time takes no write with it', async () => {
    const beside = open();
    for (let round = 1; round <= 10; round++) {
      await addWebhook(round);
      const results = await Promise.allSettled([
        ...upTo(4).map((id) =>
          (id % 2 === 0 ? one : beside).write(async (w) =>
            w.notes.event(PROVIDER, NOW_MS, () => linkFull(id)),
          ),
        ),
        beside.write(async (w) => w.ask(`DELETE FROM webhook WHERE id = ${round}`, [])),
      ]);
      expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
    }
    expect(await countOf('outbox')).toBe(0);
  });

  const saveFigures = (node: Context) =>
    figureNoun(postgresBackend(node), node.figures, NOTES.events).saveFigures();

  test('figures of several nodes add up, whoever saves them at the same time', async () => {
    const nodes = [one, open(), open()];
    for (const node of nodes) {
      await node.write(async (w) => w.notes.figure(PROVIDER, 'links', NOW_MS, 2));
      node.figures.note(PROVIDER, 'links', NOW_MS);
      node.figures.note(99, 'links', NOW_MS);
    }
    await Promise.all(nodes.flatMap((node) => [saveFigures(node), saveFigures(node)]));
    const rows = await database.sql`SELECT links::integer AS links FROM provider_day`;
    expect(Array.from(rows)).toEqual([{ links: 9 }]);
  });

  test('figures that cannot be saved wait', async () => {
    one.figures.note(PROVIDER, 'links', NOW_MS);
    await database.sql.unsafe('ALTER TABLE provider_day ADD CONSTRAINT no CHECK (links = 0)');
    const [fault] = await Promise.allSettled([saveFigures(one)]);
    expect(fault?.status).toBe('rejected');
    await database.sql.unsafe('ALTER TABLE provider_day DROP CONSTRAINT no');
    await saveFigures(one);
    expect(await countOf('provider_day')).toBe(1);
  });

  test('figures of which nobody knows whether they were saved count once at most', async () => {
    one.figures.note(PROVIDER, 'links', NOW_MS);
    const failing: Context = {
      ...one,
      write: async (work) => {
        await one.write(work);
        throw new OutcomeUnknown('the connection went');
      },
    };
    await Promise.allSettled([saveFigures(failing)]);
    await saveFigures(one);
    const rows = await database.sql`SELECT links::integer AS links FROM provider_day`;
    expect(Array.from(rows)).toEqual([{ links: 1 }]);
  });
});
