/** Accounts of people, with their roles and passkeys: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

/** The roles at the appliance, and those at a provider. */
export const APPLIANCE_ROLES = ['operator', 'observer'] as const;
export const PROVIDER_ROLES = ['owner', 'sender', 'support', 'reader'] as const;

export type ApplianceRole = (typeof APPLIANCE_ROLES)[number];
type ProviderRole = (typeof PROVIDER_ROLES)[number];
export type Role = ApplianceRole | ProviderRole;

/** A role with its place: the id of a provider, or null for the appliance. */
export interface Grant {
  providerId: number | null;
  role: Role;
}

/** A grant with the names for its owner. */
export interface NamedGrant extends Grant {
  providerCode: string | null;
  providerName: string | null;
}

export interface Account {
  id: number;
  /** The name in lower case. */
  name: string;
  /** The argon2id hash; null: no password. */
  passwordHash: string | null;
  totpSecret: Uint8Array | null;
  /** The time at which the second factor was confirmed; null: it is not. */
  totpSinceMs: number | null;
  totpStep: number;
  /** SHA-256 of the unused recovery codes, hexadecimal. */
  recovery: readonly string[];
  createdAtMs: number;
  signedInAtMs: number | null;
}

export interface NewAccount {
  name: string;
  grant: Grant;
  /** The most accounts at the place. */
  countMax: number;
  createdAtMs: number;
  /** The invitation that the new account uses up in the same commit. */
  invitation: { secretHash: Uint8Array; nowMs: number } | null;
}

/** An account in the list of a place. */
interface Member {
  id: number;
  name: string;
  role: Role;
  hasPassword: boolean;
  hasTotp: boolean;
  passkeyCount: number;
  createdAtMs: number;
  signedInAtMs: number | null;
}

/** The second factor: a secret that is stored, or (with its time) confirmed; null: none. */
type SecondFactor = Pick<Account, 'totpSecret' | 'totpSinceMs' | 'recovery'>;

export interface Passkey {
  id: number;
  accountId: number;
  /** The credential id, base64url. */
  credentialId: string;
  /** The key in COSE. */
  publicKey: Uint8Array;
  signCount: number;
  transports: readonly string[];
  name: string;
  createdAtMs: number;
  usedAtMs: number | null;
}

export type NewPasskey = Omit<Passkey, 'id' | 'usedAtMs'>;

export interface AccountStore {
  /**
   * Adds an account with its first role. Returns `invitation_used` if the invitation was used or
   * has expired, `account_exists` if the name is taken, `account_limit_reached` at the bound of the
   * place.
   */
  addAccount(
    draft: NewAccount,
    act: Act,
  ): Promise<
    { id: number; grant: Grant } | 'invitation_used' | 'account_exists' | 'account_limit_reached'
  >;
  /** Finds an account by its name; null: there is none. */
  findAccount(name: string): Maybe<Account | null>;
  /** Finds an account by its id; null: there is none. */
  readAccount(id: number): Maybe<Account | null>;
  /** Lists the roles of an account: first the one at the appliance, then by provider. */
  listGrants(accountId: number): Maybe<NamedGrant[]>;
  /** Lists the accounts with a role at a place, by name. */
  listMembers(providerId: number | null): Maybe<Member[]>;
  /**
   * Changes the role of an account at a place and ends the open invitations to it. Returns
   * `account_not_found` if it has no role there, or `last_of_role` if no other account has the
   * highest role of the place.
   */
  changeRole(
    accountId: number,
    grant: Grant,
    act: Act,
  ): Promise<'ok' | 'account_not_found' | 'last_of_role'>;
  /**
   * Removes the role of an account at a place, the open invitations to it, and the account if it
   * has no other role. Refuses as {@link changeRole} does.
   */
  removeRole(
    accountId: number,
    providerId: number | null,
    act: Act,
  ): Promise<'ok' | 'account_not_found' | 'last_of_role'>;
  /**
   * Sets the password (null: none) and ends all sessions of the account but one. Returns false if
   * there is no such account.
   */
  setPassword(
    accountId: number,
    passwordHash: string | null,
    exceptSessionId: number | null,
    act: Act,
  ): Promise<boolean>;
  /**
   * Removes every way in to an account: password, second factor, passkeys, sessions, entries, and
   * the open invitations to its places. Returns false if there is no such account.
   */
  resetAccount(accountId: number, act: Act): Promise<boolean>;
  /** Stores, confirms or removes the second factor. Returns false if there is no such account. */
  setSecondFactor(accountId: number, factor: SecondFactor, act: Act): Promise<boolean>;
  /**
   * Uses up a time step of the authenticator app. Returns false if this or a later step was used.
   */
  useTotpStep(accountId: number, step: number): Promise<boolean>;
  /** Uses up a recovery code by its hash. Returns false if the account has no such code. */
  useRecoveryCode(accountId: number, codeHash: string, act: Act): Promise<boolean>;
  /** Adds a passkey. Returns `passkey_exists`, or `passkey_limit_reached` at `countMax`. */
  addPasskey(
    draft: NewPasskey,
    countMax: number,
    act: Act,
  ): Promise<{ id: number } | 'passkey_exists' | 'passkey_limit_reached'>;
  /** Finds a passkey by its credential id; null: there is none. */
  findPasskey(credentialId: string): Maybe<Passkey | null>;
  /** Lists the passkeys of an account, oldest first. */
  listPasskeys(accountId: number): Maybe<Passkey[]>;
  /**
   * Records a use. Returns false if an earlier use had the same count: there may be a copy of the
   * passkey.
   */
  usePasskey(id: number, signCount: number, atMs: number): Promise<boolean>;
  /** Renames a passkey of the account. Returns false if it has none with the id. */
  renamePasskey(accountId: number, id: number, name: string, act: Act): Promise<boolean>;
  /** Removes a passkey of the account. Returns false if it has none with the id. */
  removePasskey(accountId: number, id: number, act: Act): Promise<boolean>;
}
