/** Sessions of the console, and one-time secrets. */

import type { SQL } from 'drizzle-orm';
import * as deeds from '../../core/audit/account-deeds.ts';
import type { OneTime, OneTimeKind, Session, SessionStore } from '../../core/port/session.ts';
import type { Backend, Prepared, Step, Values } from '../backend.ts';
import { columns, insertInto, ONE, sql, values } from '../statement-text.ts';
import { IS_OWNERS, lockOwner, ofOwner } from './owner.ts';
import { shared } from './shared.ts';

/** Rows that a step deletes. */
const FORGET_STEP = 500;
/** The kind of a row that only says that a challenge was used. */
const USED = sql.raw(`'used_challenge'`);

/** Makes the steps that use up or end one-time secrets within the write that calls for it. */
export const oneTimeSteps = shared((backend: Backend) => {
  const { prepare } = backend;
  const row = prepare(sql`
      SELECT ${columns('one_time', 'id, kind, accountId, providerId, role, untilMs')} FROM one_time
      WHERE secret_hash = :secretHash AND kind = :kind AND until_ms > :nowMs`);
  const take = prepare(sql`
        DELETE FROM one_time WHERE secret_hash = :secretHash AND kind = :kind`);
  const invitations = ofOwner(backend)`
      DELETE FROM one_time WHERE ${IS_OWNERS} AND kind = 'invitation'`;
  const ofAccount = prepare(sql`
        DELETE FROM one_time WHERE account_id = :accountId`);
  return {
    *find(kind: OneTimeKind, secretHash: Uint8Array, nowMs: number): Step<OneTime | null> {
      const found = yield* row.get({ kind, secretHash, nowMs });
      if (found === null) return null;
      const { id: _, ...secret } = found;
      return { ...secret, kind };
    },
    /** Returns false if another write used it. */
    *take(kind: OneTimeKind, secretHash: Uint8Array): Step<boolean> {
      return (yield* take.run({ kind, secretHash })) > 0;
    },
    /**
     * Ends all invitations to a place. They live ten minutes and keep no record of their maker: a
     * member who leaves, or a key that is replaced, takes those of the others along.
     */
    endInvitations: (providerId: number | null): Step<number> =>
      invitations(providerId).run({ providerId }),
    /** Ends the entries of an account, and forgets its used challenges. */
    endOf: (accountId: number): Step<number> => ofAccount.run({ accountId }),
  };
});

/** Prepares a statement for accounts, and one for providers that signed in with their key. */
function ofSignedIn<Row>(backend: Backend, text: (isOwners: SQL) => SQL<Row>) {
  const ofAccount = backend.prepare(text(sql`account_id = :owner`));
  const ofProvider = backend.prepare(text(sql`provider_id = :owner AND account_id IS NULL`));
  return (owner: Pick<Session, 'accountId' | 'providerId'>): [Prepared<Row>, Values] =>
    owner.accountId === null
      ? [ofProvider, { owner: owner.providerId }]
      : [ofAccount, { owner: owner.accountId }];
}

