/** Owners of webhooks, events and notices: a provider, or (null) the operator. */

import type { SQL, SQLWrapper } from 'drizzle-orm';
import type { Statements, Step } from '../backend.ts';
import type { RowsOf } from '../statement-text.ts';
import { sql } from '../statement-text.ts';

/** Stands in a text of {@link ofOwner} for the condition that a row is the owner's. */
export const IS_OWNERS = sql.raw('provider_id');

/**
 * Returns a tag that prepares a statement for each kind of owner: no index serves a comparison with
 * null too.
 *
 * @example
 * const own = ofOwner(backend);
 * const list = own`SELECT ${columns('webhook', 'id, kind')} FROM webhook WHERE ${IS_OWNERS}`;
 * yield* list(providerId).all({ providerId });
 */
export const ofOwner =
  ({ prepare, once }: Statements) =>
  <const Parts extends readonly (SQL | SQLWrapper | number)[]>(
    texts: TemplateStringsArray,
    ...parts: Parts
  ) => {
    const of = (isOwners: SQL) => {
      const own = parts.map((part) => (part === IS_OWNERS ? isOwners : part));
      return prepare(sql(texts, ...own) as SQL<RowsOf<Parts>>);
    };
    const ofProvider = of(sql`provider_id = ${once('providerId')}`);
    const ofOperator = of(sql`provider_id IS NULL`);
    return (providerId: number | null) => (providerId === null ? ofOperator : ofProvider);
  };

/** Locks the row of an owner, or the audit log for the operator, who has no row. */
export const lockOwner = (on: Statements, providerId: number | null): Step<void> =>
  providerId === null ? on.lockAuditLog() : on.lockProvider(providerId);
