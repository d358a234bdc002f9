/**
 * Manages the webhooks of providers and of the operator. Signing secrets are made here and returned
 * once; the token of a Telegram bot comes from the owner and is never shown.
 */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { only, usualOf } from './field.ts';
import { TELEGRAM_CHAT } from './formats.ts';
import { readOperatorUrl, readPublicUrl } from './outbox/address.ts';
import type { AttemptVerdict, EventSenders } from './outbox/carrier.ts';
import { fromStore, isRefused, type Misfit, malformed, Refused, saving } from './outcome.ts';
import { TEST_EVENT } from './port/event.ts';
import {
  type ChatTarget,
  DISABLED_BY_OWNER,
  type OwnWebhook,
  type UrlTarget,
  type Webhook,
  type WebhookChange,
  type WebhookTarget,
} from './port/webhook.ts';
import { nextTurn } from './turn.ts';
import {
  CHAT_FIELDS,
  OWN_NAMES,
  type OwnChat,
  readSettings,
  USUAL_WEBHOOK,
  type WebhookSettings,
} from './webhook-fields.ts';
import { refusedSwitch } from './webhook-figures.ts';
import { newWebhookSecret } from './webhook-key.ts';

/** The provider's id; null: the operator. */
export type OwnerId = number | null;

/** A new webhook; absent fields have their usual values. */
interface WebhookDraft extends Partial<OwnWebhook> {
  target: UrlTarget | (Pick<ChatTarget, 'kind' | 'chat'> & Partial<OwnChat>);
  /** The token of the bot; null: the target is a URL. */
  token: string | null;
}

/** The fields of a new target and the token of its bot; null: not given. */
interface GivenTarget<Token> {
  url: string | null;
  signature: UrlTarget['scheme'] | null;
  chat: string | null;
  token: Token | null;
  locale: OwnChat['locale'] | null;
  shows: OwnChat['shows'] | null;
}

/** Why fields are no target: the first that is missing, or that is of the other kind. */
export type TargetFault =
  | 'url_or_chat'
  | 'token_missing'
  | 'signature_of_chat'
  | 'token_of_url'
  | 'locale_of_url'
  | 'shows_of_url';

/** Makes the target of a URL or of a chat: exactly one of them must be given. */
export function targetOf<Token>({
  url,
  signature,
  chat,
  token,
  locale,
  shows,
}: GivenTarget<Token>): WebhookTarget | TargetFault {
  if (url !== null && chat === null) {
    if (token !== null) return 'token_of_url';
    if (locale !== null) return 'locale_of_url';
    return shows === null ? { kind: 'webhook', url, scheme: signature ?? 'v1' } : 'shows_of_url';
  }
  if (url !== null || chat === null) return 'url_or_chat';
  if (token === null) return 'token_missing';
  if (signature !== null) return 'signature_of_chat';
  return { kind: 'telegram', chat, locale: locale ?? 'en', shows: shows ?? [] };
}

/** The changes that an owner may make; absent fields stay. */
export interface WebhookEdit extends Partial<WebhookSettings> {
  url?: string;
  chat?: string;
  isEnabled?: boolean;
}

/**
 * Adds a webhook. Returns its id and its secret. Refuses `malformed` for a malformed field, URL,
 * chat or token, `webhook_limit_reached` and `webhook_save_error`.
 */
export async function addWebhook(
  core: Core,
  ownerId: OwnerId,
  draft: WebhookDraft,
  nowMs: number,
): Promise<
  { id: number; secret: string } | Misfit | Refused<'webhook_limit_reached' | 'webhook_save_error'>
