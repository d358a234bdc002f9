/** Remembers of each subject for which of its states a notice was given last. */

import { sql } from 'drizzle-orm';
import { ofOwner } from './owner.ts';
import { prepare, type Runner, value } from './statement.ts';

const find = ofOwner<{ mark: string }>(
  (isOwners) => sql`SELECT mark FROM notice WHERE ${isOwners} AND subject = ${value('subject')}`,
);

/** Each index is of one kind of owner alone. */
const setting = (key: string) =>
  prepare(sql`
      INSERT INTO notice AS n (provider_id, subject, mark)
      VALUES (${value('providerId')}, ${value('subject')}, ${value('mark')})
      ON CONFLICT ${sql.raw(key)} DO UPDATE SET mark = excluded.mark
        WHERE n.mark <> excluded.mark`);
const setOfProvider = setting('(provider_id, subject) WHERE provider_id IS NOT NULL');
const setOfOperator = setting('(subject) WHERE provider_id IS NULL');

/** The mark of a provider's subject, or (null) of the appliance's; null: there is none. */
export async function markOf(
  runner: Runner,
  providerId: number | null,
  subject: string,
): Promise<string | null> {
  return (await find(providerId).get(runner, { providerId, subject }))?.mark ?? null;
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
  const set = providerId === null ? setOfOperator : setOfProvider;
  return (await set.run(runner, { providerId, subject, mark })) > 0;
}
