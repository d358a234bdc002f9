/** Passkeys of accounts. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/account-deeds.ts';
import type { AccountStore, Passkey } from '../../core/port/account.ts';
import type { Backend } from '../backend.ts';

type PasskeyRow = Omit<Passkey, 'transports'> & { transports: string };

const passkeyIn = (row: PasskeyRow): Passkey => ({
  ...row,
  transports: row.transports === '' ? [] : row.transports.split(','),
});

function statements(backend: Backend) {
  const passkey = sql`
    SELECT id, account_id AS "accountId", credential_id AS "credentialId",
      public_key AS "publicKey", sign_count AS "signCount", transports, name,
      created_at_ms AS "createdAtMs", used_at_ms AS "usedAtMs"
    FROM passkey`;
  const ofAccount = sql`account_id = :accountId`;
  return {
    find: backend.prepare<PasskeyRow>(sql`
        ${passkey} WHERE credential_id = :credentialId`),
    list: backend.prepare<PasskeyRow>(sql`${passkey} WHERE ${ofAccount} ORDER BY id`),
    lockAccount: backend.lockOnly(sql`
        SELECT id FROM account WHERE id = :accountId ${backend.locked}`),
    add: backend.prepare(sql`
        INSERT INTO passkey (account_id, credential_id, public_key, sign_count, transports, name,
          created_at_ms)
        VALUES (:accountId, :credentialId, :publicKey,
          :signCount, :transports, :name, :createdAtMs)
        ON CONFLICT DO NOTHING`),
    // Devices without a counter always send 0.
    use: backend.prepare(sql`
        UPDATE passkey SET sign_count = :signCount, used_at_ms = :atMs
        WHERE id = :id
          AND (sign_count < :signCount OR (sign_count = 0 AND :signCount = 0))`),
    rename: backend.prepare(sql`
        UPDATE passkey SET name = :name WHERE id = :id AND ${ofAccount}`),
    remove: backend.prepare(sql`DELETE FROM passkey WHERE id = :id AND ${ofAccount}`),
  };
}

type PasskeyNoun = Pick<
  AccountStore,
  'addPasskey' | 'findPasskey' | 'listPasskeys' | 'usePasskey' | 'renamePasskey' | 'removePasskey'
>;

export function passkeyNoun(backend: Backend): PasskeyNoun {
  const on = statements(backend);
  return {
    addPasskey: (draft, countMax, act) =>
      backend.write(function* (notes) {
        const { accountId, credentialId, transports } = draft;
        yield* on.lockAccount.run({ accountId });
        if ((yield* on.find.get({ credentialId })) !== null) return 'passkey_exists';
        if ((yield* on.list.all({ accountId })).length >= countMax) return 'passkey_limit_reached';
        const row = { ...draft, transports: transports.join(',') };
        if ((yield* on.add.run(row)) === 0) return 'passkey_exists';
        const id = (yield* on.find.get({ credentialId }))?.id ?? 0;
        notes.audit(act, deeds.addPasskey(accountId, id));
        return { id };
      }),
    findPasskey: (credentialId) =>
      backend.read(function* () {
        const row = yield* on.find.get({ credentialId });
        return row && passkeyIn(row);
      }),
    listPasskeys: (accountId) =>
      backend.read(function* () {
        return (yield* on.list.all({ accountId })).map(passkeyIn);
      }),
    usePasskey: (id, signCount, atMs) =>
      backend.change(function* () {
        return (yield* on.use.run({ id, signCount, atMs })) > 0;
      }),
    renamePasskey: (accountId, id, name, act) =>
      backend.write(function* (notes) {
        if ((yield* on.rename.run({ accountId, id, name })) === 0) return false;
        notes.audit(act, deeds.renamePasskey(accountId, id));
        return true;
      }),
    removePasskey: (accountId, id, act) =>
      backend.write(function* (notes) {
        if ((yield* on.remove.run({ accountId, id })) === 0) return false;
        notes.audit(act, deeds.removePasskey(accountId, id));
        return true;
      }),
  };
}
