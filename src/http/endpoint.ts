/**
 * The form of an endpoint: one record, read by the server, the documents, the compiler and the
 * coverage test: no logic in it, no inheritance, no list of middlewares. Types only; the one
 * interpreter is `interpreter.ts`.
 */

import type { Static, TProperties, TSchema } from '@sinclair/typebox';
import type { Core } from '../core/core.ts';
import type { AuthenticDevice } from '../core/device.ts';
import type { EventSenders } from '../core/outbox/carrier.ts';
import type { Refused } from '../core/outcome.ts';
import type { Maybe } from '../core/port/maybe.ts';
import type { Provider } from '../core/port/provider.ts';
import type { RowList } from './answer/list-text.ts';
import type { Alone } from './bound/alone.ts';
import type { MinuteLimiter } from './bound/limiter.ts';
import type { Polls } from './bound/polls.ts';
import type { Turns } from './bound/turns.ts';
import type { MessageKey } from './messages.ts';

/** One parameter. The order of parameters in a record is the order in which they are checked. */
export interface Param<
  S extends TSchema = TSchema,
  R extends boolean = boolean,
  K extends MessageKey = MessageKey,
> {
  schema: S;
  isRequired: R;
  /** The answer when it is missing, malformed or given twice; null: it then counts as absent. */
  misfit: K | null;
  /** The rule for `x-error-detail` and the documents: "NAME must be RULE". */
  rule: string;
  /** Its purpose, if the rule does not say so: one sentence for the documents. */
  about?: string;
  /** A value for the documents' example call, which leaves the parameter out if there is none. */
  example?: string | number;
  /** Makes the value fit to be checked and kept. */
  tidy?: (value: string) => string;
  /** The answer when it is absent like `other`, which comes before it: one of the two is needed. */
  neededWithout?: { other: string; says: K };
  /** A request header that goes before the query parameter. */
  header?: string;
  /** A request header of older apps, which counts where neither of the two is given. */
  olderHeader?: string;
  /** True if present but empty is a value of its own, not absence. */
  keepsEmpty?: boolean;
}

/** The form of a parameter's value, made of a format of the core. */
type Form<S extends TSchema> = Pick<Param<S>, 'schema' | 'rule' | 'tidy'>;

type Rest<R extends boolean, K extends MessageKey> = Omit<
  Param<TSchema, R, K>,
  'isRequired' | keyof Form<TSchema>
>;

export function required<S extends TSchema, const K extends MessageKey = never>(
  form: Form<S>,
  rest: Rest<true, K>,
): Param<S, true, K> {
  return { ...form, isRequired: true, ...rest };
}

export function optional<S extends TSchema, const K extends MessageKey = never>(
  form: Form<S>,
  rest: Rest<false, K>,
): Param<S, false, K> {
  return { ...form, isRequired: false, ...rest };
}

/** Parameter values by wire name; an absent optional one is null. */
export type Values<P extends Record<string, Param>> = {
  [N in keyof P]: P[N] extends Param<infer S, true> ? Static<S> : Static<P[N]['schema']> | null;
};

/** A handler's answer: a message by its key, one with the fields of its body, or a refusal. */
export type Answer<K extends MessageKey> = K | Reply<K> | Refused<K | 'malformed'>;

/** A message with the documented fields of its body. */
export interface Reply<K extends MessageKey> {
  says: K;
  body?: Readonly<Record<string, unknown>> | undefined;
  /** The body's `data`, instead of `body`. */
  list?: RowList | undefined;
  /** For `x-error-detail`, instead of the message's own. */
  detail?: string | undefined;
  /** The provider who sent the messages in the body. */
  sender?: number | undefined;
}

/**
 * The kind of caller: a provider with credentials (and an active subscription), an app as it has
 * always called, without any, or a device with the token of the messaging protocol.
 */
export type Audience = 'provider' | 'app' | 'device';

export type Method = 'GET' | 'POST';
/** The plan that a provider needs beside an active subscription. */
type PlanGate = 'pro' | 'enterprise';

export interface Call<P extends Record<string, Param>> {
  core: Core;
  params: Values<P>;
  /** The JSON object that a POST carried; empty for a GET. */
  body: Readonly<Record<string, unknown>>;
  nowMs: number;
  settings: WireSettings;
  limits: Limits;
  /** Sends events to webhooks. */
  eventSenders: EventSenders;
  /** The address that the caller is counted under. */
  client(): string;
  /** The bearer token, if there is one. */
  token: string | null;
  /** A signal that is aborted when the caller is gone or the server stops. */
  signal: AbortSignal;
}

