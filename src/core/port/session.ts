/** Sessions of the console, and secrets for one use: records and their part of the port. */

import type { Role } from './account.ts';
import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

export type SignInMethod = 'key' | 'link' | 'passkey' | 'password';

/** An account, or a provider that signed in with its main key. */
export type SessionOwner =
  | { accountId: number; providerId: null; keyHash: null }
  | { accountId: null; providerId: number; keyHash: Uint8Array };

export interface Session {
  id: number;
  accountId: number | null;
  providerId: number | null;
  /** The code of that provider. */
  providerCode: string | null;
  /** SHA-256 of the main key by which it was opened. */
  keyHash: Uint8Array | null;
  method: SignInMethod;
  /** The client's address in the form of the limits. */
  client: string;
  /** The browser's `User-Agent`, shortened. */
  agent: string;
  createdAtMs: number;
  seenAtMs: number;
  /** The first instant after its end, unless it is used before. */
  untilMs: number;
}

export interface NewSession {
  owner: SessionOwner;
  tokenHash: Uint8Array;
  method: SignInMethod;
  client: string;
  agent: string;
  createdAtMs: number;
  untilMs: number;
  /** The most sessions of the owner; beyond it the least recently used ones end. */
  countMax: number;
}

export type OneTimeKind = 'entry' | 'invitation';

/** A secret for one use, until a time. */
export interface OneTime {
  kind: OneTimeKind;
  /** The account that may use it; null: any caller that has the secret. */
  accountId: number | null;
  /** The place and role of an invitation. */
  providerId: number | null;
  role: Role | null;
  untilMs: number;
}

export interface NewOneTime extends OneTime {
  secretHash: Uint8Array;
  /** The most valid secrets of the kind at the place. */
  countMax: number;
  nowMs: number;
}

/** A challenge that a passkey of an account answered. */
interface UsedChallenge {
  secretHash: Uint8Array;
  accountId: number;
  /** The first instant at which the challenge is over by itself. */
  untilMs: number;
  /** The most used challenges of the account that are not over. */
  countMax: number;
  nowMs: number;
}

export interface SessionStore {
  /** Opens a session, and records the sign-in of its account. */
  openSession(draft: NewSession, act: Act): Promise<{ id: number }>;
  /** Finds a session by the hash of its token; null: none. The session may have ended. */
  findSession(tokenHash: Uint8Array): Maybe<Session | null>;
  /** Records a use of a session. */
  touchSession(id: number, seenAtMs: number, untilMs: number): Promise<void>;
  /** Lists the sessions of an owner, the latest use first. */
  listSessions(owner: Pick<Session, 'accountId' | 'providerId'>): Maybe<Session[]>;
  /** Ends a session of the owner. Returns false if it has none with the id. */
  endSession(
    owner: Pick<Session, 'accountId' | 'providerId'>,
    id: number,
    act: Act,
  ): Promise<boolean>;
  /** Ends all sessions of an owner but one. Returns their number. */
  endSessions(
    owner: Pick<Session, 'accountId' | 'providerId'>,
    exceptId: number | null,
    act: Act,
  ): Promise<number>;
  /** Adds a secret. Returns `one_time_limit_reached` at `countMax`. */
  addOneTime(draft: NewOneTime, act: Act): Promise<'ok' | 'one_time_limit_reached'>;
  /** Finds a secret without using it up; null: it was used, has expired or is of another kind. */
  findOneTime(kind: OneTimeKind, secretHash: Uint8Array, nowMs: number): Maybe<OneTime | null>;
  /** Uses up a secret. Returns null as {@link findOneTime}. */
  takeOneTime(kind: OneTimeKind, secretHash: Uint8Array, nowMs: number): Promise<OneTime | null>;
  /** Uses up a challenge. Returns false if it was used, or at `countMax`. */
  useChallenge(used: UsedChallenge): Promise<boolean>;
  /** Reads the key that signs what has no row: 32 bytes, the same at all nodes. */
  readSigningKey(): Maybe<Uint8Array>;
  /** Deletes some ended sessions and expired secrets. Returns false if there were none. */
  forgetSessions(nowMs: number): Promise<boolean>;
}
