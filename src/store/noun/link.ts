/** Queries about links by filters, and of the operator about links of all providers. */

import { type SQL, sql } from 'drizzle-orm';
import type { LinkFilter, LinkStore, LinkStory, OwnedLink, SlotEnd } from '../../core/port/link.ts';
import { asciiLower } from '../../core/text.ts';
import { nextTurn } from '../../core/turn.ts';
import { type Backend, type Prepared, type Values, value } from '../backend.ts';

/** Links that one statement of a search reads: some 5 ms on SQLite. */
const RANGE_COUNT = 1_000;

type LinkRow = Omit<OwnedLink, 'hasSubscriptionKey'> & { hasSubscriptionKey: number };

const linkOf = (row: LinkRow): OwnedLink => ({
  ...row,
  hasSubscriptionKey: row.hasSubscriptionKey === 1,
});

/** Returns the pattern of LIKE for texts with this part; signs of patterns stand for themselves. */
const likePart = (text: string) => `%${asciiLower(text).replace(/[%_!]/g, '!$&')}%`;

/** Compares in any case of A to Z. */
const contains = (column: string, name: string) =>
  sql`lower(${sql.raw(column)}) LIKE CAST(${value(name)} AS text) ESCAPE '!'`;

/** Statements about the links `i` that a filter lets through, of all providers or of one. */
function filterStatements(backend: Backend, link: SQL, ofProvider: SQL) {
  const { join, once } = backend;
  const isUnset = (name: string) => sql`CAST(${value(name)} AS text) IS NULL`;
  const where = sql`
    WHERE ${ofProvider} AND i.id >= ${value('fromId')} AND i.id < ${value('beforeId')}
      AND (${value('isFull')} = 0 OR i.device_count >= i.install_limit)
      AND (${value('isOver')} = 0 OR i.device_count > i.install_limit)
      AND (CAST(${value('status')} AS integer) IS NULL OR i.status = ${value('status')})
      AND (${isUnset('inNote')} OR ${contains('i.note', 'inNote')})
      AND (${isUnset('part')} OR ${contains('i.note', 'part')}
        OR ${contains('i.install_code', 'part')}
        OR EXISTS (SELECT 1 FROM install_device s ${join} device d ON d.id = s.device_id
          WHERE s.install_id = i.id
            AND substr(d.hwid, 1, length(CAST(${value('search')} AS text))) = ${value('search')})
        OR EXISTS (SELECT 1 FROM install_device s ${join} device_provider p
            ON p.device_id = s.device_id AND p.provider_id = s.provider_id
          WHERE s.install_id = i.id AND ${contains('p.device_name', 'part')}))`;
  return {
    list: backend.prepare<LinkRow>(sql`
        ${link} ${where} ORDER BY i.id DESC LIMIT ${once('countMax')}`),
    count: backend.prepare<{ count: number }>(
      sql`SELECT count(*) AS count FROM install i ${where}`,
    ),
    /** The first id of a range of links before an id. */
    range: backend.prepare<{ fromId: number | null }>(sql`
        SELECT min(id) AS "fromId" FROM (
          SELECT i.id AS id FROM install i WHERE ${ofProvider} AND i.id < ${value('beforeId')}
          ORDER BY i.id DESC LIMIT ${RANGE_COUNT}) AS following`),
  };
}

