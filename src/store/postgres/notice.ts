/** Remembers of each subject for which of its states a notice was given last. */

import { type SQL, sql } from 'drizzle-orm';
import { prepare, type Runner, value } from './statement.ts';

/** Statements about notices of an owner: each index is of one kind of owner alone. */
function statements(ofOwner: SQL, key: string) {
  return {
    find: prepare<{ mark: string }>(
      sql`SELECT mark FROM notice WHERE ${ofOwner} AND subject = ${value('subject')}`,
    ),
    set: prepare(sql`
        INSERT INTO notice AS n (provider_id, subject, mark)
        VALUES (${value('providerId')}, ${value('subject')}, ${value('mark')})
        ON CONFLICT ${sql.raw(key)} DO UPDATE SET mark = excluded.mark
          WHERE n.mark <> excluded.mark`),
  };
}

const ofProvider = statements(
  sql`provider_id = ${value('providerId')}`,
  '(provider_id, subject) WHERE provider_id IS NOT NULL',
);
const ofAppliance = statements(sql`provider_id IS NULL`, '(subject) WHERE provider_id IS NULL');

const of = (providerId: number | null) => (providerId === null ? ofAppliance : ofProvider);

/** The mark of a provider's subject, or (null) of the appliance's; null: there is none. */
export async function markOf(
  runner: Runner,
  providerId: number | null,
  subject: string,
): Promise<string | null> {
  return (await of(providerId).find.get(runner, { providerId, subject }))?.mark ?? null;
}

/**
 * Sets the mark, within a write. False: it is the mark already, be it that somebody set it at the
 * same time, who was waited for.
 */
export async function setMark(
  runner: Runner,
  providerId: number | null,
  subject: string,
  mark: string,
): Promise<boolean> {
  return (await of(providerId).set.run(runner, { providerId, subject, mark })) > 0;
}