function statements(backend: Backend) {
  const { prepare } = backend;
  const session = sql`
    SELECT ${columns('session', 'id, accountId, providerId')},
      ${values<{ providerCode: string | null }>({
        providerCode: sql`(SELECT p.code FROM provider p WHERE p.id = session.provider_id)`,
      })},
      ${columns('session', 'keyHash, method, client, agent, createdAtMs, seenAtMs, untilMs')}
      FROM session`;
  const over = (table: string) => sql`
    DELETE FROM ${sql.raw(table)} WHERE id IN (SELECT id FROM ${sql.raw(table)}
      WHERE until_ms <= :nowMs ORDER BY until_ms LIMIT ${FORGET_STEP})`;
  const isOver = (table: string) => sql`
    SELECT ${ONE} FROM ${sql.raw(table)} WHERE until_ms <= :nowMs LIMIT 1`;
  return {
    find: prepare(sql`${session} WHERE token_hash = :tokenHash`),
    add: prepare(sql`
        ${insertInto(
          'session',
          `tokenHash, accountId, providerId, keyHash, method, client, agent,
            createdAtMs, untilMs, seenAtMs = :createdAtMs`,
        )} ${backend.returningId}`),
    signedIn: prepare(sql`
        UPDATE account SET signed_in_at_ms = :atMs WHERE id = :accountId`),
    touch: prepare(sql`
        UPDATE session SET seen_at_ms = :seenAtMs, until_ms = :untilMs WHERE id = :id`),
    list: ofSignedIn<Session>(
      backend,
      (isOwners) => sql`${session} WHERE ${isOwners} ORDER BY seen_at_ms DESC, id DESC`,
    ),
    end: ofSignedIn(backend, (isOwners) => sql`DELETE FROM session WHERE ${isOwners} AND id = :id`),
    endOthers: ofSignedIn(
      backend,
      (isOwners) => sql`DELETE FROM session WHERE ${isOwners} AND id <> :exceptId`,
    ),
    addSecret: prepare(sql`
        ${insertInto('one_time', 'secretHash, kind, accountId, providerId, role, untilMs')}`),
    // Expired ones may still exist until a job deletes them.
    countSecrets: ofOwner(backend)`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })} FROM one_time
        WHERE ${IS_OWNERS} AND kind = :kind AND until_ms > :nowMs`,
    countUsed: prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })} FROM one_time
        WHERE account_id = :accountId AND kind = ${USED} AND until_ms > :nowMs`),
    addUsed: prepare(sql`
        ${insertInto('one_time', 'secretHash, accountId, untilMs', { kind: USED })}
        ON CONFLICT DO NOTHING`),
    signingKey: prepare(sql`SELECT ${columns('signing_key', 'key')} FROM signing_key`),
    isSessionOver: prepare(isOver('session')),
    isSecretOver: prepare(isOver('one_time')),
    forgetSessions: prepare(over('session')),
    forgetSecrets: prepare(over('one_time')),
  };
}

export function sessionNoun(backend: Backend): SessionStore {
  const on = statements(backend);
  const secrets = oneTimeSteps(backend);

  return {
    openSession: ({ owner, countMax, ...draft }, act) =>
      backend.write(function* (notes) {
        const { accountId, providerId, keyHash } = owner;
        const [list, values] = on.list(owner);
        const known = yield* list.all(values);
        for (const { id } of known.slice(countMax - 1)) {
          const [end, of] = on.end(owner);
          yield* end.run({ ...of, id });
        }
        if (accountId !== null) yield* on.signedIn.run({ accountId, atMs: draft.createdAtMs });
        const id = yield* on.add.insert({ ...draft, accountId, providerId, keyHash });
        notes.audit(act, deeds.openSession(id, draft.method), providerId);
        return { id };
      }),
    findSession: (tokenHash) => backend.read(() => on.find.get({ tokenHash })),
    touchSession: async (id, seenAtMs, untilMs) => {
      await backend.change(() => on.touch.run({ id, seenAtMs, untilMs }));
    },
    listSessions: (owner) =>
      backend.read(() => {
        const [list, values] = on.list(owner);
        return list.all(values);
      }),
    endSession: (owner, id, act) =>
      backend.write(function* (notes) {
        const [end, values] = on.end(owner);
        if ((yield* end.run({ ...values, id })) === 0) return false;
        notes.audit(act, deeds.endSessions(1), owner.providerId);
        return true;
      }),
    endSessions: (owner, exceptId, act) =>
      backend.write(function* (notes) {
        const [end, values] = on.endOthers(owner);
        const count = yield* end.run({ ...values, exceptId: exceptId ?? 0 });
        if (count > 0) notes.audit(act, deeds.endSessions(count), owner.providerId);
        return count;
      }),
    addOneTime: ({ countMax, nowMs, ...draft }, act) =>
      backend.write(function* (notes) {
        const { kind, providerId } = draft;
        yield* lockOwner(backend, providerId);
        const counted = on.countSecrets(providerId).get({ providerId, kind, nowMs });
        if (((yield* counted)?.count ?? 0) >= countMax) return 'one_time_limit_reached';
        yield* on.addSecret.run({ ...draft });
        notes.audit(act, deeds.addOneTime(draft), providerId);
        return 'ok';
      }),
    useChallenge: ({ countMax, nowMs, ...used }) =>
      backend.change(function* () {
        const { accountId } = used;
        const count = (yield* on.countUsed.get({ accountId, nowMs }))?.count ?? 0;
        return count < countMax && (yield* on.addUsed.run({ ...used })) > 0;
      }),
    readSigningKey: () =>
      backend.read(function* () {
        const row = yield* on.signingKey.get({});
        if (row === null) throw new Error('the migration adds the key');
        return row.key;
      }),
    findOneTime: (kind, secretHash, nowMs) =>
      backend.read(() => secrets.find(kind, secretHash, nowMs)),
    takeOneTime: (kind, secretHash, nowMs) =>
      backend.write(function* () {
        const found = yield* secrets.find(kind, secretHash, nowMs);
        if (found === null || !(yield* secrets.take(kind, secretHash))) return null;
        return found;
      }),
    forgetSessions: async (nowMs) => {
      const over = await backend.read(() =>
        backend.together([
          () => on.isSessionOver.get({ nowMs }),
          () => on.isSecretOver.get({ nowMs }),
        ]),
      );
      if (over.every((row) => row === null)) return false;
      return backend.write(function* () {
        const count = yield* on.forgetSessions.run({ nowMs });
        return count + (yield* on.forgetSecrets.run({ nowMs })) > 0;
      });
    },
  };
}
