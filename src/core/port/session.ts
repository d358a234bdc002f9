/** Sessions of the console and secrets that are good once: records and their part of the port. */

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
  /** SHA-256 of the main key with which it was opened. */
  keyHash: Uint8Array | null;
  method: SignInMethod;
  /** The client's address as limits count it. */
  client: string;
  /** The browser's name for itself, shortened. */
  agent: string;
  createdAtMs: number;
  seenAtMs: number;
  /** First instant at which it is over, unless it is used before. */
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
  /** The most sessions of the owner: the ones that were longest unused end. */
  countMax: number;
}

export type OneTimeKind = 'entry' | 'invitation' | 'passkey';

/** A secret that is good once, until a time. */
export interface OneTime {
  kind: OneTimeKind;
  /** The account that may use it; null: any caller that has the secret. */
  accountId: number | null;
  /** Of an invitation: the place and the role. */
  providerId: number | null;
  role: Role | null;
  untilMs: number;
}

export interface NewOneTime extends OneTime {
  secretHash: Uint8Array;
  /** The most secrets of the kind at a time, over all accounts. */
  countMax: number;
  nowMs: number;
}

export interface SessionStore {
  /** Opens a session, and notes the sign-in of its account. */
  openSession(draft: NewSession, act: Act): Promise<{ id: number }>;
  /** Finds a session by the hash of its token; null: there is none. It may be over. */
  findSession(tokenHash: Uint8Array): Maybe<Session | null>;
  /** Notes that a session was used. */
  touchSession(id: number, seenAtMs: number, untilMs: number): Promise<void>;
  /** Lists the sessions of an owner, the latest use first. */
  listSessions(owner: Pick<Session, 'accountId' | 'providerId'>): Maybe<Session[]>;
  /** Ends a session of the owner. Returns false if it has none with the id. */
  endSession(
    owner: Pick<Session, 'accountId' | 'providerId'>,
    id: number,
    act: Act,
  ): Promise<boolean>;
  /** Ends the sessions of an owner but one. Returns their number. */
  endSessions(
    owner: Pick<Session, 'accountId' | 'providerId'>,
    exceptId: number | null,
    act: Act,
  ): Promise<number>;
  /** Adds a secret; `act` for an entry in the audit log. Returns `one_time_limit_reached`. */
  addOneTime(draft: NewOneTime, act: Act | null): Promise<'ok' | 'one_time_limit_reached'>;
  /** Finds a secret without using it up; null: it was used, is over or of another kind. */
  findOneTime(kind: OneTimeKind, secretHash: Uint8Array, nowMs: number): Maybe<OneTime | null>;
  /** Uses up a secret; null as {@link findOneTime}. */
  takeOneTime(kind: OneTimeKind, secretHash: Uint8Array, nowMs: number): Promise<OneTime | null>;
  /** Deletes some sessions and secrets that are over. Returns false if there were none. */
  forgetSessions(nowMs: number): Promise<boolean>;
}
