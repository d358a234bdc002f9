/** Notes entries of the audit log within the write whose changes they describe. */

import { sql } from 'drizzle-orm';
import { type Deed, type EntryText, entryText } from '../../core/audit/entry.ts';
import { type ChangeCount, countDeed, isCounted } from '../../core/audit/listed.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Statements, Step } from '../backend.ts';

interface Note {
  act: Act;
  deed: Deed;
  /** Provider that the entry names; null: none. */
  providerId: number | null;
}

export type AuditStatements = ReturnType<typeof auditStatements>;

export function auditStatements({ prepare, among, locked }: Statements) {
  return {
    changesOf: prepare<ChangeCount>(sql`
        SELECT changes_from_ms AS "fromMs", change_count AS count, unlisted_count AS unlisted
        FROM provider WHERE code = :name ${locked}`),
    setChanges: prepare(sql`
        UPDATE provider SET changes_from_ms = :fromMs, change_count = :count,
          unlisted_count = :unlisted
        WHERE code = :name`),
    codes: prepare<{ id: number; code: string }>(sql`
        SELECT id, code FROM provider WHERE id ${among('ids')}`),
  };
}

/** True for an entry that needs nothing from the database. */
const isPlain = ({ act, deed, providerId }: Note) =>
  providerId === null && !isCounted(act.actor, deed);

export class AuditNotes {
  #notes: Note[] = [];
  readonly #on: AuditStatements;

  constructor(on: AuditStatements) {
    this.#on = on;
  }

  get count(): number {
    return this.#notes.length;
  }

  /**
   * Notes an entry; nothing for a change of a job, which has its own entry. An entry of a provider
   * itself names the provider as its actor alone.
   */
  add(act: Act, deed: Deed | null, providerId: number | null = null): void {
    if (deed === null || act.isOfJob === true) return;
    const { actor } = act;
    this.#notes.push({ act, deed, providerId: actor.kind === 'provider' ? null : providerId });
  }

  /** Drops the notes after the first `count`. */
  trim(count: number): void {
    this.#notes.length = count;
  }

  /** Makes the entries, within the transaction. */
  *entries(): Step<EntryText[]> {
    if (this.#notes.every(isPlain)) return this.#notes.map(({ act, deed }) => entryText(act, deed));
    const codes = yield* this.#codes();
    const listed = yield* this.#listed();
    return listed.map(({ act, deed, providerId }) => {
      const provider = providerId === null ? undefined : codes.get(providerId);
      return entryText(act, provider === undefined ? deed : { ...deed, provider });
    });
  }

  *#codes(): Step<Map<number, string>> {
    const ids = this.#notes.flatMap(({ providerId }) => providerId ?? []);
    if (ids.length === 0) return new Map();
    const found = yield* this.#on.codes.all({ ids: [...new Set(ids)] });
    return new Map(found.map(({ id, code }) => [id, code]));
  }

  /** The notes that have an entry, each with the number of earlier notes without one. */
  *#listed(): Step<Note[]> {
    const counts = yield* this.#counts();
    const listed: Note[] = [];
    for (const note of this.#notes) {
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
    for (const [name, count] of counts) yield* this.#on.setChanges.run({ name, ...count });
    return listed;
  }

  /** Counted changes by code, for the providers that made any. */
  *#counts(): Step<Map<string, ChangeCount>> {
    const counts = new Map<string, ChangeCount>();
    for (const { act, deed } of this.#notes) {
      const { name } = act.actor;
      if (!isCounted(act.actor, deed) || counts.has(name)) continue;
      const found = yield* this.#on.changesOf.get({ name });
      if (found !== null) counts.set(name, found);
    }
    return counts;
  }
}
