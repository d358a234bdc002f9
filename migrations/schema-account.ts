/**
 * The tables of people, their sessions and keys, and of long changes, as drizzle knows them: see
 * schema.ts.
 */

import { sql } from 'drizzle-orm';
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import type { Role } from '../src/core/port/account.ts';
import type { Job } from '../src/core/port/job.ts';
import { hash, id, provider } from './schema.ts';

/** A person who signs in to the console. */
export const account = sqliteTable(
  'account',
  {
    id: id(),
    /** Typed at the sign-in; lower case. */
    name: text().notNull().unique(),
    /** argon2id; null: the account signs in by passkeys alone. */
    password_hash: text(),
    /** The secret of the authenticator app; not in force until `totp_since_ms`. */
    totp_secret: hash(),
    totp_since_ms: integer(),
    /** The last time step of which a code was accepted: each code is good once. */
    totp_step: integer().notNull().default(0),
    /** SHA-256 of the unused recovery codes, hexadecimal, with commas. */
    recovery: text().notNull(),
    created_at_ms: integer().notNull(),
    signed_in_at_ms: integer(),
  },
  (t) => [check('account_totp', sql`${t.totp_since_ms} IS NULL OR ${t.totp_secret} IS NOT NULL`)],
);

/** What an account may do at a provider, or (null) at the appliance; one role at each. */
export const accountRole = sqliteTable(
  'account_role',
  {
    id: id(),
    account_id: integer()
      .notNull()
      .references(() => account.id, { onDelete: 'cascade' }),
    provider_id: integer().references(() => provider.id, { onDelete: 'cascade' }),
    role: text({
      enum: ['operator', 'observer', 'owner', 'sender', 'support', 'reader'],
    }).notNull(),
  },
  (t) => [
    uniqueIndex('account_role_at_provider')
      .on(t.account_id, t.provider_id)
      .where(sql`provider_id IS NOT NULL`),
    uniqueIndex('account_role_at_appliance').on(t.account_id).where(sql`provider_id IS NULL`),
    index('account_role_by_provider').on(t.provider_id),
    check(
      'account_role_place',
      sql`(${t.provider_id} IS NULL) = (${t.role} IN ('operator', 'observer'))`,
    ),
    check(
      'account_role_known',
      sql`${t.role} IN ('operator', 'observer', 'owner', 'sender', 'support', 'reader')`,
    ),
  ],
);

/** A key pair of an account in its browser, phone or security key. */
export const passkey = sqliteTable(
  'passkey',
  {
    id: id(),
    account_id: integer()
      .notNull()
      .references(() => account.id, { onDelete: 'cascade' }),
    /** base64url. */
    credential_id: text().notNull().unique(),
    /** COSE. */
    public_key: hash().notNull(),
    sign_count: integer().notNull(),
    /** `internal`, `usb` …, with commas. */
    transports: text().notNull(),
    name: text().notNull(),
    created_at_ms: integer().notNull(),
    used_at_ms: integer(),
  },
  (t) => [index('passkey_by_account').on(t.account_id)],
);

/** A browser that is signed in: as an account, or with the main key of a provider. */
export const session = sqliteTable(
  'session',
  {
    id: id(),
    /** SHA-256 of the cookie. */
    token_hash: hash().notNull().unique(),
    account_id: integer().references(() => account.id, { onDelete: 'cascade' }),
    provider_id: integer().references(() => provider.id, { onDelete: 'cascade' }),
    /** SHA-256 of the main key; with another key of the provider the session is over. */
    key_hash: hash(),
    method: text({ enum: ['key', 'link', 'passkey', 'password'] }).notNull(),
    /** The address as limits count it, and the browser's name for itself, shortened. */
    client: text().notNull(),
    agent: text().notNull(),
    created_at_ms: integer().notNull(),
    /** To the minute. */
    seen_at_ms: integer().notNull(),
    until_ms: integer().notNull(),
  },
  (t) => [
    index('session_by_account').on(t.account_id),
    index('session_by_provider').on(t.provider_id),
    index('session_by_end').on(t.until_ms),
    check('session_token', sql`length(${t.token_hash}) = 32`),
    check(
      'session_of_one',
      sql`(${t.account_id} IS NULL) = (${t.provider_id} IS NOT NULL AND ${t.key_hash} IS NOT NULL)`,
    ),
  ],
);

