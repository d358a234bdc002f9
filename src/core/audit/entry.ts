/**
 * Entries of the audit log. Each change by an operator or a provider leaves one entry in the commit
 * of the change; refusals, calls that change nothing, and devices leave none.
 *
 * An entry names records by id. It never holds a key, a token, the code of a link, a HWID (only its
 * SHA-256), or free text such as a note, a name or the body of a message.
 */

import type { Core } from '../core.ts';
import { type Fact, type Field, fieldsOf, type NoFormat, outsideName } from '../field.ts';
import type { Act, Actor } from '../port/audit.ts';

/** The actions with their descriptions in `gatepost explain`. */
export const ACTIONS = {
  'install.add': 'a limited link was created',
  'install.update': 'limit, note, status, policy, buttons or subscription key of a link changed',
  'install.import': 'a limited link moved in, or HWIDs or changes of one',
  'install.free': 'all HWIDs were taken off a link',
  'install.revoke':
    'a link got a new code, lost its subscription key, and all HWIDs were taken off',
  'install.remove': 'a link was removed',
  'install.tie': 'a key became that of a link, which got the HWIDs of the one that had it',
  'install.untie': 'a tie was undone: the link that had the key came back',
  'install.update-many': 'a job of the console changed links: how many, and how it ended',
  'install.remove-many': 'a job of the console removed links: how many, and how it ended',
  'hwid.delete': 'a HWID was taken off a link',
  'hwid.ignore-copies': 'the phones that send a HWID were said to be of one person',
  'hwid.name': 'HWIDs were named for a link before they came',
  'cut.ask': 'a link was to be cut off: its panel makes the credentials new; a HWID may be barred',
  'cut.cancel': 'a cut-off that waited was cancelled',
  'cut.end': 'a cut-off ended: `state` says how',
  'cut.resume': 'an upstream may change credentials again, after another field had changed too',
  'bar.lift': 'a HWID that was cut off from a link may come back',
  'domain.add': 'a domain was bound',
  'domain.activate': 'a disabled domain was bound again',
  'domain.rename': 'the name of a domain changed',
  'domain.delete': 'a domain was disabled',
  'domain.import': 'a binding moved in, or a change of one',
  'notification.send': 'a push notification was accepted',
  'command.send': 'a remote command was accepted',
  'distribution.cancel': 'a notification or command was cancelled before its time',
  'distribution.block': 'the operator blocked a notification or command',
  'provider.add': 'a provider was created',
  'provider.set':
    'plan, end, cap on links, policy, what rides, buttons or name of a provider changed',
  'provider.suspend': 'a subscription was suspended',
  'provider.resume': 'a suspension ended',
  'provider.ties': 'ties of keys by fetches were switched on or off',
  'provider.rotate-key': 'a provider got a new key',
  'provider.visit': 'an account of the appliance opened the pages of a provider in the console',
  'provider.remove': 'the removal of a provider began: its keys died',
  'account.add': 'an account was created, with its first role',
  'account.change-role': 'an account got another role at the appliance or a provider',
  'account.remove-role': 'an account lost its role at the appliance or a provider',
  'account.set-password': 'the password of an account was set or removed',
  'account.set-second-factor': 'the second factor of an account was set up, confirmed or removed',
  'account.use-recovery-code': 'a recovery code took the place of the second factor',
  'account.add-passkey': 'an account got a passkey',
  'account.rename-passkey': 'a passkey of an account got another name',
  'account.remove-passkey': 'a passkey of an account was removed',
  'account.invite': 'a link for one use was made: a first entry, or an invitation to a role',
  'session.open': 'a session of the console began',
  'session.end': 'sessions of the console were ended before their time',
  'key.add': 'a provider got a key for a part of the API',
  'key.remove': 'a key for a part of the API was removed',
  'bot.add': 'a bot that fetches for its customers is trusted by a new secret',
  'bot.remove': 'a bot is trusted no more',
  'reminder.add': 'a reminder was added',
  'reminder.resume': 'reminders go on that had stopped because many links moved at once',
  'reminder.set': 'a reminder changed: its time, texts, push or whether it is enabled',
  'reminder.remove': 'a reminder was removed',
  'reminder.confirm': 'a person looked through what keys changed of texts and addresses',
  'webhook.add': 'a webhook was added',
  'webhook.update': 'address, kinds of events or scheme of a webhook changed, or it was enabled',
  'webhook.rotate': 'a webhook got a new secret',
  'webhook.remove': 'a webhook was removed',
  'upstream.add': 'an upstream of the gate was added in the console',
  'upstream.update': 'an upstream that is kept in the database changed',
  'upstream.remove': 'an upstream that is kept in the database was removed',
  'follow.accept': 'a pass of `follow` that waited may go on, with so many users missing',
  'device.forget': 'a device was removed from everywhere',
  'database.restore': 'this database was put in place from a backup',
  'database.move': 'this database took over all data of one of the other kind',
  'database.download': 'a copy of the database was made for a download in the console',
  'clock.trust': 'clocks of machines that leapt were taken for right',
  'audit.prune': 'old entries of this log were deleted',
} as const;

