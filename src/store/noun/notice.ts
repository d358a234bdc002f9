/** Marks of notices: the state of each subject about which the last notice was sent. */

import type { Statements, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { IS_OWNERS, ofOwner } from './owner.ts';

interface NoticeMarks {
  /** Returns the mark of a subject of a provider, or (null) of the operator; null: none. */
  get(providerId: number | null, subject: string): Step<string | null>;
  /** Sets the mark within a write. Returns false if the mark is set already. */
  set(providerId: number | null, subject: string, mark: string): Step<boolean>;
  /**
   * Replaces the mark of a subject of the operator within a write; `before` null: there is none.
   * Returns false if the mark is another.
   */
  replace(subject: string, before: string | null, mark: string): Step<boolean>;
}

export function noticeMarks(statements: Statements): NoticeMarks {
  const find = ofOwner(statements)`
      SELECT ${columns('notice', 'mark')} FROM notice WHERE ${IS_OWNERS} AND subject = :subject`;
  /** Each index covers one kind of owner only. */
  const setting = (key: string) =>
    statements.prepare(sql`
        INSERT INTO notice AS n (provider_id, subject, mark) VALUES (:providerId, :subject, :mark)
        ON CONFLICT ${sql.raw(key)} DO UPDATE SET mark = excluded.mark
          WHERE n.mark <> excluded.mark`);
  const setOfProvider = setting('(provider_id, subject) WHERE provider_id IS NOT NULL');
  const setOfOperator = setting('(subject) WHERE provider_id IS NULL');
  const first = statements.prepare(sql`
      INSERT INTO notice (provider_id, subject, mark) VALUES (NULL, :subject, :mark)
      ON CONFLICT (subject) WHERE provider_id IS NULL DO NOTHING`);
  const next = statements.prepare(sql`
      UPDATE notice SET mark = :mark
      WHERE provider_id IS NULL AND subject = :subject AND mark = :before`);
  return {
    *get(providerId, subject) {
      const found = yield* find(providerId).get({ providerId, subject });
      return found?.mark ?? null;
    },
    *set(providerId, subject, mark) {
      const on = providerId === null ? setOfOperator : setOfProvider;
      return (yield* on.run({ providerId, subject, mark })) > 0;
    },
    *replace(subject, before, mark) {
      const changed =
        before === null
          ? yield* first.run({ subject, mark })
          : yield* next.run({ subject, before, mark });
      return changed > 0;
    },
  };
}
