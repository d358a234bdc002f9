/**
 * The audit log: who did what to what, when, and from where. Each change by an operator or a
 * provider leaves one entry, written in the same commit as the change. What is refused, what
 * changes nothing and what devices do leave none.
 *
 * An entry names things by id. It never holds a key, a token, the code of a link, a HWID (only its
 * SHA-256), or free text such as a note, a name or the body of a message.
 *
 * The entries of one commit are a link of a chain; core/audit/chain.ts reads it.
 */

import type { Core } from '../core.ts';
import type { Act, Actor } from '../port/audit.ts';

/** What an entry can tell of, as docs/audit.md has it. A new deed begins with a row here. */
export const ACTIONS = {
  'install.add': 'a limited link was created',
  'install.update': 'limit, note or status of a link changed',
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
  'provider.set': 'plan, end, cap on links or name of a provider changed',
  'provider.suspend': 'a subscription was suspended',
  'provider.resume': 'a suspension ended',
  'provider.rotate-key': 'a provider got a new key',
  'provider.remove': 'the removal of a provider began: its keys died',
  'device.forget': 'a device was removed from everywhere',
  'database.restore': 'this database was put in place from a backup',
  'audit.prune': 'old entries of this log were deleted',
} as const;

export type Action = keyof typeof ACTIONS;

/**
 * Deeds that a provider can repeat at full speed, without anything else holding it up: adding ends
 * at a cap, and sends have a number a minute.
 */
const REPEATABLE: ReadonlySet<Action> = new Set<Action>([
  'install.update',
  'hwid.delete',
  'domain.activate',
  'domain.rename',
  'domain.delete',
]);
/** So many of those a provider's entries tell in {@link LISTED_WINDOW_MS}, each one. */
export const LISTED_MAX = 10_000;
export const LISTED_WINDOW_MS = 60 * 60_000;

/** Is a deed one of those that are told one by one only up to a number? */
export function isRepeatable({ kind }: Actor, { action }: Deed): boolean {
  return kind === 'provider' && REPEATABLE.has(action);
}

/**
 * Has the `count`th of a provider's repeatable changes in a window an entry of its own? Beyond
 * {@link LISTED_MAX} each has that doubles their number: the log is bounded, and no provider's
 * changes push out what others did. An entry says how many before it have none.
 */
export function isListed(count: number): boolean {
  const beyond = count - LISTED_MAX;
  return beyond <= 0 || (beyond & (beyond - 1)) === 0;
}

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

export type Fact = string | number | boolean | null;
export type Facts = Readonly<Record<string, Fact>>;
/** Old and new value; `changed` for what is not told. */
export type Changes = Readonly<Record<string, readonly [Fact, Fact] | 'changed'>>;

/** What was done to what. */
export interface Deed {
  action: Action;
  /** Whose thing it is; a provider's own entries need not say it. */
  provider?: string;
  object: Facts;
  change?: Changes;
}

/** An entry as it is kept, in the order of its fields. */
export interface AuditEntry extends Deed {
  /** ISO 8601 in UTC, to the millisecond. */
  at: string;
  who: Actor['kind'];
  name: string;
  key?: string;
  from: string;
}

/** The entry as compact JSON: what the chain holds and hashes. */
export function entryText(actor: Actor, atMs: number, deed: Deed): string {
  const { kind, name, key, from } = actor;
  const { action, provider, object, change } = deed;
  const entry: { [Field in keyof Required<AuditEntry>]: AuditEntry[Field] | undefined } = {
    at: new Date(atMs).toISOString(),
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
  return JSON.stringify(entry);
}

/** Those of `after`'s fields that are another in `before`; null: none. */
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
