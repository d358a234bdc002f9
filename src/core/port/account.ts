/** Accounts of people, with their roles and passkeys: their records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

/** The roles at the appliance, and those at a provider. */
export const APPLIANCE_ROLES = ['operator', 'observer'] as const;
export const PROVIDER_ROLES = ['owner', 'sender', 'support', 'reader'] as const;

export type ApplianceRole = (typeof APPLIANCE_ROLES)[number];
export type ProviderRole = (typeof PROVIDER_ROLES)[number];
export type Role = ApplianceRole | ProviderRole;

/** A role with its place: a provider's id, or null for the appliance. */
export interface Grant {
  providerId: number | null;
  role: Role;
}

/** A grant, as its owner sees it. */
export interface NamedGrant extends Grant {
  providerCode: string | null;
  providerName: string | null;
}

export interface Account {
  id: number;
  /** Lower case. */
  name: string;
  /** argon2id; null: it has no password. */
  passwordHash: string | null;
  totpSecret: Uint8Array | null;
  /** Time since which the second factor is in force; null: it is not. */
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
  /** The invitation that this account uses up, in the same commit. */
  invitation: { secretHash: Uint8Array; nowMs: number } | null;
}

/** An account in the list of a place. */
export interface Member {
  id: number;
  name: string;
  role: Role;
  hasPassword: boolean;
  hasTotp: boolean;
  passkeyCount: number;
  createdAtMs: number;
  signedInAtMs: number | null;
}

/** The second factor: a secret that is set up or (with its time) in force; null: none. */
export type SecondFactor = Pick<Account, 'totpSecret' | 'totpSinceMs' | 'recovery'>;

export interface Passkey {
  id: number;
  accountId: number;
  /** base64url. */
  credentialId: string;
  /** COSE. */
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
   * Adds an account with its first role. Returns `invitation_used` if the invitation is gone or
   * over, `account_exists` if the name is taken, `account_limit_reached` at the place's bound.
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
  /** Lists the roles of an account: that at the appliance first, then by provider. */
  listGrants(accountId: number): Maybe<NamedGrant[]>;
  /** Lists the accounts with a role at a place, by name. */
  listMembers(providerId: number | null): Maybe<Member[]>;
  /**
   * Gives an account another role at a place where it has one. Returns `account_not_found`, or
   * `last_of_role` if no other account has the place's highest role.
   */
  changeRole(
    accountId: number,
    grant: Grant,
    act: Act,
  ): Promise<'ok' | 'account_not_found' | 'last_of_role'>;
  /**
   * Takes the role at a place from an account, and removes an account without another role.
   * Refuses as {@link changeRole} does.
   */
  removeRole(
    accountId: number,
    providerId: number | null,
    act: Act,
  ): Promise<'ok' | 'account_not_found' | 'last_of_role'>;
  /**
   * Sets the password (null: none) and ends the account's sessions but one. Returns false if there
   * is no such account.
   */
  setPassword(
    accountId: number,
    passwordHash: string | null,
    exceptSessionId: number | null,
    act: Act,
  ): Promise<boolean>;
  /** Sets up, confirms or removes the second factor. Returns false if there is no account. */
  setSecondFactor(accountId: number, factor: SecondFactor, act: Act): Promise<boolean>;
  /** Uses up a time step of the authenticator app. Returns false if it, or a later one, was. */
  useTotpStep(accountId: number, step: number): Promise<boolean>;
  /** Uses up a recovery code by its hash. Returns false if it is none of the account's. */
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
  /** Notes a use. Returns false if another use had the count, so that a copy may be in use. */
  usePasskey(id: number, signCount: number, atMs: number): Promise<boolean>;
  /** Renames a passkey of the account. Returns false if it has none with the id. */
  renamePasskey(accountId: number, id: number, name: string, act: Act): Promise<boolean>;
  /** Removes a passkey of the account. Returns false if it has none with the id. */
  removePasskey(accountId: number, id: number, act: Act): Promise<boolean>;
}
