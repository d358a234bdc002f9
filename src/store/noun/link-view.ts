/** Queries about links by filters, for a provider or, for the operator, of all providers. */

import type { SQL } from 'drizzle-orm';
import { FACT_FIELDS } from '../../core/device-facts.ts';
import { fieldsOf } from '../../core/field.ts';
import { alternatives } from '../../core/fold.ts';
import type { LinkFilter, LinkViewStore, OwnedLink } from '../../core/port/link-view.ts';
import { LINK_TERMS } from '../../core/terms.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Backend, Dialect, Prepared, Values } from '../backend.ts';
import { columns, ofTable, sql, values } from '../statement-text.ts';
import { slotSeen, withDevice } from './look-ups.ts';
import { DISABLED_BY_IMPORT } from './panel-link.ts';
import { booleans, type Flagged, mapped } from './rows.ts';
import { FIGURES_MATCH, figuresValues } from './subscription-figures.ts';

/** Links that one statement of a search reads: some 5 ms on SQLite. */
const RANGE_COUNT = 1_000;
/** As {@link RANGE_COUNT}, for a filter that reads no other table. */
const LIGHT_RANGE_COUNT = 5_000;
/** Ranges of a slice. */
const SLICE_RANGES = 4;

const MAX_ID = Number.MAX_SAFE_INTEGER;

type LinkRow = Flagged<OwnedLink, 'hasSubscriptionKey' | 'isCopied'>;

/** Prepares a statement about links as the operator sees them. */
const preparedLinks = ({ prepare }: Backend, query: SQL<LinkRow>) =>
  mapped(prepare(query), booleans('hasSubscriptionKey', 'isCopied'));

/** Returns the pattern of texts with this part, where letters that are alike are one. */
export const patternOf = (dialect: Dialect, part: string | null) =>
  part === null ? null : dialect.partPattern(alternatives(part));

/** Condition: a HWID of the link `i` has a certain further phone. */
const IS_COPIED = sql.raw(`(i.has_phones = 1 AND (
  SELECT count(*) FROM slot_phone c WHERE c.install_id = i.id AND c.state = 'certain') > 0)`);

/** Statements about the links `i` that match a filter, of all providers or of one. */
function filterStatements(backend: Backend, link: SQL<LinkRow>, ofProvider: SQL) {
  const { prepare, join, once } = backend;
  const links = (query: SQL<LinkRow>) => preparedLinks(backend, query);
  // Subqueries with one value, because PostgreSQL would read all of a table for EXISTS here.
  const refusedAt = sql`(
    SELECT r.refused_at_ms FROM install_refusal r WHERE r.install_id = i.id)`;
  const seenAt = sql`(
    SELECT max(${slotSeen(backend)}) FROM install_device s ${withDevice(backend)}
    WHERE s.install_id = i.id)`;
  const isUnset = (name: string) => sql.raw(`CAST(:${name} AS text) IS NULL`);
  const where = sql`
    WHERE ${ofProvider} AND i.id >= :fromId AND i.id < :beforeId
      AND (:isFull = 0 OR i.device_count >= i.install_limit)
      AND (:isOver = 0 OR i.device_count > i.install_limit)
      AND (:isCopied = 0 OR ${IS_COPIED})
      AND (CAST(:status AS integer) IS NULL OR i.status = :status)
      AND (:isDisabledByImport = 0 OR ${DISABLED_BY_IMPORT})
      AND (CAST(:limit AS integer) IS NULL OR i.install_limit = :limit)
      AND (CAST(:refusedSinceMs AS bigint) IS NULL OR ${refusedAt} >= :refusedSinceMs)
      AND (CAST(:unusedSinceMs AS bigint) IS NULL OR (i.created_at_ms < :unusedSinceMs
          AND coalesce(${seenAt}, 0) < :unusedSinceMs))
      AND ${FIGURES_MATCH}
      AND (${isUnset('inNote')} OR ${backend.fits('i.note', 'inNote')})
      AND (${isUnset('part')} OR ${backend.fits('i.note', 'part')}
        OR (:hidesCodes = 0 AND ${backend.fits('i.install_code', 'part')})
        OR EXISTS (SELECT 1 FROM install_device s ${join} device d ON d.id = s.device_id
          WHERE s.install_id = i.id AND substr(d.hwid, 1, length(CAST(:search AS text))) = :search)
        OR EXISTS (SELECT 1 FROM named_hwid n
          WHERE n.install_id = i.id AND substr(n.hwid, 1, length(CAST(:search AS text))) = :search)
        OR EXISTS (SELECT 1 FROM install_device s ${withDevice(backend)}
          WHERE s.install_id = i.id AND ${backend.fits('p.device_name', 'part')}))`;
  return {
    list: links(sql`${link} ${where} ORDER BY i.id DESC LIMIT ${once('countMax')}`),
    listOldest: links(sql`${link} ${where} ORDER BY i.id LIMIT ${once('countMax')}`),
    count: prepare(
      sql`SELECT ${values<{ count: number }>({ count: sql`count(*)` })} FROM install i ${where}`,
    ),
    /** The other end of a range of links before or after an id. */
    range: prepare(sql`
        SELECT ${values<{ endId: number | null }>({ endId: sql`min(id)` })} FROM (
          SELECT i.id AS id FROM install i WHERE ${ofProvider} AND i.id < :beforeId
          ORDER BY i.id DESC LIMIT ${once('rangeCount')}) AS following`),
    rangeBeyond: prepare(sql`
        SELECT ${values<{ endId: number | null }>({ endId: sql`max(id)` })} FROM (
          SELECT i.id AS id FROM install i WHERE ${ofProvider} AND i.id > :afterId
          ORDER BY i.id LIMIT ${once('rangeCount')}) AS following`),
  };
}

