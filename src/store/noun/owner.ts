/** Owners of webhooks, events and notices: a provider, or (null) the operator. */

import { type SQL, sql } from 'drizzle-orm';
import type { Prepared, Statements } from '../backend.ts';

/** Prepares a statement for each kind of owner: no index serves a comparison with null too. */
export function ofOwner<Row = unknown>(
  statements: Statements,
  query: (isOwners: SQL) => SQL,
): (providerId: number | null) => Prepared<Row> {
  const ofProvider = statements.prepare<Row>(
    query(sql`provider_id = ${statements.once('providerId')}`),
  );
  const ofOperator = statements.prepare<Row>(query(sql`provider_id IS NULL`));
  return (providerId) => (providerId === null ? ofOperator : ofProvider);
}
