import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import type { Act } from '../../core/port/audit.ts';
import { DOMAIN_ACTIVE, DOMAIN_DISABLED, type Domain } from '../../core/port/domain.ts';
import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

type DomainStore = Pick<
  Store,
  'findDomain' | 'addDomain' | 'activateDomain' | 'disableDomain' | 'listDomains'
>;

const DOMAIN = sql.raw(`
  SELECT id, domain_name AS "domainName", domain_hash AS "domainHash", status,
    created_at_ms AS "createdAtMs"
  FROM domain`);
const OF_PROVIDER = sql`provider_id = ${value('providerId')}`;

/** Statements about rows of bindings, for those that are new and for those that move in. */
export function bindingStatements({ db }: Context) {
  return {
    findByHash: db.prepare<Domain>(
      sql`${DOMAIN} WHERE ${OF_PROVIDER} AND domain_hash = ${value('domainHash')}`,
    ),
    /** Number of a provider's bindings, by the count that triggers keep. */
    countOf: db.prepare<{ domainCount: number }>(sql`
        SELECT domain_count AS "domainCount" FROM provider WHERE id = ${value('providerId')}`),
    /** A null as id makes SQLite take the next one. */
    add: db.prepare<{ id: number }>(sql`
        INSERT INTO domain (id, provider_id, domain_hash, domain_name, status, created_at_ms)
        VALUES (${value('id')}, ${value('providerId')}, ${value('domainHash')},
          ${value('domainName')}, ${value('status')}, ${value('createdAtMs')})
        RETURNING id`),
    change: db.prepare(sql`
        UPDATE domain SET domain_name = ${value('domainName')}, status = ${value('status')}
        WHERE id = ${value('id')}`),
  };
}

function statements({ db }: Context) {
  return {
    find: db.prepare<Domain>(sql`${DOMAIN} WHERE id = ${value('id')} AND ${OF_PROVIDER}`),
    list: db.prepare<Domain>(sql`
        ${DOMAIN} WHERE ${OF_PROVIDER} AND id < ${value('beforeId')}
        ORDER BY id DESC LIMIT ${value('countMax')}`),
  };
}

export function domainStore(context: Context): DomainStore {
  const { writer, audit, events } = context;
  const on = { ...statements(context), ...bindingStatements(context) };

  /** Changes a binding of the provider, within a write. */
  function change(providerId: number, before: Domain, wanted: Partial<Domain>, act: Act): void {
    const after = { ...before, ...wanted };
    const deed = deeds.updateDomain(before, after);
    if (deed === null) return;
    const { id, domainName, status } = after;
    on.change.run({ id, domainName, status });
    audit.note(act, deed, providerId);
  }

  return {
    addDomain: ({ domainCountMax, ...draft }, act) =>
      writer.run(() => {
        const { providerId, domainHash } = draft;
        const bound = on.findByHash.get({ providerId, domainHash });
        if (bound !== null) return { outcome: 'exists', id: bound.id };
        const owner = on.countOf.get({ providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
        const { id } = on.add.get({ ...draft, id: null, status: DOMAIN_ACTIVE }) as { id: number };
        audit.note(act, deeds.addDomain({ id, domainHash }), providerId);
        const used = owner.domainCount + 1;
        events.noteQuota(providerId, 'domains', { used, limit: domainCountMax }, act.atMs);
        return { outcome: 'added', id };
      }),

    activateDomain: (providerId, id, domainName, act) =>
      writer.run(() => {
        const known = on.find.get({ providerId, id });
        if (known === null) return 'was_active';
        const named = domainName !== null && { domainName };
        change(providerId, known, { status: DOMAIN_ACTIVE, ...named }, act);
        return known.status === DOMAIN_ACTIVE ? 'was_active' : 'activated';
      }),

    findDomain: (providerId, domainHash) => on.findByHash.get({ providerId, domainHash }),

    disableDomain: (providerId, id, act) =>
      writer.run(() => {
        const known = on.find.get({ providerId, id });
        if (known === null) return 'domain_not_found';
        change(providerId, known, { status: DOMAIN_DISABLED }, act);
        return 'ok';
      }),

    listDomains: (providerId, { id, beforeId, countMax }) => {
      const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (id === null) return on.list.all({ providerId, beforeId: bound, countMax });
      return id < bound ? on.find.all({ providerId, id }) : [];
    },
  };
}