function statements(backend: Backend) {
  const { prepare } = backend;
  const links = (query: SQL<LinkRow>) => preparedLinks(backend, query);
  const link = sql`
    SELECT ${columns(
      { i: 'install', p: 'provider' },
      `i.id, i.installCode, i.installLimit, i.deviceCount, i.status, i.note,
      i.createdAtMs, i.providerId, p.code AS providerCode, i.replacedAtMs,
      i.limitWanted`,
    )}, ${columns({ i: 'install' }, ofTable('i', fieldsOf(LINK_TERMS)))}, ${values<{
      hasSubscriptionKey: number;
      isCopied: number;
    }>({
      isCopied: sql`CAST(${IS_COPIED} AS integer)`,
      hasSubscriptionKey: sql`CAST(i.subscription_key_hash IS NOT NULL AS integer)`,
    })}
    FROM install i ${backend.join} provider p ON p.id = i.provider_id`;
  return {
    find: links(sql`${link} WHERE i.install_code = :installCode`),
    findById: links(sql`${link} WHERE i.id = :id`),
    findByKey: links(sql`
        ${link} WHERE i.subscription_key_hash = ${backend.bytes('subscriptionKeyHash')}
        ORDER BY i.id`),
    ofAll: filterStatements(backend, link, sql`true`),
    ofOne: filterStatements(
      backend,
      link,
      sql`i.provider_id = (SELECT id FROM provider WHERE code = :providerCode)`,
    ),
    byId: links(sql`
        ${link} WHERE i.id ${backend.among('ids')} AND i.provider_id = :providerId
        ORDER BY i.id DESC`),
    devices: prepare(sql`
        SELECT ${columns({ d: 'device', p: 'device_provider', s: 'install_device' }, [
          'd.hwid',
          ...ofTable('p', FACT_FIELDS),
          's.registeredAtMs',
        ])}, ${values<{ lastSeenAtMs: number }>({ lastSeenAtMs: slotSeen(backend) })}
        FROM install_device s ${backend.join} device d ON d.id = s.device_id ${withDevice(backend)}
        WHERE s.install_id = :installId AND s.provider_id = :providerId
        ORDER BY s.id DESC LIMIT :countMax`),
    ends: prepare(sql`
        SELECT ${columns(
          { e: 'slot_end', d: 'device?', n: 'device?' },
          `d.hwid, e.registeredAtMs, e.lastSeenAtMs, e.endedAtMs, e.why, e.actor,
              n.hwid AS forHwid`,
        )}
        FROM slot_end e LEFT JOIN device d ON d.id = e.device_id
          LEFT JOIN device n ON n.id = e.for_device_id
        WHERE e.install_id = :installId ORDER BY e.id DESC`),
    refusals: prepare(sql`
        SELECT ${columns(
          'install_refusal',
          'refusedCount AS count, refusedAtMs AS lastAtMs, reason',
        )}
        FROM install_refusal WHERE install_id = :installId`),
  };
}

interface Beyond {
  beyondId: number | null;
  isOldest: boolean;
}

/** The ids after one, in the order of a list, up to another; null: to the last. */
function spanOf({ beyondId, isOldest }: Beyond, endId: number | null) {
  return isOldest
    ? { fromId: (beyondId ?? 0) + 1, beforeId: endId === null ? MAX_ID : endId + 1 }
    : { fromId: endId ?? 0, beforeId: beyondId ?? MAX_ID };
}

