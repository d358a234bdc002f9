/**
 * The audit log: who did what to what, when, and from where. Each change by an operator or a
 * provider leaves one entry, written in the same commit as the change. Refusals, calls that change
 * nothing, and devices leave none.
 *
 * An entry names things by id. It never holds a key, a token, the code of a link, a HWID (only its
 * SHA-256), or free text such as a note, a name or the body of a message.
 *
 * The entries of one commit are a block of a chain; core/audit/chain.ts reads it.
 */

import type { Core } from '../core.ts';
import type { Act, Actor } from '../port/audit.ts';

/** Every action of an entry with its words in docs/audit.md: a new deed begins with a row here. */
export const ACTIONS = {
  'install.add': 'a limited link was created',
  'install.update': 'limit, note, status, policy or subscription key of a link changed',
  'install.import': 'a limited link moved in, or HWIDs or changes of one',
  'hwid.delete': 'a HWID was taken off a link',
  'domain.add': 'a domain was bound',
  'domain.activate': 'a disabled domain was bound again',
  'domain.rename': 'the name of a domain changed',
  'domain.delete': 'a domain was disabled',
  'domain.import': 'a binding moved in, or a change of one',
  'notification.send': 'a push notification was accepted',
  'command.send': 'a remote command was accepted',
  'distribution.cancel': 'a provider cancelled a notification or command',
  'distribution.block': 'the operator blocked a notification or command',
  'provider.add': 'a provider was created',
  'provider.set': 'plan, end, cap on links, policy or name of a provider changed',
  'provider.suspend': 'a subscription was suspended',
  'provider.resume': 'a suspension ended',
  'provider.rotate-key': 'a provider got a new key',
  'provider.remove': 'the removal of a provider began: its keys died',
  'webhook.add': 'a webhook was added',
  'webhook.update': 'address, kinds of events or scheme of a webhook changed, or it was enabled',
  'webhook.rotate': 'a webhook got a new secret',
  'webhook.remove': 'a webhook was removed',
  'device.forget': 'a device was removed from everywhere',
  'database.restore': 'this database was put in place from a backup',
  'database.move': 'this database took over all data of one of the other kind',
  'audit.prune': 'old entries of this log were deleted',
} as const;

export type Action = keyof typeof ACTIONS;

/** The program itself, by the clock. */
export const SYSTEM: Actor = { kind: 'system', name: 'gatepost', from: 'local' };

/**
 * An act through `core` at `nowMs`. The actor is asked when the change is noted, within the write:
 * what is saved after its caller hung up, or was turned away for what came behind the request,
 * would be saved although nobody hears so, and be sent again.
 */
export function actAt(core: Core, nowMs: number): Act {
  return new CoreAct(core, nowMs);
}

class CoreAct implements Act {
  #actor: Actor | null = null;

  constructor(
    private readonly core: Core,
    readonly atMs: number,
  ) {}

  get actor(): Actor {
    this.#actor ??= this.core.actor();
    return this.#actor;
  }
}

type Fact = string | number | boolean | null;
export type Facts = Readonly<Record<string, Fact>>;
/** Old and new value by field; `changed` for a text, which no entry holds. */
export type Changes = Readonly<Record<string, readonly [Fact, Fact] | 'changed'>>;

/** An action, its object and the change. */
export interface Deed {
  action: Action;
  /** Code of the object's provider; a provider's own entries need not say it. */
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

/** An entry as the chain holds and hashes it. */
export interface EntryText {
  /** Compact JSON. */
  text: string;
  atMs: number;
}

let lastMs = Number.NaN;
let lastTime = '';

/** The time of an entry: those of a commit nearly share it, and making it anew takes 0.2 us. */
function timeOf(atMs: number): string {
  if (atMs !== lastMs) {
    lastTime = new Date(atMs).toISOString();
    lastMs = atMs;
  }
  return lastTime;
}

/** The entry about a deed. */
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
  // JSON leaves out what is undefined.
  return { text: JSON.stringify(entry), atMs };
}

/** The fields of `after` that are another in `before`; null: none. */
export function changesOf(before: Facts, after: Facts): Changes | null {
  const differing = Object.keys(after).filter((name) => before[name] !== after[name]);
  if (differing.length === 0) return null;
  return Object.fromEntries(
    differing.map((name) => [name, [before[name] ?? null, after[name] ?? null]]),
  );
}

/** The provider that an entry is about, if it is about one. */
export function providerOf({ who, name, provider }: AuditEntry): string | null {
  return who === 'provider' ? name : (provider ?? null);
}