/** A secret that is good once and for minutes, an entry or invitation; or a used challenge. */
export const oneTime = sqliteTable(
  'one_time',
  {
    id: id(),
    /** SHA-256 of the secret. */
    secret_hash: hash().notNull().unique(),
    kind: text({ enum: ['entry', 'invitation', 'used_challenge'] }).notNull(),
    account_id: integer().references(() => account.id, { onDelete: 'cascade' }),
    /** Of an invitation: the role, and where; null: at the appliance. */
    provider_id: integer().references(() => provider.id, { onDelete: 'cascade' }),
    role: text().$type<Role>(),
    until_ms: integer().notNull(),
  },
  (t) => [
    index('one_time_by_account').on(t.account_id),
    index('one_time_by_provider').on(t.provider_id),
    index('one_time_by_end').on(t.until_ms),
    check('one_time_secret', sql`length(${t.secret_hash}) = 32`),
  ],
);

/** Signs what the console hands out to strangers without a row for it. One row. */
export const signingKey = sqliteTable(
  'signing_key',
  {
    id: integer().primaryKey(),
    /** 32 random bytes of the migration. */
    key: hash().notNull(),
  },
  (t) => [
    check('signing_key_once', sql`${t.id} = 1`),
    check('signing_key_length', sql`length(${t.key}) = 32`),
  ],
);

/** A key of a provider beside its main key, for a part of the API. */
export const providerKey = sqliteTable(
  'provider_key',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    key_hash: hash().notNull(),
    name: text().notNull(),
    scope: text({ enum: ['read', 'links', 'send', 'ties', 'cuts', 'figures'] }).notNull(),
    created_at_ms: integer().notNull(),
    /** First instant at which it is no key; null: it has no end. */
    until_ms: integer(),
    /** When it first used a right that the main key has not; null: it has not, or has none. */
    first_used_at_ms: integer(),
  },
  (t) => [
    uniqueIndex('provider_key_by_hash').on(t.provider_id, t.key_hash),
    check('provider_key_hash_length', sql`length(${t.key_hash}) = 32`),
    check(
      'provider_key_scope',
      sql`${t.scope} IN ('read', 'links', 'send', 'ties', 'cuts', 'figures')`,
    ),
  ],
);

/** A bot that fetches for its customers, trusted by its secret at one host: core/bot.ts. */
export const bot = sqliteTable(
  'bot',
  {
    id: id(),
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    host: text().notNull(),
    name: text().notNull(),
    secret_hash: hash().notNull(),
    created_at_ms: integer().notNull(),
  },
  (t) => [
    index('bot_by_provider').on(t.provider_id),
    index('bot_by_host').on(t.host),
    check('bot_secret_hash_length', sql`length(${t.secret_hash}) = 32`),
  ],
);

/** How often a bot fetched a key without a HWID, on the last day that it did. */
export const botFetch = sqliteTable(
  'bot_fetch',
  {
    bot_id: integer()
      .notNull()
      .references(() => bot.id, { onDelete: 'cascade' }),
    key_hash: hash().notNull(),
    /** The UTC day, as days since 1970. */
    day: integer().notNull(),
    fetch_count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.bot_id, t.key_hash] }), index('bot_fetch_by_day').on(t.day)],
);

/** A change that takes long, or begins later, so that it can be taken back; see core/job. */
export const job = sqliteTable(
  'job',
  {
    id: id(),
    provider_id: integer().references(() => provider.id, { onDelete: 'cascade' }),
    kind: text().$type<Job['kind']>().notNull(),
    /** Its parameters as JSON. */
    params: text().notNull(),
    /** The actor of its entry in the audit log, as JSON. */
    actor: text().notNull(),
    state: text({ enum: ['waiting', 'running', 'done', 'cancelled', 'failed'] }).notNull(),
    /** Position: the id of the last record that was dealt with; saved with the change of it. */
    after_id: integer().notNull().default(0),
    /** Records that it will look at, as counted when it was made, and those that it changed. */
    total_count: integer().notNull().default(0),
    seen_count: integer().notNull().default(0),
    changed_count: integer().notNull().default(0),
    /** Why it failed, and what it made, for those who asked for it. */
    result: text(),
    created_at_ms: integer().notNull(),
    due_at_ms: integer().notNull(),
    ended_at_ms: integer(),
    /** A worker's claim. */
    lease: text(),
    lease_until_ms: integer().notNull().default(0),
  },
  (t) => [
    index('job_by_provider').on(t.provider_id, t.id),
    index('job_by_due').on(t.due_at_ms).where(sql`state IN ('waiting', 'running')`),
    index('job_by_end').on(t.ended_at_ms).where(sql`ended_at_ms IS NOT NULL`),
    check('job_state', sql`${t.state} IN ('waiting', 'running', 'done', 'cancelled', 'failed')`),
  ],
);

/** Devices of a provider by system and app, as a job counted them on a UTC day. */
export const deviceMix = sqliteTable(
  'device_mix',
  {
    provider_id: integer()
      .notNull()
      .references(() => provider.id, { onDelete: 'cascade' }),
    /** Days since 1970. */
    day: integer().notNull(),
    os: text().notNull(),
    app: text().notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.provider_id, t.day, t.os, t.app] })],
);
