/** The notes of a write, or of the writes of one commit, for both databases. */

import type { Deed, EntryText } from '../../core/audit/entry.ts';
import type { RefusedPhone } from '../../core/event/fold.ts';
import type { Quota } from '../../core/event/quota.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Happening } from '../../core/port/event.ts';
import type { Figure } from '../../core/port/figure.ts';
import type { MakeHappening, Notes, QuotaShare, Statements, Step } from '../backend.ts';
import type { DisabledWebhook } from '../kind.ts';
import { Refusal } from '../refusal.ts';
import { AuditNotes, type AuditStatements, auditStatements } from './audit-notes.ts';
import { EventNotes, type EventStatements, eventStatements } from './event-notes.ts';
import type { FigureCounter } from './figure-counter.ts';

interface NoteStatements {
  audit: AuditStatements;
  events: EventStatements;
}

export function noteStatements(statements: Statements): NoteStatements {
  return { audit: auditStatements(statements), events: eventStatements(statements) };
}

/** Saves the notes. */
export interface NotesHome {
  figures: FigureCounter;
  /** Adds entries to the audit log, within the transaction. */
  addEntries(entries: readonly EntryText[]): Step<void>;
  /** Signals devices to other nodes with the commit. */
  signal(deviceIds: readonly number[]): Step<void>;
  /** Called after a commit with audit entries. */
  onEntries?: (() => void) | undefined;
  onOutbox?: (() => void) | undefined;
  onDistributionEnd?: ((status: number) => void) | undefined;
  onWebhookDisabled?: ((webhook: DisabledWebhook) => void) | undefined;
  onEnded?: ((deviceIds: readonly number[]) => void) | undefined;
}

interface FigureNote {
  providerId: number;
  figure: Figure;
  atMs: number;
  by: number;
}

/** The state of the notes before a write, to which {@link WriteNotes.undo} returns. */
interface Mark {
  entries: number;
  figures: number;
  ends: number;
  puts: number;
  disabled: number;
}

export class WriteNotes implements Notes {
  readonly #audit: AuditNotes;
  readonly #events: EventNotes;
  #figures: FigureNote[] = [];
  #endStatuses: number[] = [];
  #putCount = 0;
  readonly #deviceIds = new Set<number>();
  /** Those of them that this process signals too. */
  readonly #endedIds = new Set<number>();
  readonly #home: NotesHome;

  constructor(on: NoteStatements, home: NotesHome) {
    this.#audit = new AuditNotes(on.audit);
    this.#events = new EventNotes(on.events, () => this.outbox());
    this.#home = home;
  }

  audit(act: Act, deed: Deed | null, providerId?: number | null): void {
    this.#audit.add(act, deed, providerId);
  }

  event(providerId: number | null, atMs: number, happening: MakeHappening): void {
    this.#events.add(providerId, atMs, happening);
  }

  refusal(providerId: number, atMs: number, phone: RefusedPhone, happening: MakeHappening): void {
    this.#events.add(providerId, atMs, happening, phone);
  }

  endFold(providerId: number | null, destinationId: number, atMs: number): void {
    this.#events.endFold(providerId, destinationId, atMs);
  }

  isWanted(providerId: number | null, kind: Happening['kind']): Step<boolean> {
    return this.#events.isWanted(providerId, kind);
  }

  quota(providerId: number, quota: Quota, share: QuotaShare, atMs: number): void {
    this.#events.addQuota(providerId, quota, share, atMs);
  }

  disableWebhook(id: number, why: string, atMs: number): Step<void> {
    return this.#events.disableWebhook(id, why, atMs);
  }

  forgetWebhooks(): void {
    this.#events.forgetWebhooks();
  }

  figure(providerId: number, figure: Figure, atMs: number, by = 1): void {
    if (by > 0) this.#figures.push({ providerId, figure, atMs, by });
  }

  outbox(): void {
    this.#putCount += 1;
  }

  ended(status: number): void {
    this.#endStatuses.push(status);
  }

  changed(deviceIds: readonly number[]): void {
    for (const id of deviceIds) this.#deviceIds.add(id);
  }

  notifyEnd(deviceIds: readonly number[]): void {
    this.changed(deviceIds);
    for (const id of deviceIds) this.#endedIds.add(id);
  }

  refuse(value: unknown): never {
    throw new Refusal(value);
  }

  mark(): Mark {
    const [entries, figures] = [this.#audit.count, this.#figures.length];
    const disabled = this.#events.disabled.length;
    return { entries, figures, ends: this.#endStatuses.length, puts: this.#putCount, disabled };
  }

  /** Drops the notes since `mark`, because their write was rolled back. */
  undo({ entries, figures, ends, puts, disabled }: Mark): void {
    this.#audit.trim(entries);
    this.#events.clear(disabled);
    this.#figures.length = figures;
    this.#endStatuses.length = ends;
    this.#putCount = puts;
  }

  /** False: {@link endWrite} has nothing to do. */
  get hasEnd(): boolean {
    return !this.#events.isEmpty || this.#audit.mayRefuse;
  }

  /** Ends a write: counts its deeds, of which too many are a fault, and saves its events. */
  *endWrite(): Step<void> {
    yield* this.#audit.endWrite();
    yield* this.#events.save();
  }

  /** Saves at the end of a commit the notes that are saved once a commit. */
  *seal(): Step<void> {
    const entries = yield* this.#audit.entries();
    if (entries.length > 0) yield* this.#home.addEntries(entries);
    if (this.#deviceIds.size > 0) yield* this.#home.signal([...this.#deviceIds]);
  }

  /** Called after the transaction: reports the notes that were saved, and drops all. */
  clear(isSaved: boolean): void {
    const { figures, onEntries, onOutbox, onDistributionEnd, onWebhookDisabled, onEnded } =
      this.#home;
    if (isSaved) {
      for (const { providerId, figure, atMs, by } of this.#figures) {
        figures.note(providerId, figure, atMs, by);
      }
      if (this.#audit.count > 0) onEntries?.();
      if (this.#putCount > 0) onOutbox?.();
      for (const status of this.#endStatuses) onDistributionEnd?.(status);
      for (const webhook of this.#events.disabled) onWebhookDisabled?.(webhook);
      if (this.#endedIds.size > 0) onEnded?.([...this.#endedIds]);
    }
    this.#audit.trim(0);
    this.#events.clear();
    this.#figures = [];
    this.#endStatuses = [];
    this.#putCount = 0;
    this.#deviceIds.clear();
    this.#endedIds.clear();
  }
}
