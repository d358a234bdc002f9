/**
 * Accounts of people, with their roles. A write first locks the place (the provider's row, or the
 * audit log for the appliance, which has no row), then the account.
 */

import { topRoleAt } from '../../core/account/roles.ts';
import * as deeds from '../../core/audit/account-deeds.ts';
import type { Account, AccountStore, NewAccount } from '../../core/port/account.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, insertInto, sql, values } from '../statement-text.ts';
import { IS_OWNERS, lockOwner, ofOwner } from './owner.ts';
import type { passkeyNoun } from './passkey.ts';
import { booleans, mapped } from './rows.ts';
import { oneTimeSteps } from './session.ts';

type AccountRow = Omit<Account, 'recovery'> & { recovery: string };

const listIn = (text: string) => (text === '' ? [] : text.split(','));
const accountIn = (row: AccountRow): Account => ({ ...row, recovery: listIn(row.recovery) });

function statements({ prepare, locked }: Backend) {
  const account = sql`
    SELECT ${columns(
      'account',
      `id, name, passwordHash, totpSecret, totpSinceMs, totpStep, recovery,
      createdAtMs, signedInAtMs`,
    )}
    FROM account`;
  const ofId = sql`id = :accountId`;
  return {
    find: mapped(prepare(sql`${account} WHERE name = :name`), accountIn),
    read: mapped(prepare(sql`${account} WHERE ${ofId}`), accountIn),
    lock: mapped(prepare(sql`${account} WHERE ${ofId} ${locked}`), accountIn),
    add: prepare(sql`
        ${insertInto('account', "name, createdAtMs, recovery = ''")} ON CONFLICT DO NOTHING`),
    remove: prepare(sql`
        DELETE FROM account WHERE ${ofId}`),
    setPassword: prepare(sql`
        UPDATE account SET password_hash = :passwordHash WHERE ${ofId}`),
    setFactor: prepare(sql`
        UPDATE account SET ${assignments('account', 'totpSecret, totpSinceMs, recovery')}
        WHERE ${ofId}`),
    useStep: prepare(sql`
        UPDATE account SET totp_step = :step WHERE ${ofId} AND totp_step < :step`),
    setRecovery: prepare(sql`
        UPDATE account SET recovery = :recovery WHERE ${ofId}`),
    endSessions: prepare(sql`
        DELETE FROM session WHERE account_id = :accountId AND id <> :exceptId`),
    passkeys: prepare(sql`
        SELECT ${columns('passkey', 'id')} FROM passkey WHERE account_id = :accountId ORDER BY id`),
    removePasskeys: prepare(sql`
        DELETE FROM passkey WHERE account_id = :accountId`),
  };
}

