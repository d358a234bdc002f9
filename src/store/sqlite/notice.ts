import { type SQL, sql } from 'drizzle-orm';
import type { Connection } from './connection.ts';
import { value } from './statement.ts';

/** Statements about notices of an owner: each index is of one kind of owner alone. */
function statements(db: Connection, ofOwner: SQL) {
  const which = sql`${ofOwner} AND subject = ${value('subject')}`;
  return {
    find: db.prepare<{ mark: string }>(sql`SELECT mark FROM notice WHERE ${which}`),
    change: db.prepare(sql`UPDATE notice SET mark = ${value('mark')} WHERE ${which}`),
    add: db.prepare(sql`
        INSERT INTO notice (provider_id, subject, mark)
        VALUES (${value('providerId')}, ${value('subject')}, ${value('mark')})`),
  };
}

/** Remembers of each subject for which of its states a notice was given last. */
export class NoticeMarks {
  readonly #ofProvider: ReturnType<typeof statements>;
  readonly #ofAppliance: ReturnType<typeof statements>;

  constructor(db: Connection) {
    this.#ofProvider = statements(db, sql`provider_id = ${value('providerId')}`);
    this.#ofAppliance = statements(db, sql`provider_id IS NULL`);
  }

  /** The mark of a provider's subject, or (null) of the appliance's; null: there is none. */
  markOf(providerId: number | null, subject: string): string | null {
    return this.#of(providerId).find.get({ providerId, subject })?.mark ?? null;
  }

  /** Within a write. */
  set(providerId: number | null, subject: string, mark: string): void {
    const on = this.#of(providerId);
    const row = { providerId, subject, mark };
    if (on.change.run(row) === 0) on.add.run(row);
  }

  #of(providerId: number | null): ReturnType<typeof statements> {
    return providerId === null ? this.#ofAppliance : this.#ofProvider;
  }
}
