import { and, desc, eq, lt, sql } from 'drizzle-orm';
import { DOMAIN_ACTIVE, DOMAIN_DISABLED } from '../../core/port/domain.ts';
import type { Store } from '../../core/port/store.ts';
import type { Connection } from './connection.ts';
import type { Context } from './context.ts';
import { raw } from './raw.ts';
import { domain } from './schema.ts';
import { named, prepare, value } from './statement.ts';

type DomainStore = Pick<Store, 'addDomain' | 'activateDomain' | 'disableDomain' | 'listDomains'>;

const COLUMNS = named({
  id: domain.id,
  domainName: domain.domain_name,
  domainHash: domain.domain_hash,
  status: domain.status,
  createdAtMs: domain.created_at_ms,
});

/** How many bindings a provider has, by the count that triggers keep. */
export function domainCountStatement(db: Connection) {
  return prepare(
    db,
    raw<{ domainCount: number }>(sql`
      SELECT domain_count AS "domainCount" FROM provider WHERE id = ${value('providerId')}`),
  );
}

function statements({ db, query }: Context) {
  const ofProvider = eq(domain.provider_id, value('providerId'));
  const thisOne = and(eq(domain.id, value('id')), ofProvider);
  const find = (condition: ReturnType<typeof and>) =>
    prepare(db, query.select(COLUMNS).from(domain).where(condition));
  return {
    find: find(thisOne),
    findByHash: find(and(ofProvider, eq(domain.domain_hash, value('domainHash')))),
    list: prepare(
      db,
      query
        .select(COLUMNS)
        .from(domain)
        .where(and(ofProvider, lt(domain.id, value('beforeId'))))
        .orderBy(desc(domain.id))
        .limit(value('countMax')),
    ),
    countOf: domainCountStatement(db),
    add: prepare(
      db,
      query
        .insert(domain)
        .values({
          provider_id: value('providerId'),
          domain_hash: value('domainHash'),
          domain_name: value('domainName'),
          status: DOMAIN_ACTIVE,
          created_at_ms: value('createdAtMs'),
        })
        .returning({ id: domain.id }),
    ),
    activate: prepare(
      db,
      query
        .update(domain)
        .set({ status: DOMAIN_ACTIVE })
        .where(and(thisOne, eq(domain.status, DOMAIN_DISABLED))),
    ),
    rename: prepare(
      db,
      query
        .update(domain)
        .set({ domain_name: sql`${value('domainName')}` })
        .where(and(thisOne, sql`${domain.domain_name} <> ${value('domainName')}`)),
    ),
    disable: prepare(
      db,
      query
        .update(domain)
        .set({ status: DOMAIN_DISABLED })
        .where(and(thisOne, eq(domain.status, DOMAIN_ACTIVE))),
    ),
  };
}

export function domainStore(context: Context): DomainStore {
  const { writer, audit } = context;
  const on = statements(context);
  return {
    addDomain: (draft, act) =>
      writer.run(() => {
        const { providerId, domainHash } = draft;
        const bound = on.findByHash.get({ providerId, domainHash });
        if (bound !== null) return { outcome: 'exists', id: bound.id };
        const { domainCountMax, ...row } = draft;
        const owner = on.countOf.get({ providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
        const added = on.add.get(row) as { id: number };
        const object = { id: added.id, domain_hash: domainHash };
        audit.note(act, { action: 'domain.add', providerId, object });
        return { outcome: 'added', id: added.id };
      }),

    activateDomain: (providerId, id, domainName, act) =>
      writer.run(() => {
        const wanted = { providerId, id, domainName };
        const isRenamed = domainName !== null && on.rename.run(wanted) > 0;
        const isActivated = on.activate.run({ providerId, id }) > 0;
        const change = {
          ...(isActivated && { status: [DOMAIN_DISABLED, DOMAIN_ACTIVE] as const }),
          ...(isRenamed && { domain_name: 'changed' as const }),
        };
        if (isActivated || isRenamed) {
          const action = isActivated ? 'domain.activate' : 'domain.rename';
          audit.note(act, { action, providerId, object: { id }, change });
        }
        return isActivated ? 'activated' : 'was_active';
      }),

    disableDomain: (providerId, id, act) =>
      writer.run(() => {
        if (on.disable.run({ providerId, id }) > 0) {
          const change = { status: [DOMAIN_ACTIVE, DOMAIN_DISABLED] as const };
          audit.note(act, { action: 'domain.delete', providerId, object: { id }, change });
          return 'ok';
        }
        return on.find.get({ providerId, id }) === null ? 'domain_not_found' : 'ok';
      }),

    listDomains: async (providerId, { id, beforeId, countMax }) => {
      const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (id === null) return on.list.all({ providerId, beforeId: bound, countMax });
      return id < bound ? on.find.all({ providerId, id }) : [];
    },
  };
}