/** Returns the values of a filter, and the links that one statement reads; null: all. */
function valuesOf(
  backend: Backend,
  filter: LinkFilter,
): { values: Values; rangeCount: number | null } {
  const { providerCode, status, isFull, isOver = false, search = null, inNote = null } = filter;
  const { refusedSinceMs = null, unusedSinceMs = null, limit = null } = filter;
  const { isCopied = false, isDisabledByImport = false } = filter;
  const figures = figuresValues(filter);
  const others = [search, inNote, refusedSinceMs, unusedSinceMs, ...Object.values(figures)];
  const isHeavy = isOver || others.some((one) => one !== null);
  const isLight = isFull || isCopied || isDisabledByImport || status !== null || limit !== null;
  return {
    values: {
      providerCode,
      status,
      search,
      refusedSinceMs,
      unusedSinceMs,
      ...figures,
      limit,
      hidesCodes: filter.hidesCodes ? 1 : 0,
      isFull: isFull ? 1 : 0,
      isOver: isOver ? 1 : 0,
      isCopied: isCopied ? 1 : 0,
      isDisabledByImport: isDisabledByImport ? 1 : 0,
      part: patternOf(backend, search),
      inNote: patternOf(backend, inNote),
    },
    rangeCount: isHeavy ? RANGE_COUNT : isLight ? LIGHT_RANGE_COUNT : null,
  };
}

export function linkViewNoun(backend: Backend): LinkViewStore {
  const on = statements(backend);
  const matching = ({ providerCode }: LinkFilter) => (providerCode === null ? on.ofAll : on.ofOne);

  /** Runs a statement of a filter: at once if all links match, else range by range. */
  async function* matches<Row>(
    filter: LinkFilter & { fromId?: number; beforeId?: number | null },
    statement: (of: ReturnType<typeof matching>) => Pick<Prepared<Row>, 'all'>,
    more: Values = {},
    turn = nextTurn,
  ): AsyncGenerator<Row[]> {
    const { providerCode, fromId: leastId = 0 } = filter;
    const { rangeCount, values } = valuesOf(backend, filter);
    const of = matching(filter);
    for (let beforeId = filter.beforeId ?? MAX_ID; ; ) {
      const ending = { providerCode, beforeId, rangeCount };
      const begin =
        rangeCount === null ? 0 : (await backend.read(() => of.range.get(ending)))?.endId;
      if (begin == null) return;
      const fromId = Math.max(begin, leastId);
      const range = { ...values, ...more, fromId, beforeId };
      yield await backend.read(() => statement(of).all(range));
      if (rangeCount === null || fromId === leastId) return;
      beforeId = fromId;
      await turn();
    }
  }

  /** Finds the next range after an id; null: there is none. */
  async function rangeBeyond(filter: LinkFilter & Beyond, rangeCount: number) {
    const { providerCode, beyondId, isOldest } = filter;
    const of = matching(filter);
    const [beforeId, afterId] = [beyondId ?? MAX_ID, beyondId ?? 0];
    const ending = { providerCode, beforeId, afterId, rangeCount };
    const next = isOldest ? of.rangeBeyond : of.range;
    const endId = (await backend.read(() => next.get(ending)))?.endId ?? null;
    return endId === null ? null : { endId, ...spanOf({ beyondId, isOldest }, endId) };
  }

  return {
    findLink: async (installCode) => backend.read(() => on.find.get({ installCode })),
    findLinkById: async (id) => backend.read(() => on.findById.get({ id })),
    findLinksByKey: async (subscriptionKeyHash) =>
      backend.read(() => on.findByKey.all({ subscriptionKeyHash })),
    listLinks: async ({ countMax, ...filter }, turn) => {
      const found: OwnedLink[] = [];
      for await (const rows of matches(filter, ({ list }) => list, { countMax }, turn)) {
        found.push(...rows);
        if (found.length >= countMax) break;
      }
      return found.slice(0, countMax);
    },
    listLinkSlice: async ({ countMax, ...filter }, turn = nextTurn) => {
      const { rangeCount, values } = valuesOf(backend, filter);
      const of = matching(filter);
      const list = filter.isOldest ? of.listOldest : of.list;
      const links: OwnedLink[] = [];
      let { beyondId } = filter;
      for (let n = 0; n < SLICE_RANGES; n++) {
        const range =
          rangeCount === null
            ? { endId: null, ...spanOf(filter, null) }
            : await rangeBeyond({ ...filter, beyondId }, rangeCount);
        if (range === null) return { links, nextId: null };
        const { endId, ...span } = range;
        const most = { ...values, ...span, countMax: countMax - links.length };
        links.push(...(await backend.read(() => list.all(most))));
        if (links.length >= countMax) return { links, nextId: links.at(-1)?.id ?? null };
        if (endId === null) return { links, nextId: null };
        beyondId = endId;
        await turn();
      }
      return { links, nextId: beyondId };
    },
    listLinksById: async (providerId, ids) => backend.read(() => on.byId.all({ providerId, ids })),
    countLinks: async (filter) => {
      let sum = 0;
      for await (const [row] of matches(filter, ({ count }) => count)) sum += row?.count ?? 0;
      return sum;
    },
    listLinkDevices: (providerId, installId, countMax) =>
      Promise.resolve(backend.read(() => on.devices.all({ providerId, installId, countMax }))),
    readLinkStory: async (installId) => {
      const [ends, refusals] = await backend.read(() =>
        backend.together([() => on.ends.all({ installId }), () => on.refusals.get({ installId })]),
      );
      return { ends, refusals };
    },
  };
}
