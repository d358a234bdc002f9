/** Notes entries of the audit log within the write whose changes they describe. */

import { type Deed, type EntryText, entryText } from '../../core/audit/entry.ts';
import { type Fold, foldDeed } from '../../core/audit/fold.ts';
import {
  type AuditTally,
  countAlone,
  countFolding,
  isAlone,
  isBounded,
  mayFold,
} from '../../core/audit/listed.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, insertInto, sql } from '../statement-text.ts';

interface Note {
  act: Act;
  deed: Deed;
  /** Provider that the entry names; null: none. */
  providerId: number | null;
}

/** Codes of providers by id. */
type Codes = ReadonlyMap<number, string>;

export type AuditStatements = ReturnType<typeof auditStatements>;

export function auditStatements({ prepare, among, locked }: Statements) {
  return {
    tally: prepare(sql`
        SELECT ${columns(
          'provider',
          `changesFromMs AS fromMs, changeCount AS count, aloneCount, auditDay AS day,
              changeDayCount AS dayCount, aloneDayCount, unlistedCount AS unlisted`,
        )}
        FROM provider WHERE code = :code ${locked}`),
    setTally: prepare(sql`
        UPDATE provider SET changes_from_ms = :fromMs, change_count = :count,
          alone_count = :aloneCount, audit_day = :day, change_day_count = :dayCount,
          alone_day_count = :aloneDayCount, unlisted_count = :unlisted
        WHERE code = :code`),
    folds: prepare(
      sql`SELECT ${columns('audit_fold', 'action, fold')} FROM audit_fold WHERE provider = :code`,
    ),
    setFold: prepare(sql`
        ${insertInto('audit_fold', 'provider = :code, action, fromMs, deedCount, fold')}
        ON CONFLICT (provider, action) DO UPDATE SET deed_count = excluded.deed_count,
          fold = excluded.fold`),
    codes: prepare(sql`
        SELECT ${columns('provider', 'id, code')} FROM provider WHERE id ${among('ids')}`),
  };
}

/** True for an entry that needs nothing from the database. */
const isPlain = ({ act, deed, providerId }: Note) =>
  providerId === null && !(isBounded(act.actor) && mayFold(deed));

/** Returns the provider whose credentials did the deed; null: none, or it is unknown. */
function holderOf({ act, deed, providerId }: Note, codes: Codes): string | null {
  const { actor } = act;
  if (!isBounded(actor)) return null;
  if (actor.kind === 'provider') return actor.name;
  const ofRecord = providerId === null ? deed.provider : codes.get(providerId);
  return ofRecord ?? actor.staffOf ?? null;
}

export class AuditNotes {
  #notes: Note[] = [];
  /** The notes of earlier writes of this commit. */
  #endedCount = 0;
  /** True: {@link endWrite} has something to do. */
  mayRefuse = false;
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
    this.mayRefuse ||= isAlone(deed) && isBounded(actor);
  }

  /** Drops the notes after the first `count`. */
  trim(count: number): void {
    this.#notes.length = count;
    this.#endedCount = Math.min(this.#endedCount, count);
  }

  /** Counts the deeds of a write that never fold. Throws `TooManyDeeds` for those beyond. */
  *endWrite(): Step<void> {
    const own = this.#notes.slice(this.#endedCount);
    const alone = own.filter(({ act, deed }) => isAlone(deed) && isBounded(act.actor));
    this.#endedCount = this.#notes.length;
    this.mayRefuse = false;
    if (alone.length === 0) return;
    const codes = yield* this.#codes(alone);
    const holders = alone.map((note) => ({ note, code: holderOf(note, codes) }));
    const tallies = yield* this.#tallies(holders.map(({ code }) => code));
    for (const { note, code } of holders) {
      const tally = code === null ? undefined : tallies.get(code);
      if (code === null || tally === undefined) continue;
      tallies.set(code, countAlone(tally, note.act.atMs, note.act.entriesMax));
    }
    yield* this.#save(tallies);
  }

  /** Makes the entries, within the transaction. */
  *entries(): Step<EntryText[]> {
    if (this.#notes.every(isPlain)) return this.#notes.map(({ act, deed }) => entryText(act, deed));
    const codes = yield* this.#codes(this.#notes);
    const listed = yield* this.#listed(codes);
    return listed.map(({ act, deed, providerId }) => {
      const provider = providerId === null ? undefined : codes.get(providerId);
      return entryText(act, provider === undefined ? deed : { ...deed, provider });
    });
  }

  *#codes(notes: readonly Note[]): Step<Codes> {
    const ids = notes.flatMap(({ providerId }) => providerId ?? []);
    if (ids.length === 0) return new Map();
    const found = yield* this.#on.codes.all({ ids: [...new Set(ids)] });
    return new Map(found.map(({ id, code }) => [id, code]));
  }

  /** The notes that have an entry of their own; the others are folded. */
  *#listed(codes: Codes): Step<Note[]> {
    const holders = this.#notes.map((note) => (mayFold(note.deed) ? holderOf(note, codes) : null));
    const tallies = yield* this.#tallies(holders);
    const folding = new Map<string, Note[]>();
    const listed: Note[] = [];
    for (const [at, note] of this.#notes.entries()) {
      const { act, deed } = note;
      const code = holders[at] ?? null;
      const before = code === null ? undefined : tallies.get(code);
      if (code === null || before === undefined) {
        listed.push(note);
        continue;
      }
      const counted = countFolding(before, act.atMs, deed, act.entriesMax);
      tallies.set(code, counted.after);
      if (counted.listed !== null) listed.push({ ...note, deed: counted.listed });
      else folding.set(code, [...(folding.get(code) ?? []), note]);
    }
    yield* this.#save(tallies);
    for (const [code, notes] of folding) yield* this.#fold(code, notes);
    return listed;
  }

  *#fold(code: string, notes: readonly Note[]): Step<void> {
    const rows = yield* this.#on.folds.all({ code });
    const folds = new Map<string, Fold>(rows.map(({ action, fold }) => [action, JSON.parse(fold)]));
    for (const { act, deed } of notes) {
      folds.set(deed.action, foldDeed(folds.get(deed.action) ?? null, act, deed));
    }
    for (const action of new Set(notes.map(({ deed }) => deed.action))) {
      const fold = folds.get(action);
      if (fold === undefined) continue;
      const { count: deedCount, fromMs } = fold;
      yield* this.#on.setFold.run({
        code,
        action,
        fromMs,
        deedCount,
        fold: JSON.stringify(fold),
      });
    }
  }

  /** Reads and locks the tallies of providers, in one order for all writes. */
  *#tallies(codes: readonly (string | null)[]): Step<Map<string, AuditTally>> {
    const tallies = new Map<string, AuditTally>();
    for (const code of [...new Set(codes)].sort()) {
      const found = code === null ? null : yield* this.#on.tally.get({ code });
      if (code !== null && found !== null) tallies.set(code, found);
    }
    return tallies;
  }

  *#save(tallies: ReadonlyMap<string, AuditTally>): Step<void> {
    for (const [code, tally] of tallies) yield* this.#on.setTally.run({ code, ...tally });
  }
}
