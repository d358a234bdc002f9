/**
 * Puts entries into the chain of the audit log. Commits must not wait for each other at the chain,
 * so each adds its entries to `audit_pending`. Any node seals them later, and a read of the log
 * seals them first. The entries of one commit become one block, under the lock of `audit_head`.
 */

import { blockAfter, NO_ANCHOR } from '../../core/audit/chain.ts';
import type { EntryText } from '../../core/audit/entry.ts';
import type { Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { runOn, STATEMENTS, waitFor } from './dialect.ts';
import { prepare, type Runner, tableOf } from './statement.ts';

/** Time from a commit until its entries are sealed, unless a read seals them earlier, ms. */
const SEAL_AFTER_MS = 1_000;

/** Entries that a step seals; a larger commit is still one step. */
const STEP_COUNT = 2_000;

interface Pending extends EntryText {
  /** The transaction that added it. */
  xact: string;
  id: number;
}

const COLUMNS = sql.raw('xact::text AS xact, id, at_ms AS "atMs", entry AS text');

const BLOCKS = tableOf('x', {
  number: 'bigint',
  atMs: 'bigint',
  prevHash: 'bytea',
  hash: 'bytea',
  entries: 'text',
});
const ENTRIES = tableOf('x', { atMs: 'bigint', text: 'text' });

/** The end of the chain. */
const chain = {
  newest: prepare(sql`
      SELECT ${columns('audit', 'lastNumber AS number, hash')}
      FROM audit ORDER BY last_number DESC LIMIT 1`),
  anchor: prepare(sql`
      SELECT ${columns('audit_anchor', 'lastNumber AS number, hash, untilMs')} FROM audit_anchor`),
  add: prepare(sql`
      INSERT INTO audit (last_number, at_ms, prev_hash, hash, entries)
      SELECT number, at_ms, prev_hash, hash, entries FROM ${BLOCKS.from}`),
};

const pending = {
  add: prepare(sql`
      INSERT INTO audit_pending (at_ms, entry)
      SELECT x.at_ms, x.text FROM ${ENTRIES.from} ORDER BY x.n`),
  /** In the order of the index, because sealed rows stay in the table until a vacuum. */
  isThere: prepare<{ id: number }>(sql`SELECT id FROM audit_pending ORDER BY xact, id LIMIT 1`),
  oldest: prepare<Pending>(sql`
      SELECT ${COLUMNS} FROM audit_pending ORDER BY audit_pending.xact, id LIMIT ${STEP_COUNT}`),
  ofXact: prepare<Pending>(sql`
      SELECT ${COLUMNS} FROM audit_pending WHERE audit_pending.xact = :xact::text::xid8
      ORDER BY id`),
  /** Deletes the entries of commits that were sealed. */
  drop: prepare(sql`
      DELETE FROM audit_pending
      WHERE xact = ANY(ARRAY(SELECT x::xid8 FROM unnest(:xacts::text[]) x))`),
};

/** Runs `work` as one transaction, and repeats it if it conflicts with others. */
type Transact = <T>(work: (runner: Runner) => Promise<T>) => Promise<T>;

export class Sealer {
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(
    private readonly db: Runner,
    private readonly transact: Transact,
  ) {}

  /** Adds entries of a write, within its transaction. */
  add(entries: readonly EntryText[]): Step<void> {
    return waitFor((on) => pending.add.run(on, ENTRIES.of(entries)).then(() => undefined));
  }

  /** Schedules the sealing of a commit's entries within a second or two. */
  raise(): void {
    if (this.#timer !== null || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#sealInTime(), SEAL_AFTER_MS);
    this.#timer.unref();
  }

  /** Seals all entries committed before. If there are none, it costs one read. */
  async seal(): Promise<void> {
    while ((await pending.isThere.get(this.db)) !== null) {
      if (await this.transact(sealStep)) return;
    }
  }

  /** Seals the remaining entries; if that fails, another node does. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    await this.seal().catch(() => undefined);
  }

  async #sealInTime(): Promise<void> {
    try {
      await this.seal();
      this.#timer = null;
    } catch {
      // Retried in a second, or by the next read of the log.
      this.#timer = null;
      this.raise();
    }
  }
}

/** Seals some commits, the oldest first. Returns true if none are left. */
async function sealStep(runner: Runner): Promise<boolean> {
  await runOn(runner, STATEMENTS.lockAuditLog());
  const found = await pending.oldest.all(runner);
  const isAll = found.length < STEP_COUNT;
  const whole = isAll ? found : await wholeCommits(runner, found);
  if (whole.length === 0) return true;
  let newest = (await chain.newest.get(runner)) ?? (await chain.anchor.get(runner)) ?? NO_ANCHOR;
  const commits = Map.groupBy(whole, ({ xact }) => xact);
  const blocks = [...commits.values()].map((entries) => {
    const block = blockAfter(newest, entries);
    newest = block;
    return block;
  });
  await chain.add.run(runner, BLOCKS.of(blocks));
  await pending.drop.run(runner, { xacts: [...commits.keys()] });
  return isAll;
}

/** Returns the entries of complete commits; all entries of a commit that is larger than a step. */
async function wholeCommits(runner: Runner, found: readonly Pending[]): Promise<Pending[]> {
  const last = found.at(-1)?.xact ?? '';
  const whole = found.filter(({ xact }) => xact !== last);
  return whole.length > 0 ? whole : pending.ofXact.all(runner, { xact: last });
}