function roleStatements(backend: Backend) {
  const own = ofOwner(backend);
  return {
    grants: backend.prepare(sql`
        SELECT ${columns(
          { r: 'account_role', p: 'provider?' },
          'r.providerId, r.role, p.code AS providerCode, p.name AS providerName',
        )}
        FROM account_role r LEFT JOIN provider p ON p.id = r.provider_id
        WHERE r.account_id = :accountId ORDER BY coalesce(r.provider_id, 0)`),
    members: own`
        SELECT ${columns(
          { a: 'account', r: 'account_role' },
          'a.id, a.name, r.role, a.createdAtMs, a.signedInAtMs',
        )}, ${values<Record<'hasPassword' | 'hasTotp' | 'passkeyCount', number>>({
          hasPassword: sql`CAST(a.password_hash IS NOT NULL AS integer)`,
          hasTotp: sql`CAST(a.totp_since_ms IS NOT NULL AS integer)`,
          passkeyCount: sql`(SELECT count(*) FROM passkey k WHERE k.account_id = a.id)`,
        })}
          FROM (SELECT account_id, role FROM account_role WHERE ${IS_OWNERS}) r
        ${backend.join} account a ON a.id = r.account_id ORDER BY a.name`,
    roles: own`
        SELECT ${columns('account_role', 'accountId, providerId, role')}
        FROM account_role WHERE ${IS_OWNERS}`,
    add: backend.prepare(sql`${insertInto('account_role', 'accountId, providerId, role')}`),
    change: own`
        UPDATE account_role SET role = :role WHERE account_id = :accountId AND ${IS_OWNERS}`,
    remove: own`DELETE FROM account_role WHERE account_id = :accountId AND ${IS_OWNERS}`,
    left: backend.prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })}
        FROM account_role WHERE account_id = :accountId`),
  };
}

type Proofs = 'setPassword' | 'setSecondFactor' | 'useTotpStep' | 'useRecoveryCode';
type AccountNoun = Omit<AccountStore, keyof ReturnType<typeof passkeyNoun>>;

/** The password and the second factor. */
function proofMethods(
  backend: Backend,
  on: ReturnType<typeof statements>,
): Pick<AccountStore, Proofs> {
  /** Changes an existing account. */
  function* changed(accountId: number, change: (known: Account) => Step<void>): Step<boolean> {
    const known = yield* on.lock.get({ accountId });
    if (known !== null) yield* change(known);
    return known !== null;
  }

  return {
    setPassword: (accountId, passwordHash, exceptSessionId, act) =>
      backend.write((notes) =>
        changed(accountId, function* () {
          yield* on.setPassword.run({ accountId, passwordHash });
          yield* on.endSessions.run({ accountId, exceptId: exceptSessionId ?? 0 });
          notes.audit(act, deeds.setPassword(accountId, passwordHash !== null));
        }),
      ),
    setSecondFactor: (accountId, { totpSecret, totpSinceMs, recovery }, act) =>
      backend.write((notes) =>
        changed(accountId, function* (before) {
          const factor = { accountId, totpSecret, totpSinceMs, recovery: recovery.join(',') };
          yield* on.setFactor.run(factor);
          notes.audit(act, deeds.setSecondFactor(before, totpSinceMs));
        }),
      ),
    useTotpStep: (accountId, step) =>
      backend.change(function* () {
        return (yield* on.useStep.run({ accountId, step })) > 0;
      }),
    useRecoveryCode: (accountId, codeHash, act) =>
      backend.write(function* (notes) {
        const codes = (yield* on.lock.get({ accountId }))?.recovery ?? [];
        const left = codes.filter((code) => code !== codeHash);
        if (left.length === codes.length) return false;
        yield* on.setRecovery.run({ accountId, recovery: left.join(',') });
        notes.audit(act, deeds.useRecoveryCode(accountId, left.length));
        return true;
      }),
  };
}

/** The reset of an account by the operator. */
function resetMethod(
  backend: Backend,
  on: ReturnType<typeof statements>,
  roles: ReturnType<typeof roleStatements>,
): Pick<AccountStore, 'resetAccount'> {
  const oneTime = oneTimeSteps(backend);
  return {
    resetAccount: (accountId, act) =>
      backend.write(function* (notes) {
        const places = (yield* roles.grants.all({ accountId })).map((one) => one.providerId);
        // The appliance last, as in every write.
        for (const place of [...places.filter((one) => one !== null), null]) {
          if (!places.includes(place)) continue;
          yield* lockOwner(backend, place);
          yield* oneTime.endInvitations(place);
        }
        const before = yield* on.lock.get({ accountId });
        if (before === null) return false;
        yield* oneTime.endOf(accountId);
        yield* on.setPassword.run({ accountId, passwordHash: null });
        yield* on.setFactor.run({ accountId, totpSecret: null, totpSinceMs: null, recovery: '' });
        notes.audit(act, deeds.setPassword(accountId, false));
        notes.audit(act, deeds.setSecondFactor(before, null));
        for (const { id } of yield* on.passkeys.all({ accountId })) {
          notes.audit(act, deeds.removePasskey(accountId, id));
        }
        yield* on.removePasskeys.run({ accountId });
        const ended = yield* on.endSessions.run({ accountId, exceptId: 0 });
        if (ended > 0) notes.audit(act, deeds.endSessions(ended));
        return true;
      }),
  };
}

export function accountNoun(backend: Backend): AccountNoun {
  const on = statements(backend);
  const roles = roleStatements(backend);
  const oneTime = oneTimeSteps(backend);

  /** Returns the account's role at a place, and whether another account has the highest one. */
  function* roleAt(accountId: number, providerId: number | null) {
    yield* lockOwner(backend, providerId);
    const all = yield* roles.roles(providerId).all({ providerId });
    const own = all.find((one) => one.accountId === accountId);
    const top = topRoleAt(providerId);
    const isLast = own?.role === top && all.filter(({ role }) => role === top).length === 1;
    return { own, isLast };
  }

  function* add(notes: Notes, draft: NewAccount) {
    const { name, createdAtMs, countMax, invitation } = draft;
    let { grant } = draft;
    if (invitation !== null) {
      const found = yield* oneTime.find('invitation', invitation.secretHash, invitation.nowMs);
      if (found?.role == null) return 'invitation_used';
      grant = { providerId: found.providerId, role: found.role };
    }
    yield* lockOwner(backend, grant.providerId);
    if ((yield* on.find.get({ name })) !== null) return 'account_exists';
    const { providerId } = grant;
    if ((yield* roles.roles(providerId).all({ providerId })).length >= countMax) {
      return 'account_limit_reached';
    }
    if (invitation !== null && !(yield* oneTime.take('invitation', invitation.secretHash))) {
      return 'invitation_used';
    }
    // Another place may have taken the name meanwhile.
    if ((yield* on.add.run({ name, createdAtMs })) === 0) return notes.refuse('account_exists');
    const id = (yield* on.find.get({ name }))?.id ?? 0;
    yield* roles.add.run({ accountId: id, ...grant });
    return { id, grant };
  }

  return {
    addAccount: (draft, act) =>
      backend.write(function* (notes) {
        const added = yield* add(notes, draft);
        if (typeof added === 'string') return added;
        const { id, grant } = added;
        notes.audit(act, deeds.addAccount(id, grant), grant.providerId);
        return added;
      }),
    findAccount: (name) => backend.read(() => on.find.get({ name })),
    readAccount: (accountId) => backend.read(() => on.read.get({ accountId })),
    listGrants: (accountId) => backend.read(() => roles.grants.all({ accountId })),
    listMembers: (providerId) =>
      backend.read(function* () {
        const rows = yield* roles.members(providerId).all({ providerId });
        return rows.map(booleans('hasPassword', 'hasTotp'));
      }),
    changeRole: (accountId, grant, act) =>
      backend.write(function* (notes) {
        const { providerId, role } = grant;
        const { own, isLast } = yield* roleAt(accountId, providerId);
        if (own === undefined) return 'account_not_found';
        if (own.role === role) return 'ok';
        if (isLast) return 'last_of_role';
        yield* roles.change(providerId).run({ accountId, providerId, role });
        yield* oneTime.endInvitations(providerId);
        notes.audit(act, deeds.changeRole(accountId, own, grant), providerId);
        return 'ok';
      }),
    removeRole: (accountId, providerId, act) =>
      backend.write(function* (notes) {
        const { own, isLast } = yield* roleAt(accountId, providerId);
        if (own === undefined) return 'account_not_found';
        if (isLast) return 'last_of_role';
        yield* on.lock.get({ accountId });
        yield* roles.remove(providerId).run({ accountId, providerId });
        yield* oneTime.endInvitations(providerId);
        const left = (yield* roles.left.get({ accountId }))?.count ?? 0;
        if (left === 0) yield* on.remove.run({ accountId });
        notes.audit(act, deeds.removeRole(accountId, own), providerId);
        return 'ok';
      }),
    ...proofMethods(backend, on),
    ...resetMethod(backend, on, roles),
  };
}
