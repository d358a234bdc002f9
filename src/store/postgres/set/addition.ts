/**
 * Adds the links of many calls by one statement. It adds a link if all conditions of the statement
 * hold: its code and key are unused, also by ended links; it has no terms beside its policy; its
 * provider has room for it and for its entry in the audit log, and no webhook; and the call has no
 * key. noun/link.ts adds the others. By bench/sets.ts one of 32 costs 99 us of processor time
 * with PostgreSQL's; by the noun 1,529 us.
 */

import * as deeds from '../../../core/audit/deeds.ts';
import { entryText } from '../../../core/audit/entry.ts';
import {
  dayCountMax,
  isBounded,
  LISTED_MAX,
  LISTED_WINDOW_MS,
} from '../../../core/audit/listed.ts';
import { DAY_MS, HOUR_MS } from '../../../core/calendar.ts';
import { each, fieldsOf } from '../../../core/field.ts';
import type { Act } from '../../../core/port/audit.ts';
import { INSTALL_ACTIVE, type NewLink } from '../../../core/port/link.ts';
import type { Store } from '../../../core/port/store.ts';
import { LINK_TERMS, POLICY_FIELDS, POLICY_TERMS } from '../../../core/terms.ts';
import { columnNames, sql } from '../../statement-text.ts';
import { TurnGroup } from '../group.ts';
import { prepare, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';

interface Addition {
  draft: NewLink;
  act: Act;
}

/** The terms of a link that the statement leaves to the noun. */
const OTHER_TERMS = fieldsOf(LINK_TERMS).filter((field) => !(field in POLICY_TERMS));

const WANTED = tableOf('x', {
  installCode: 'text',
  providerId: 'bigint',
  installLimit: 'integer',
  note: 'text',
  createdAtMs: 'bigint',
  subscriptionKeyHash: 'text',
  ...each(POLICY_FIELDS, (field) =>
    typeof POLICY_TERMS[field].usual === 'number' ? 'integer' : 'text',
  ),
  installCountMax: 'bigint',
  atMs: 'bigint',
  head: 'text',
  middle: 'text',
  tail: 'text',
  dayCountMax: 'bigint',
});

/** Condition: no row has the code or key of `x`. Looks up rows one by one, as admission.ts does. */
const isNotIn = (table: 'install' | 'install_tombstone') =>
  sql.raw(`
      AND (SELECT t.id FROM ${table} t WHERE t.install_code = x.install_code LIMIT 1) IS NULL
      AND (SELECT t.id FROM ${table} t
        WHERE t.subscription_key_hash = decode(x.subscription_key_hash, 'hex')
          AND t.provider_id = x.provider_id LIMIT 1) IS NULL`);

const TALLY = `changes_from_ms, change_count, alone_count, audit_day, change_day_count,
  alone_day_count`;
const IS_MINUTE = `(t.at_ms < p.changes_from_ms + ${LISTED_WINDOW_MS}
  AND t.at_ms > p.changes_from_ms - ${HOUR_MS})`;
const IS_DAY = `t.at_ms / ${DAY_MS} IN (p.audit_day, p.audit_day - 1)`;

/** The tally of `p` at `t.at_ms`, as `tallyAt` of core/audit/listed.ts has it. */
const TALLY_NOW = sql.raw(`
  CASE WHEN ${IS_MINUTE} THEN p.changes_from_ms ELSE t.at_ms END AS changes_from_ms,
  CASE WHEN ${IS_MINUTE} THEN p.change_count ELSE 0 END AS change_count,
  CASE WHEN ${IS_MINUTE} THEN p.alone_count ELSE 0 END AS alone_count,
  CASE WHEN ${IS_DAY} THEN p.audit_day ELSE t.at_ms / ${DAY_MS} END AS audit_day,
  CASE WHEN ${IS_DAY} THEN p.change_day_count ELSE 0 END AS change_day_count,
  CASE WHEN ${IS_DAY} THEN p.alone_day_count ELSE 0 END AS alone_day_count`);

/**
 * Locked providers have exact counts. Links that are being added meet unique indexes, in the order
 * of their codes. An existing link may be ending: its tombstone is invisible until the wait for its
 * provider is over, so the statement leaves out a new link with its code or key.
 */
const ADD = prepare<{ n: number; id: number }>(sql`
  WITH wanted AS MATERIALIZED (
    SELECT * FROM ${WANTED.from}
  ), locked AS MATERIALIZED (
    SELECT id, code, install_count, ${sql.raw(TALLY)}, unlisted_count FROM provider
    WHERE id = ANY(ARRAY(SELECT provider_id FROM wanted)) ORDER BY id FOR NO KEY UPDATE
  ), owner AS MATERIALIZED (
    SELECT p.id, p.code, p.install_count, p.unlisted_count, ${TALLY_NOW} FROM locked p
    JOIN (SELECT provider_id, max(at_ms) AS at_ms FROM wanted GROUP BY provider_id) t
      ON t.provider_id = p.id
  ), fitting AS MATERIALIZED (
    SELECT x.*, nextval('install_id_seq') AS id FROM (
      SELECT y.*, o.code AS owner_code, o.install_count, o.unlisted_count, o.change_count,
        o.change_day_count, row_number() OVER (PARTITION BY o.id ORDER BY y.n) AS nth,
        (SELECT h.id FROM webhook h
         WHERE h.provider_id = o.id AND h.disabled_at_ms IS NULL LIMIT 1) AS webhook_id
      FROM owner o JOIN wanted y ON y.provider_id = o.id) x
    WHERE x.install_count + x.nth <= x.install_count_max AND x.webhook_id IS NULL
      AND (x.day_count_max IS NULL OR (x.unlisted_count = 0
        AND x.change_count + x.nth <= ${sql.raw(`${LISTED_MAX}`)}
        AND x.change_day_count + x.nth <= x.day_count_max))
      ${isNotIn('install')} ${isNotIn('install_tombstone')}
  ), added AS (
    INSERT INTO install (id, provider_id, install_code, install_limit, status, note,
      created_at_ms, subscription_key_hash, ${columnNames(POLICY_FIELDS)})
    SELECT id, provider_id, install_code, install_limit, ${INSTALL_ACTIVE}, note, created_at_ms,
      decode(subscription_key_hash, 'hex'), ${columnNames(POLICY_FIELDS)}
    FROM fitting ORDER BY install_code, n
    ON CONFLICT DO NOTHING RETURNING id
  ), audited AS (
    INSERT INTO audit_pending (at_ms, entry)
    SELECT at_ms, head || coalesce(owner_code || middle, '') || id || tail FROM fitting
    WHERE id = ANY(ARRAY(SELECT id FROM added)) ORDER BY n
  ), counted AS (
    UPDATE provider p SET changes_from_ms = o.changes_from_ms, audit_day = o.audit_day,
      change_count = o.change_count + c.n, change_day_count = o.change_day_count + c.n,
      alone_count = o.alone_count, alone_day_count = o.alone_day_count
    FROM owner o JOIN (
      SELECT provider_id, count(*) AS n FROM fitting
      WHERE day_count_max IS NOT NULL AND id = ANY(ARRAY(SELECT id FROM added))
      GROUP BY provider_id) c ON c.provider_id = o.id
    WHERE p.id = o.id
  )
  SELECT n, id FROM fitting WHERE id = ANY(ARRAY(SELECT id FROM added))`);

/** Placeholders for an id and a provider's code that only the statement knows. */
const NO_ID = -1;
const NO_CODE = '?';

/** Returns the audit entry of a new link in parts: around its id and around the provider's code. */
function entryAround({ draft, act }: Addition) {
  const deed = deeds.addLink(NO_ID, draft);
  // Quotes in texts are escaped, so that each placeholder occurs once.
  const { text } = entryText(act, { ...deed, provider: NO_CODE });
  const [before = '', tail = ''] = text.split(`{"id":${NO_ID}`);
  const [head = '', behind] = before.split(`"provider":"${NO_CODE}"`);
  if (behind === undefined) return { head: `${head}{"id":`, middle: null, tail };
  return { head: `${head}"provider":"`, middle: `"${behind}{"id":`, tail };
}

type Own = Pick<Store, 'addLink'>;

export function addLinksTogether(context: Context, noun: Own): Own {
  const group = new TurnGroup<Addition, { id: number } | null>(context.db, {
    isWrite: true,
    run: (items) => addAll(context, items),
    itemsMax: 64,
  });
  return {
    addLink: async (draft, act, keyed) =>
      (keyed || draft.isOfGate || OTHER_TERMS.some((field) => draft[field] !== null)
        ? null
        : await group.ask({ draft, act })) ?? noun.addLink(draft, act, keyed),
  };
}

/** Adds links; null for each that the statement leaves out, as the second of two with one code. */
async function addAll(
  { db, figures, sealer }: Context,
  items: readonly Addition[],
): Promise<({ id: number } | null)[]> {
  const wanted = items.map((item) => {
    const { actor, atMs, entriesMax } = item.act;
    const bound = isBounded(actor) ? dayCountMax(entriesMax) : null;
    return { ...item.draft, atMs, ...entryAround(item), dayCountMax: bound };
  });
  const rows = await ADD.all(db.writing, WANTED.of(wanted));
  const idOf = new Map(rows.map(({ n, id }) => [n - 1, id]));
  if (rows.length > 0) sealer.raise();
  return items.map(({ draft, act }, n) => {
    const id = idOf.get(n);
    if (id === undefined) return null;
    figures.note(draft.providerId, 'links', act.atMs);
    return { id };
  });
}
