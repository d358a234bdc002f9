/** Further keys of a provider besides its main key. */

import * as deeds from '../../core/audit/account-deeds.ts';
import type { ProviderKeyStore } from '../../core/port/provider-key.ts';
import { keyFingerprint } from '../../core/secret.ts';
import type { Backend } from '../backend.ts';
import { columns, insertInto, sql } from '../statement-text.ts';
import { noteFirstUse } from './key-use.ts';

export function providerKeyNoun(backend: Backend): ProviderKeyStore {
  const { prepare } = backend;
  const key = sql`
    SELECT ${columns('provider_key', 'id, name, scope, keyHash, createdAtMs, untilMs, firstUsedAtMs')}
    FROM provider_key WHERE provider_id = :providerId`;
  const on = {
    find: prepare(sql`${key} AND key_hash = :keyHash`),
    list: prepare(sql`${key} ORDER BY id`),
    read: prepare(sql`${key} AND id = :id`),
    add: prepare(sql`
        ${insertInto('provider_key', 'providerId, keyHash, name, scope, createdAtMs, untilMs')}
        ${backend.returningId}`),
    use: prepare(sql`
        UPDATE provider_key SET first_used_at_ms = :nowMs
        WHERE id = :id AND first_used_at_ms IS NULL`),
    remove: prepare(sql`
        DELETE FROM provider_key WHERE id = :id`),
  };
  return {
    addKey: ({ countMax, ...draft }, act) =>
      backend.write(function* (notes) {
        const { providerId } = draft;
        yield* backend.lockProvider(providerId);
        if ((yield* on.list.all({ providerId })).length >= countMax) return 'key_limit_reached';
        const id = yield* on.add.insert({ ...draft });
        notes.audit(act, deeds.addKey({ ...draft, id }), providerId);
        return { id };
      }),
    findKey: (providerId, keyHash) => backend.read(() => on.find.get({ providerId, keyHash })),
    noteFirstUse: (provider, { id, keyHash, name: keyName, scope: right }, nowMs) =>
      backend.write(function* (notes) {
        if ((yield* on.use.run({ id, nowMs })) === 0) return;
        noteFirstUse(notes, provider, { key: keyFingerprint(keyHash), keyName, right }, nowMs);
      }),
    listKeys: (providerId) => backend.read(() => on.list.all({ providerId })),
    removeKey: (providerId, id, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const known = yield* on.read.get({ providerId, id });
        if (known === null) return false;
        yield* on.remove.run({ id });
        notes.audit(act, deeds.removeKey(known), providerId);
        return true;
      }),
  };
}
