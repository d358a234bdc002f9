/** Owners of webhooks, events and notices: a provider, or (null) the operator. */

import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { Prepared, Statements, Step } from '../backend.ts';

/** Stands in a text of {@link ofOwner} for the condition that a row is the owner's. */
export const IS_OWNERS = sql.raw('provider_id');

/**
 * Returns a tag that prepares a statement for each kind of owner: no index serves a comparison with
 * null too.
 *
 * @example
 * const own = ofOwner(backend);
 * const count = own<{ count: number }>`SELECT count(*) AS count FROM event WHERE ${IS_OWNERS}`;
 * yield* count(providerId).get({ providerId });
 */
export const ofOwner =
  ({ prepare, once }: Statements) =>
  <Row = unknown>(texts: TemplateStringsArray, ...parts: (SQL | SQLWrapper | number)[]) => {
    const of = (isOwners: SQL): Prepared<Row> =>
      prepare(sql(texts, ...parts.map((part) => (part === IS_OWNERS ? isOwners : part))));
    const ofProvider = of(sql`provider_id = ${once('providerId')}`);
    const ofOperator = of(sql`provider_id IS NULL`);
    return (providerId: number | null) => (providerId === null ? ofOperator : ofProvider);
  };

/** Locks the row of an owner, or the audit log for the operator, who has no row. */
export const lockOwner = (on: Statements, providerId: number | null): Step<void> =>
  providerId === null ? on.lockAuditLog() : on.lockProvider(providerId);