export type Action = keyof typeof ACTIONS;

/** The actor of scheduled jobs. */
export const SYSTEM: Actor = { kind: 'system', name: 'gatepost', from: 'local' };

/**
 * Makes an act through `core`. It reads the actor within the write, where `core.actor` throws if
 * the caller has disconnected or was refused: the caller of an unanswered change would send it
 * again.
 */
export function actAt(core: Core, nowMs: number): Act {
  return new CoreAct(core, nowMs);
}

/** Adds the entry of a copy of the database that was made for a download. */
export const noteDownload = (core: Core, nowMs: number): Promise<void> =>
  core.store.noteDownload(actAt(core, nowMs));

/** A class, because an object with its own getter takes longer to make than its entry. */
class CoreAct implements Act {
  #actor: Actor | null = null;

  constructor(
    private readonly core: Core,
    readonly atMs: number,
  ) {}

  get entriesMax(): number {
    return this.core.limits.auditEntriesMax;
  }

  get actor(): Actor {
    this.#actor ??= this.core.actor();
    return this.#actor;
  }
}

export type Facts = Readonly<Record<string, Fact>>;
/** Old and new value by field; `changed` for free text. */
export type Changes = Readonly<Record<string, readonly [Fact, Fact] | 'changed'>>;

/** A change as an entry describes it. */
export interface Deed {
  action: Action;
  /** Code of the object's provider; entries by a provider omit it. */
  provider?: string;
  object: Facts;
  change?: Changes;
}

/** An entry in the order of its fields. */
export interface AuditEntry extends Deed {
  /** ISO 8601 in UTC, to the millisecond. */
  at: string;
  who: Actor['kind'];
  name: string;
  key?: string;
  from: string;
}

/** An entry in the form that the chain hashes. */
export interface EntryText {
  /** Compact JSON. */
  text: string;
  atMs: number;
}

let lastMs = Number.NaN;
let lastTime = '';

/** Formats a time, 0.2 us; the entries of a commit nearly share it. */
function timeOf(atMs: number): string {
  if (atMs !== lastMs) {
    lastTime = new Date(atMs).toISOString();
    lastMs = atMs;
  }
  return lastTime;
}

/** Formats the entry of a deed. */
export function entryText({ actor, atMs }: Act, deed: Deed): EntryText {
  const { kind, name, key, from } = actor;
  const { action, provider, object, change } = deed;
  const entry: { [Field in keyof Required<AuditEntry>]: AuditEntry[Field] | undefined } = {
    at: timeOf(atMs),
    who: kind,
    name,
    key,
    from,
    action,
    provider: kind === 'provider' ? undefined : provider,
    object,
    change,
  };
  // JSON omits undefined fields.
  return { text: JSON.stringify(entry), atMs };
}

/** Returns the fields that differ; null: none does. */
export function changesOf(before: Facts, after: Facts): Changes | null {
  const differing = Object.keys(after).filter((name) => before[name] !== after[name]);
  if (differing.length === 0) return null;
  return Object.fromEntries(
    differing.map((name) => [name, [before[name] ?? null, after[name] ?? null]]),
  );
}

/** Returns the fact about a field's value. */
function factOf<T>({ audit }: Pick<Field<T>, 'audit'>, value: T): Fact {
  return typeof audit === 'function' ? audit(value) : (value as Fact);
}

/** Returns the facts about a new record: no texts, and of a secret only that it is set. */
export function factsIn<Own>(table: NoFormat<Own>, own: Own): Facts {
  const facts: Record<string, Fact> = {};
  for (const field of fieldsOf(table) as (keyof Own & string)[]) {
    const row = table[field];
    const isSecret = row.audit === 'secret';
    if (row.audit === 'text' || (isSecret && own[field] === null)) continue;
    facts[outsideName(table, field)] = isSecret ? 'set' : factOf(row, own[field]);
  }
  return facts;
}

/**
 * Compares all fields of a record before and after, in the order of the table. Returns the facts
 * that differ, and `changed` for a text or secret; null: nothing differs.
 */
export function changesIn<Own>(table: NoFormat<Own>, before: Own, after: Own): Changes | null {
  const changes: Record<string, Changes[string]> = {};
  for (const field of fieldsOf(table) as (keyof Own & string)[]) {
    const row = table[field];
    const isHidden = row.audit === 'text' || row.audit === 'secret';
    const [old, now] = [factOf(row, before[field]), factOf(row, after[field])];
    if (old !== now) changes[outsideName(table, field)] = isHidden ? 'changed' : [old, now];
  }
  return Object.keys(changes).length === 0 ? null : changes;
}

/** Returns the code of the provider that an entry concerns; null: it concerns none. */
export function providerOf({ who, name, provider }: AuditEntry): string | null {
  return who === 'provider' ? name : (provider ?? null);
}

/** Returns whether an entry is about the HWID with this `hwidHash`, alone or among others. */
export const hasHwid = ({ object }: Pick<Deed, 'object'>, hash: string): boolean =>
  `${object['hwid_sha256'] ?? ''}`.split(' ').includes(hash);
