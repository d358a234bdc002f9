/**
 * Notes what is done in the audit log, within the transaction that does it: its entries wait in
 * `audit_pending` from the same commit on. A chain that every commit wrote to would make all of
 * them wait for each other, so sealer.ts links them into it, each commit as one block.
 */

import { sql } from 'drizzle-orm';
import { type Deed, type EntryText, entryText } from '../../core/audit/entry.ts';
import { type ChangeCount, countDeed, isCounted } from '../../core/audit/listed.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Sealer } from './sealer.ts';
import { prepare, type Runner, value } from './statement.ts';

const on = {
  /** Whoever adds to them waits here for the others. */
  changesOf: prepare<ChangeCount>(sql`
      SELECT changes_from_ms AS "fromMs", change_count AS count, unlisted_count AS unlisted
      FROM provider WHERE code = ${value('name')} FOR NO KEY UPDATE`),
  setChanges: prepare(sql`
      UPDATE provider SET changes_from_ms = ${value('fromMs')}, change_count = ${value('count')},
        unlisted_count = ${value('unlisted')}
      WHERE code = ${value('name')}`),
  codes: prepare<{ id: number; code: string }>(sql`
      SELECT id, code FROM provider WHERE id = ANY(${value('ids')}::bigint[])`),
  add: prepare(sql`
      INSERT INTO audit_pending (at_ms, entry)
      SELECT x.at_ms, x.entry
      FROM unnest(${value('times')}::bigint[], ${value('entries')}::text[])
        WITH ORDINALITY AS x(at_ms, entry, n)
      ORDER BY x.n`),
};

interface Note {
  act: Act;
  deed: Deed;
  /** Provider whose code the entry is to say; null: none. */
  providerId: number | null;
}

/** The entries of one write. */
export class AuditNotes {
  #notes: Note[] = [];
  readonly #sealer: Pick<Sealer, 'raise'>;

  constructor(sealer: Pick<Sealer, 'raise'>) {
    this.#sealer = sealer;
  }

  /**
   * Notes what a write changed, within it, on something of this provider's. A provider's repeatable
   * deed writes the provider's row at the end: such a write has locked it before all others.
   */
  note(act: Act, done: Deed | null, providerId?: number): void {
    if (done === null) return;
    // Asked for here: it throws if whoever asked is gone by now.
    const { actor, atMs } = act;
    const isOwn = providerId === undefined || actor.kind === 'provider';
    const noted = { act: { actor, atMs }, deed: done, providerId: isOwn ? null : providerId };
    this.#notes.push(noted);
  }

  /** Saves the entries, within the transaction. */
  async seal(runner: Runner): Promise<void> {
    if (this.#notes.length === 0) return;
    const [codes, listed] = await Promise.all([
      this.#codes(runner),
      listedOnes(runner, this.#notes),
    ]);
    const entries = listed.map(({ act, deed, providerId }): EntryText => {
      const provider = providerId === null ? undefined : codes.get(providerId);
      return entryText(act, provider === undefined ? deed : { ...deed, provider });
    });
    if (entries.length === 0) return;
    const times = entries.map(({ atMs }) => atMs);
    await on.add.run(runner, { times, entries: entries.map(({ text }) => text) });
  }

  /** The transaction is over. */
  clear(isSaved: boolean): void {
    if (isSaved && this.#notes.length > 0) this.#sealer.raise();
    this.#notes = [];
  }

  async #codes(runner: Runner): Promise<Map<number, string>> {
    const ids = this.#notes.flatMap(({ providerId }) => providerId ?? []);
    if (ids.length === 0) return new Map();
    const found = await on.codes.all(runner, { ids: [...new Set(ids)] });
    return new Map(found.map(({ id, code }) => [id, code]));
  }
}

/** The notes that have an entry, each with the number of those before it that have none. */
async function listedOnes(runner: Runner, notes: readonly Note[]): Promise<Note[]> {
  const counts = await countsOf(runner, notes);
  if (counts.size === 0) return [...notes];
  const listed: Note[] = [];
  for (const note of notes) {
    const { act, deed } = note;
    const before = isCounted(act.actor, deed) ? counts.get(act.actor.name) : undefined;
    if (before === undefined) {
      listed.push(note);
      continue;
    }
    const counted = countDeed(before, act.atMs, deed);
    counts.set(act.actor.name, counted.after);
    if (counted.listed !== null) listed.push({ ...note, deed: counted.listed });
  }
  for (const [name, count] of counts) await on.setChanges.run(runner, { name, ...count });
  return listed;
}

/** Changes of the providers that did something that is counted, by code. */
async function countsOf(runner: Runner, notes: readonly Note[]): Promise<Map<string, ChangeCount>> {
  const counts = new Map<string, ChangeCount>();
  for (const { act, deed } of notes) {
    const { name } = act.actor;
    if (!isCounted(act.actor, deed) || counts.has(name)) continue;
    const found = await on.changesOf.get(runner, { name });
    if (found !== null) counts.set(name, found);
  }
  return counts;
}