interface ProviderCall<P extends Record<string, Param>> extends Call<P> {
  provider: Provider;
}

interface DeviceCall<P extends Record<string, Param>> extends Call<P> {
  device: AuthenticDevice;
}

/** Bounds of how often a caller may do something. */
export interface Limits {
  registrations: MinuteLimiter;
  /** By provider: each is a call to somebody outside. */
  webhookTests: MinuteLimiter;
  /** By provider: each may go through all events that are kept. */
  webhookReplays: { perMinute: MinuteLimiter; alone: Alone };
  polls: Polls;
  turns: Turns;
}

/** The operator's decisions about the wire. */
export interface WireSettings {
  /** The zone of the times in answers: minutes east of UTC. */
  readonly outputOffsetMinutes: number;
}

interface Described<P, K extends MessageKey> {
  method: Method;
  path: `/${string}`;
  /** The path of the same call in older documents. */
  olderPath?: `/${string}`;
  summary: string;
  /** Its effect, for the documents: plain paragraphs with `code`. */
  description: string;
  params: P;
  /** The JSON object that a POST carries, as clients had better send it; the core reads it. */
  input?: TSchema;
  /** The longest body, bytes, if it must be shorter than others. */
  bodyBytesMax?: number;
  /**
   * The limit by which a call is refused before its body is read, while the minute of its caller
   * is used up and no token of a device comes along.
   */
  limitedBy?: 'registrations';
  /** True if a device's token may come along although the call is open to everybody. */
  takesToken?: true;
  plan?: PlanGate;
  /** The time that an answer may take beyond the server's idle time, s: for a long poll. */
  patienceSeconds?: number;
  /** The answers that `handle` and misfit parameters may give, beside those of its access. */
  says: readonly K[];
  /** The fields that the body of an answer has beside `rc` and `msg`. */
  fields?: { readonly [A in NoInfer<K>]?: TProperties };
  /** The details of messages whose own details name other fields. */
  details?: { readonly [A in NoInfer<K>]?: string };
  /** Headers of every answer. */
  headers?: Readonly<Record<string, string>>;
}

type Params<K extends MessageKey> = Record<string, Param<TSchema, boolean, K>>;

/** Any record of the table. */
export interface Endpoint extends Described<Record<string, Param>, MessageKey> {
  audience: Audience;
  handle(call: never): Maybe<Answer<MessageKey>>;
}

/** A record for providers: credentials and an active subscription are checked before `handle`. */
export function providerEndpoint<const K extends MessageKey, P extends Params<NoInfer<K>>>(
  record: Described<P, K> & {
    handle(call: ProviderCall<P>): Maybe<Answer<NoInfer<K>>>;
  },
): Endpoint {
  return { audience: 'provider', ...record };
}

/** A record for apps, which have no credentials; names of parameters may come in any case. */
export function appEndpoint<const K extends MessageKey, P extends Params<NoInfer<K>>>(
  record: Described<P, K> & { handle(call: Call<P>): Maybe<Answer<NoInfer<K>>> },
): Endpoint {
  return { audience: 'app', ...record };
}

/** A record for registered devices: the token is checked before `handle`. */
export function deviceEndpoint<const K extends MessageKey, P extends Params<NoInfer<K>>>(
  record: Described<P, K> & { handle(call: DeviceCall<P>): Maybe<Answer<NoInfer<K>>> },
): Endpoint {
  return { audience: 'device', ...record };
}

/** Every answer that an endpoint can give: its own, those of its access, and the fault. */
export function answersOf({ audience, plan, says }: Endpoint): MessageKey[] {
  const ofAccess: MessageKey[] = [];
  if (audience === 'provider') ofAccess.push('auth_error', 'subscription_required');
  if (audience === 'device') ofAccess.push('device_token_error');
  if (plan) ofAccess.push(plan === 'pro' ? 'pro_required' : 'enterprise_required');
  return [...new Set<MessageKey>([...ofAccess, ...says, 'unknown_error'])];
}

/**
 * Tells whether a call is of no use without the parameter. The calls of apps take anything and
 * refuse later; there the ids are as good as required.
 */
export function isNeeded(
  { audience }: Endpoint,
  { header, isRequired, misfit, olderHeader }: Param,
): boolean {
  const isOnlyInQuery = (header ?? olderHeader) === undefined;
  return isRequired || (audience === 'app' && misfit !== null && isOnlyInQuery);
}

/** The paths of an endpoint: the one that it goes by, and that of older documents. */
export function pathsOf({ path, olderPath }: Endpoint): string[] {
  return olderPath === undefined ? [path] : [path, olderPath];
}
