/** Passkeys of accounts. */

import * as deeds from '../../core/audit/account-deeds.ts';
import type { AccountStore, Passkey } from '../../core/port/account.ts';
import type { Backend } from '../backend.ts';
import { columns, insertInto, sql } from '../statement-text.ts';
import { mapped } from './rows.ts';

type PasskeyRow = Omit<Passkey, 'transports'> & { transports: string };

const passkeyIn = (row: PasskeyRow): Passkey => ({
  ...row,
  transports: row.transports === '' ? [] : row.transports.split(','),
});

type PasskeyNoun = Pick<
  AccountStore,
  'addPasskey' | 'findPasskey' | 'listPasskeys' | 'usePasskey' | 'renamePasskey' | 'removePasskey'
>;

export function passkeyNoun(backend: Backend): PasskeyNoun {
  const { prepare, lockOnly, locked } = backend;
  const passkey = sql`
    SELECT ${columns(
      'passkey',
      `id, accountId, credentialId, publicKey, signCount, transports, name,
      createdAtMs, usedAtMs`,
    )}
    FROM passkey`;
  const ofAccount = sql`account_id = :accountId`;
  const on = {
    find: mapped(prepare(sql`${passkey} WHERE credential_id = :credentialId`), passkeyIn),
    list: mapped(prepare(sql`${passkey} WHERE ${ofAccount} ORDER BY id`), passkeyIn),
    lockAccount: lockOnly(sql`SELECT id FROM account WHERE id = :accountId ${locked}`),
    add: prepare(sql`
        ${insertInto(
          'passkey',
          `accountId, credentialId, publicKey, signCount, transports, name, createdAtMs`,
        )} ON CONFLICT DO NOTHING`),
    // Devices without a counter always send 0.
    use: prepare(sql`
        UPDATE passkey SET sign_count = :signCount, used_at_ms = :atMs WHERE id = :id
          AND (sign_count < :signCount OR (sign_count = 0 AND :signCount = 0))`),
    rename: prepare(sql`
        UPDATE passkey SET name = :name WHERE id = :id AND ${ofAccount}`),
    remove: prepare(sql`
        DELETE FROM passkey WHERE id = :id AND ${ofAccount}`),
  };
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
    findPasskey: (credentialId) => backend.read(() => on.find.get({ credentialId })),
    listPasskeys: (accountId) => backend.read(() => on.list.all({ accountId })),
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