function statements(backend: Backend) {
  const link = sql`
    SELECT i.id AS id, i.install_code AS "installCode", i.install_limit AS "installLimit",
      i.device_count AS "deviceCount", i.status AS status, i.note AS note,
      i.created_at_ms AS "createdAtMs", i.provider_id AS "providerId", p.code AS "providerCode",
      i.inactive_days AS "inactiveDays", i.when_full AS "whenFull",
      i.cool_down_hours AS "coolDownHours", i.enforce AS enforce,
      i.without_hwid AS "withoutHwid", i.support_url AS "supportUrl",
      i.web_page_url AS "webPageUrl", i.replaced_at_ms AS "replacedAtMs",
      CAST(i.subscription_key_hash IS NOT NULL AS integer) AS "hasSubscriptionKey"
    FROM install i ${backend.join} provider p ON p.id = i.provider_id`;
  return {
    find: backend.prepare<LinkRow>(sql`${link} WHERE i.install_code = ${value('installCode')}`),
    findById: backend.prepare<LinkRow>(sql`${link} WHERE i.id = ${value('id')}`),
    findByKey: backend.prepare<LinkRow>(sql`
        ${link} WHERE i.subscription_key_hash = ${backend.bytes('subscriptionKeyHash')}
        ORDER BY i.id`),
    ofAll: filterStatements(backend, link, sql`true`),
    ofOne: filterStatements(
      backend,
      link,
      sql`i.provider_id = (SELECT id FROM provider WHERE code = ${value('providerCode')})`,
    ),
    ends: backend.prepare<SlotEnd>(sql`
        SELECT d.hwid AS hwid, e.registered_at_ms AS "registeredAtMs",
          e.last_seen_at_ms AS "lastSeenAtMs", e.ended_at_ms AS "endedAtMs", e.why AS why,
          e.actor AS actor, n.hwid AS "forHwid"
        FROM slot_end e LEFT JOIN device d ON d.id = e.device_id
          LEFT JOIN device n ON n.id = e.for_device_id
        WHERE e.install_id = ${value('installId')} ORDER BY e.id DESC`),
    refusals: backend.prepare<NonNullable<LinkStory['refusals']>>(sql`
        SELECT refused_count AS count, refused_at_ms AS "lastAtMs", reason
        FROM install_refusal WHERE install_id = ${value('installId')}`),
  };
}

export function linkNoun(backend: Backend): LinkStore {
  const on = statements(backend);
  const matching = ({ providerCode }: LinkFilter) => (providerCode === null ? on.ofAll : on.ofOne);

  /** Runs a statement of a filter: at once, or if few links may match, range by range. */
  async function* matches<Row>(
    filter: LinkFilter & { fromId?: number; beforeId?: number | null },
    statement: (of: ReturnType<typeof matching>) => Prepared<Row>,
    more: Values = {},
    turn = nextTurn,
  ): AsyncGenerator<Row[]> {
    const { fromId: leastId = 0 } = filter;
    const { providerCode, status, isFull, isOver = false, search = null, inNote = null } = filter;
    const values = {
      ...{ providerCode, status, search, ...more },
      ...{ isFull: isFull ? 1 : 0, isOver: isOver ? 1 : 0 },
      part: search === null ? null : likePart(search),
      inNote: inNote === null ? null : likePart(inNote),
    };
    const of = matching(filter);
    const isWhole = search === null && inNote === null && !isOver;
    for (let beforeId = filter.beforeId ?? Number.MAX_SAFE_INTEGER; ; ) {
      const ending = { providerCode, beforeId };
      const begin = isWhole ? 0 : (await backend.read(() => of.range.get(ending)))?.fromId;
      if (begin == null) return;
      const fromId = Math.max(begin, leastId);
      yield await backend.read(() => statement(of).all({ ...values, fromId, beforeId }));
      if (isWhole || fromId === leastId) return;
      beforeId = fromId;
      await turn();
    }
  }

  return {
    findLink: async (installCode) => {
      const found = await backend.read(() => on.find.get({ installCode }));
      return found && linkOf(found);
    },
    findLinkById: async (id) => {
      const found = await backend.read(() => on.findById.get({ id }));
      return found && linkOf(found);
    },
    findLinksByKey: async (subscriptionKeyHash) =>
      (await backend.read(() => on.findByKey.all({ subscriptionKeyHash }))).map(linkOf),
    listLinks: async ({ countMax, ...filter }, turn) => {
      const found: LinkRow[] = [];
      for await (const rows of matches(filter, ({ list }) => list, { countMax }, turn)) {
        found.push(...rows);
        if (found.length >= countMax) break;
      }
      return found.slice(0, countMax).map(linkOf);
    },
    countLinks: async (filter) => {
      let sum = 0;
      for await (const [row] of matches(filter, ({ count }) => count)) sum += row?.count ?? 0;
      return sum;
    },
    readLinkStory: async (installId) => {
      const [ends, refusals] = await backend.read(() =>
        backend.together([() => on.ends.all({ installId }), () => on.refusals.get({ installId })]),
      );
      return { ends, refusals };
    },
  };
}
