import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import type { Act } from '../../core/port/audit.ts';
import {
  DOMAIN_ACTIVE,
  DOMAIN_DISABLED,
  type Domain,
  type DomainStore,
} from '../../core/port/domain.ts';
import type { Context } from './context.ts';
import { lockProvider } from './lookups.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

const DOMAIN = sql.raw(`
  SELECT id::float8 AS id, domain_name AS "domainName", domain_hash AS "domainHash", status,
    created_at_ms::float8 AS "createdAtMs"
  FROM domain`);
const OF_PROVIDER = sql`provider_id = ${value('providerId')}`;

/**
 * Statements about rows of bindings, for those that are new and for those that move in. Whoever
 * writes has locked the provider.
 */
export const bindingRows = {
  findByHash: prepare<Domain>(
    sql`${DOMAIN} WHERE ${OF_PROVIDER} AND domain_hash = ${value('domainHash')}`,
  ),
  /** Number of a provider's bindings, by the count that triggers keep; locks the provider. */
  countOf: prepare<{ domainCount: number }>(sql`
      SELECT domain_count AS "domainCount" FROM provider WHERE id = ${value('providerId')}
      FOR NO KEY UPDATE`),
  /** A null as id takes the next one. */
  add: prepare<{ id: number }>(sql`
      INSERT INTO domain (id, provider_id, domain_hash, domain_name, status, created_at_ms)
      VALUES (coalesce(${value('id')}, nextval('domain_id_seq')), ${value('providerId')},
        ${value('domainHash')}, ${value('domainName')}, ${value('status')},
        ${value('createdAtMs')})
      RETURNING id`),
  change: prepare(sql`
      UPDATE domain SET domain_name = ${value('domainName')}, status = ${value('status')}
      WHERE id = ${value('id')}`),
};

const on = {
  find: prepare<Domain>(sql`${DOMAIN} WHERE id = ${value('id')} AND ${OF_PROVIDER}`),
  list: prepare<Domain>(sql`
      ${DOMAIN} WHERE ${OF_PROVIDER} AND id < ${value('beforeId')}
      ORDER BY domain.id DESC LIMIT ${value('countMax')}`),
};

/** Changes a binding of the provider. */
async function change(
  w: Write,
  providerId: number,
  before: Domain,
  wanted: Partial<Domain>,
  act: Act,
): Promise<void> {
  const after = { ...before, ...wanted };
  const deed = deeds.updateDomain(before, after);
  if (deed === null) return;
  const { id, domainName, status } = after;
  await bindingRows.change.run(w, { id, domainName, status });
  w.audit.note(act, deed, providerId);
}

export function domainStore({ db, write }: Context): DomainStore {
  return {
    addDomain: ({ domainCountMax, ...draft }, act) =>
      write(async (w) => {
        const { providerId, domainHash } = draft;
        const owner = await bindingRows.countOf.get(w, { providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        const bound = await bindingRows.findByHash.get(w, { providerId, domainHash });
        if (bound !== null) return { outcome: 'exists', id: bound.id };
        if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
        const added = { ...draft, id: null, status: DOMAIN_ACTIVE };
        const id = await bindingRows.add.insert(w, added);
        w.audit.note(act, deeds.addDomain({ id, domainHash }), providerId);
        const used = owner.domainCount + 1;
        w.events.noteQuota(providerId, 'domains', { used, limit: domainCountMax }, act.atMs);
        return { outcome: 'added', id };
      }),

    activateDomain: (providerId, id, domainName, act) =>
      write(async (w) => {
        await lockProvider.run(w, { providerId });
        const known = await on.find.get(w, { providerId, id });
        if (known === null) return 'was_active';
        const named = domainName !== null && { domainName };
        await change(w, providerId, known, { status: DOMAIN_ACTIVE, ...named }, act);
        return known.status === DOMAIN_ACTIVE ? 'was_active' : 'activated';
      }),

    findDomain: (providerId, domainHash) =>
      bindingRows.findByHash.get(db, { providerId, domainHash }),

    disableDomain: (providerId, id, act) =>
      write(async (w) => {
        await lockProvider.run(w, { providerId });
        const known = await on.find.get(w, { providerId, id });
        if (known === null) return 'domain_not_found';
        await change(w, providerId, known, { status: DOMAIN_DISABLED }, act);
        return 'ok';
      }),

    listDomains: async (providerId, { id, beforeId, countMax }) => {
      const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (id === null) return on.list.all(db, { providerId, beforeId: bound, countMax });
      return id < bound ? on.find.all(db, { providerId, id }) : [];
    },
  };
}
