/** Upstreams of the gate that operators added in the console. */

import * as deeds from '../../core/audit/upstream-deeds.ts';
import type { KeptUpstream, UpstreamKeys, UpstreamStore } from '../../core/port/upstream.ts';
import type { Backend } from '../backend.ts';
import { columns, insertInto, sql, values } from '../statement-text.ts';

const KEPT = sql`
    SELECT ${columns('gate_upstream', 'name AS host, settings, updatedAtMs, updatedBy')}
    FROM gate_upstream`;

/** Prepares the statement that lists them. */
export const keptUpstreams = (on: Pick<Backend, 'prepare'>) =>
  on.prepare(sql`${KEPT} ORDER BY name`);

const keysIn = ({ settings }: KeptUpstream) => JSON.parse(settings) as UpstreamKeys;

export function upstreamNoun(backend: Backend): UpstreamStore {
  const { prepare } = backend;
  const on = {
    list: keptUpstreams(backend),
    find: prepare(sql`${KEPT} WHERE name = :host`),
    count: prepare(
      sql`SELECT ${values<{ count: number }>({ count: sql`COUNT(*)` })} FROM gate_upstream`,
    ),
    add: prepare(sql`
        ${insertInto(
          'gate_upstream',
          `settings, name = :host, createdAtMs = :atMs, updatedAtMs = :atMs,
            updatedBy = :by`,
        )}`),
    change: prepare(sql`
        UPDATE gate_upstream SET settings = :settings, updated_at_ms = :atMs, updated_by = :by
        WHERE name = :host`),
    remove: prepare(sql`
        DELETE FROM gate_upstream WHERE name = :host`),
  };
  return {
    listUpstreams: () => backend.read(() => on.list.all()),
    addUpstream: (host, keys, countMax, act) =>
      backend.write(function* (notes) {
        // They belong to no provider: the audit log serves as their lock, as for accounts of the
        // appliance.
        yield* backend.lockAuditLog();
        if ((yield* on.find.get({ host })) !== null) return 'upstream_exists';
        const { count } = (yield* on.count.get()) ?? { count: 0 };
        if (count >= countMax) return 'upstream_limit_reached';
        const settings = JSON.stringify(keys);
        yield* on.add.run({ host, settings, atMs: act.atMs, by: act.actor.name });
        notes.audit(act, deeds.addUpstream(host, keys));
        return 'ok';
      }),
    changeUpstream: (host, keys, act) =>
      backend.write(function* (notes) {
        yield* backend.lockAuditLog();
        const known = yield* on.find.get({ host });
        if (known === null) return 'upstream_not_found';
        const settings = JSON.stringify(keys);
        if (settings === known.settings) return 'ok';
        yield* on.change.run({ host, settings, atMs: act.atMs, by: act.actor.name });
        notes.audit(act, deeds.changeUpstream(host, keysIn(known), keys));
        return 'ok';
      }),
    removeUpstream: (host, act) =>
      backend.write(function* (notes) {
        yield* backend.lockAuditLog();
        const known = yield* on.find.get({ host });
        if (known === null) return 'upstream_not_found';
        yield* on.remove.run({ host });
        notes.audit(act, deeds.removeUpstream(host, keysIn(known)));
        return 'ok';
      }),
  };
}