> {
  const { target: wanted, token, ...given } = draft;
  const read = readSettings(ownerId, { ...given, ...wanted });
  if (isRefused(read)) return read;
  const own = { ...USUAL_WEBHOOK, ...only(read, OWN_NAMES) };
  const target = readTarget(
    core,
    ownerId,
    wanted.kind === 'webhook' ? wanted : { ...usualOf<OwnChat>(CHAT_FIELDS), ...wanted },
  );
  if (isRefused(target)) return target;
  const secret = target.kind === 'webhook' ? newWebhookSecret(target.scheme) : readToken(token);
  if (isRefused(secret)) return secret;
  const act = actAt(core, nowMs);
  const wish = { ...own, providerId: ownerId, target, secret, createdAtMs: nowMs };
  const refused = refusedSwitch(null, wish, act.actor);
  if (refused !== null) return refused;
  const added = core.store.addWebhook(wish, core.limits.webhooksPerOwnerMax, act);
  const saved = fromStore(await saving('webhook_save_error', added));
  return isRefused(saved) ? saved : { id: saved.id, secret };
}

/** Finds a webhook of an owner, or of any (undefined). Refuses `webhook_not_found`. */
export async function findWebhook(
  core: Core,
  id: number,
  ownerId?: OwnerId,
): Promise<Webhook | Refused<'webhook_not_found'>> {
  return (await core.store.findWebhook(id, ownerId)) ?? new Refused('webhook_not_found');
}

/**
 * Changes a webhook. Refuses as {@link addWebhook} does, also fields of the other kind of target.
 */
export async function editWebhook(
  core: Core,
  webhook: Webhook,
  { url, chat, isEnabled, ...settings }: WebhookEdit,
  nowMs: number,
): Promise<Webhook | Misfit | Refused<'webhook_not_found' | 'webhook_save_error'>> {
  const read = readSettings(webhook.providerId, settings);
  if (isRefused(read)) return read;
  const { locale, shows, ...own } = read;
  const old = webhook.target;
  if (old.kind === 'webhook' && (chat ?? locale ?? shows) !== undefined) {
    return malformed('chat, locale and with are of Telegram: this webhook has a URL');
  }
  if (old.kind === 'telegram' && url !== undefined) {
    return malformed('url is of webhooks: this one is a chat of Telegram');
  }
  const target = readTarget(
    core,
    webhook.providerId,
    old.kind === 'webhook'
      ? { ...old, url: url ?? old.url }
      : {
          ...old,
          chat: chat ?? old.chat,
          locale: locale ?? old.locale,
          ...(shows !== undefined && { shows }),
        },
  );
  if (isRefused(target)) return target;
  const isAsBefore = isEnabled === undefined || isEnabled === (webhook.disabled === null);
  const change: WebhookChange = {
    ...own,
    target,
    ...(!isAsBefore && { disabled: isEnabled ? null : { atMs: nowMs, why: DISABLED_BY_OWNER } }),
  };
  const { actor } = actAt(core, nowMs);
  const refused = refusedSwitch(webhook, { ...webhook, ...own }, actor);
  if (refused !== null) return refused;
  const edited = await save(core, webhook, change, nowMs);
  if (!isRefused(edited) && change.events !== undefined) await dropUnwanted(core, edited);
  return edited;
}

/** Deletes events of other kinds from the queue of a webhook. */
async function dropUnwanted(core: Core, { id, events }: Webhook): Promise<void> {
  if (events.length === 0) return;
  for (let after = 0; ; await nextTurn()) {
    const next = await core.store.dropUnwanted(id, events, after);
    if (next === null) return;
    after = next;
  }
}

/** Saves the new id of a chat, unless the webhook has another chat meanwhile; its topic stays. */
export async function moveChat(
  core: Core,
  { id, providerId, target: before }: Webhook,
  newId: string,
  nowMs: number,
): Promise<void> {
  const target = (await core.store.findWebhook(id))?.target;
  if (target?.kind !== 'telegram' || before.kind !== 'telegram') return;
  const chat = before.chat.replace(/^[^/]+/, newId);
  if (target.chat !== before.chat || isRefused(TELEGRAM_CHAT.read(chat))) return;
  const change = { target: { ...target, chat } };
  await core.store.updateWebhook(id, providerId, change, actAt(core, nowMs));
}

/**
 * Gives a webhook a new secret, or the token of another bot, and returns it. The old secret signs
 * too for `keepOldMs`. Refuses `malformed`, `webhook_not_found` and `webhook_save_error`.
 */
