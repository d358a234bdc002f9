/** Bindings of domains. */

import * as deeds from '../../core/audit/deeds.ts';
import { BINDING_NAMES } from '../../core/domain-fields.ts';
import { only } from '../../core/field.ts';
import type { Act } from '../../core/port/audit.ts';
import {
  DOMAIN_ACTIVE,
  DOMAIN_DISABLED,
  type Domain,
  type DomainStore,
} from '../../core/port/domain.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, insertInto, sql } from '../statement-text.ts';
import { shared } from './shared.ts';

const DOMAIN = sql`SELECT ${columns('domain', ['id', 'domainHash', ...BINDING_NAMES, 'createdAtMs'])}
FROM domain`;
const OF_PROVIDER = sql`provider_id = :providerId`;

/** Statements about rows of bindings, both new and imported. */
export const bindingStatements = shared(({ prepare, idOrNext, locked, returningId }: Backend) => {
  return {
    findByHash: prepare(sql`${DOMAIN} WHERE ${OF_PROVIDER} AND domain_hash = :domainHash`),
    /** Number of a provider's bindings, counted by triggers; locks the provider. */
    countOf: prepare(sql`
        SELECT ${columns('provider', 'domainCount')}
        FROM provider WHERE id = :providerId ${locked}`),
    add: prepare(sql`
        ${insertInto('domain', ['providerId', 'domainHash', ...BINDING_NAMES, 'createdAtMs'], {
          id: idOrNext('id', 'domain'),
        })} ${returningId}`),
    change: prepare(sql`
        UPDATE domain SET ${assignments('domain', BINDING_NAMES)} WHERE id = :id`),
  };
});

export function domainNoun(backend: Backend): DomainStore {
  const on = {
    ...bindingStatements(backend),
    find: backend.prepare(sql`${DOMAIN} WHERE id = :id AND ${OF_PROVIDER}`),
    list: backend.prepare(sql`
        ${DOMAIN} WHERE ${OF_PROVIDER} AND id < :beforeId ORDER BY domain.id DESC LIMIT :countMax`),
  };

  /** Changes a binding of the provider. */
  function* change(
    notes: Notes,
    providerId: number,
    before: Domain,
    wanted: Partial<Domain>,
    act: Act,
  ): Step<void> {
    const after = { ...before, ...wanted };
    const deed = deeds.updateDomain(before, after);
    if (deed === null) return;
    yield* on.change.run({ id: after.id, ...only(after, BINDING_NAMES) });
    notes.audit(act, deed, providerId);
  }

  return {
    addDomain: ({ domainCountMax, ...draft }, act) =>
      backend.write(function* (notes) {
        const { providerId, domainHash } = draft;
        const owner = yield* on.countOf.get({ providerId });
        if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
        const bound = yield* on.findByHash.get({ providerId, domainHash });
        if (bound !== null) return { outcome: 'exists', id: bound.id };
        if (owner.domainCount >= domainCountMax) return 'domain_limit_reached';
        const id = yield* on.add.insert({ ...draft, id: null, status: DOMAIN_ACTIVE });
        notes.audit(act, deeds.addDomain({ id, domainHash }), providerId);
        const used = owner.domainCount + 1;
        notes.quota(providerId, 'domains', { used, limit: domainCountMax }, act.atMs);
        return { outcome: 'added', id };
      }),

    activateDomain: (providerId, id, domainName, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const known = yield* on.find.get({ providerId, id });
        if (known === null) return 'was_active';
        const named = domainName !== null && { domainName };
        yield* change(notes, providerId, known, { status: DOMAIN_ACTIVE, ...named }, act);
        return known.status === DOMAIN_ACTIVE ? 'was_active' : 'activated';
      }),

    findDomain: (providerId, domainHash) =>
      backend.read(() => on.findByHash.get({ providerId, domainHash })),

    disableDomain: (providerId, id, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const known = yield* on.find.get({ providerId, id });
        if (known === null) return 'domain_not_found';
        yield* change(notes, providerId, known, { status: DOMAIN_DISABLED }, act);
        return 'ok';
      }),

    listDomains: (providerId, { id, beforeId, countMax }) => {
      const bound = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (id !== null) return id < bound ? backend.read(() => on.find.all({ providerId, id })) : [];
      return backend.read(() => on.list.all({ providerId, beforeId: bound, countMax }));
    },
  };
}