export async function rotateWebhook(
  core: Core,
  webhook: Webhook,
  { token, keepOldMs }: { token: string | null; keepOldMs: number },
  nowMs: number,
): Promise<{ secret: string } | Misfit | Refused<'webhook_not_found' | 'webhook_save_error'>> {
  const { target } = webhook;
  if (target.kind === 'webhook' && token !== null) {
    return malformed('the secret of a webhook is made here: a token is of Telegram');
  }
  const secret = target.kind === 'webhook' ? newWebhookSecret(target.scheme) : readToken(token);
  if (isRefused(secret)) return secret;
  const isKept = target.kind === 'webhook' && keepOldMs > 0;
  const rotation = { secret, previousUntilMs: isKept ? nowMs + keepOldMs : null };
  const saved = await save(core, webhook, { rotation }, nowMs);
  return isRefused(saved) ? saved : { secret };
}

async function save(core: Core, { id, providerId }: Webhook, change: WebhookChange, nowMs: number) {
  const step = core.store.updateWebhook(id, providerId, change, actAt(core, nowMs));
  return fromStore(await saving('webhook_save_error', step));
}

/** Removes a webhook with its queue. Refuses `webhook_not_found` and `webhook_save_error`. */
export async function removeWebhook(
  core: Core,
  { id, providerId }: Pick<Webhook, 'id' | 'providerId'>,
  nowMs: number,
): Promise<'ok' | Refused<'webhook_not_found' | 'webhook_save_error'>> {
  const step = core.store.removeWebhook(id, providerId, actAt(core, nowMs));
  return fromStore(await saving('webhook_save_error', step));
}

/**
 * Sends a test event to a webhook, also to a disabled one. Saves nothing and counts no attempt. If
 * it is accepted, the events that wait become due, unless the database cannot save that.
 */
export async function tryWebhook(
  core: Core,
  eventSenders: EventSenders,
  webhook: Webhook,
  nowMs: number,
  signal: AbortSignal,
): Promise<AttemptVerdict> {
  const { id, providerId, target } = webhook;
  const data = { webhook_id: id };
  const event = { id: 0, providerId, kind: TEST_EVENT, atMs: nowMs, data } as const;
  const verdict = await eventSenders[target.kind].deliver(webhook, event, nowMs, signal);
  if (verdict.verdict === 'accepted') {
    await saving('webhook_save_error', core.store.resumeWebhook(id));
  }
  return verdict;
}

/**
 * Queues saved events again with their ids: one, or all since a time. Returns their number;
 * `isFull`: it stopped because the queue is full.
 */
export async function replayEvents(
  core: Core,
  webhook: Webhook,
  which: { eventId: number } | { sinceMs: number },
  nowMs: number,
): Promise<{ count: number; isFull: boolean }> {
  if ('eventId' in which) return core.store.replayEvents(webhook, which, nowMs);
  let count = 0;
  for (let afterEventId = 0; ; await nextTurn()) {
    const step = await core.store.replayEvents(webhook, { ...which, afterEventId }, nowMs);
    count += step.count;
    if (step.next === null) return { count, isFull: step.isFull };
    afterEventId = step.next;
  }
}

function readTarget(core: Core, ownerId: OwnerId, target: WebhookTarget): WebhookTarget | Misfit {
  if (target.kind === 'telegram') {
    const chat = TELEGRAM_CHAT.read(target.chat);
    return isRefused(chat) ? malformed(`chat ${chat.detail}`) : target;
  }
  const read =
    ownerId === null ? readOperatorUrl(target.url) : readPublicUrl(target.url, core.limits);
  if (isRefused(read)) return malformed(`url ${read.detail}`);
  // Receivers never get the fragment: URLs that differ only there are the same.
  if (read.hash !== '') return malformed('url has a fragment');
  return { ...target, url: read.href };
}

/** The number of the bot and 35 random characters; a range, as Telegram may change that. */
const TELEGRAM_TOKEN = /^\d{5,20}:[A-Za-z0-9_-]{30,100}$/;

function readToken(token: string | null): string | Misfit {
  if (token !== null && TELEGRAM_TOKEN.test(token)) return token;
  return malformed('the token must be that of a Telegram bot, such as 123456789:AA...');
}
