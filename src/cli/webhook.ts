/** `gatepost webhook …`: the webhooks and Telegram chats that receive events. */

import { type Command, Option } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import { secretIn } from '../base/permissions.ts';
import type { Core } from '../core/core.ts';
import { onlyGiven } from '../core/field.ts';
import { SIGNATURE_SCHEMES, type Webhook } from '../core/port/webhook.ts';
import { findWebhook, type OwnerId, type TargetFault, targetOf } from '../core/webhook.ts';
import {
  OPERATOR_SETTINGS,
  readSettings,
  WEBHOOK_SETTINGS,
  type WebhookSettings,
} from '../core/webhook-fields.ts';
import { type freshSecret, shownUrl, webhookRecord } from '../core/webhook-view.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { make } from './make.ts';
import { listOwned, OF_PROVIDER, type Owned, ownerName } from './provider-name.ts';
import { granted, refusal } from './refusal.ts';
import { sheet } from './table.ts';
import { addTerms, givenTerms } from './term-options.ts';
import {
  calledUrlValue,
  durationValue,
  fileValue,
  providerCodeValue,
  showTime,
  telegramChatValue,
  webhookIdValue,
} from './values.ts';
import { addDeliveryCommands } from './webhook-deliveries.ts';
import { addTryCommand } from './webhook-try.ts';

interface OwnerOptions extends CommonOptions {
  provider?: string;
}

interface AddOptions extends OwnerOptions {
  url?: string;
  telegram?: string;
  tokenFile?: string;
  signature?: (typeof SIGNATURE_SCHEMES)[number];
}

interface SetOptions extends CommonOptions {
  url?: string;
  telegram?: string;
  enable?: boolean;
  disable?: boolean;
}

interface RotateOptions extends CommonOptions {
  keepOld: number;
  tokenFile?: string;
}

/** Returns the owner by its code; null, the operator, without one. Throws `provider_not_found`. */
async function ownerOf({ store }: Core, code: string | undefined): Promise<OwnerId> {
  if (code === undefined) return null;
  const provider = await store.findProvider(code);
  if (provider === null) throw refusal('provider_not_found', code);
  return provider.id;
}

/** The context of a call about a webhook. */
const doerAt = (context: CliContext, core: Core, { providerId }: Webhook) => ({
  core,
  nowMs: context.nowMs(),
  provider: { id: providerId },
});

const givenSettings = (options: object) => givenTerms<WebhookSettings>(WEBHOOK_SETTINGS, options);

function draftOf(options: AddOptions) {
  const { url = null, telegram: chat = null, tokenFile = null, signature = null } = options;
  const owner = options.provider === undefined ? null : 0;
  const {
    locale = null,
    shows = null,
    ...own
  } = granted(readSettings(owner, givenSettings(options)), '');
  const target = targetOf({ url, signature, chat, token: tokenFile, locale, shows });
  if (typeof target === 'string') throw new UsageError(TARGET_FAULTS[target]);
  return { target, token: tokenFile === null ? null : secretIn(tokenFile).trim(), ...own };
}

const TARGET_FAULTS: Readonly<Record<TargetFault, string>> = {
  url_or_chat: 'give either --url or --telegram',
  token_missing: '--telegram needs --token-file',
  signature_of_chat: '--signature goes with --url',
  token_of_url: '--token-file goes with --telegram',
  locale_of_url: '--locale goes with --telegram',
  shows_of_url: '--with goes with --telegram',
};

const SHOWN_ONCE = 'The secret is shown only once. The receiver needs it to verify events.';
const PUBLIC_KEY = 'The receiver needs the public key to verify events.';

/** Prints a new secret or public key, once. */
function printSecret(
  context: CliContext,
  options: CommonOptions,
  id: number,
  { secret, publicKey }: ReturnType<typeof freshSecret>,
): void {
  const lines = [`'gatepost webhook test ${id}' tests it.`];
  if (publicKey !== null) lines.unshift(sheet({ id, public_key: publicKey }), PUBLIC_KEY);
  else if (secret !== null) lines.unshift(sheet({ id, secret }), SHOWN_ONCE);
  else lines.unshift(sheet({ id }));
  print(context, options, { id, secret, public_key: publicKey }, lines.join('\n'));
}

async function add(context: CliContext, options: AddOptions): Promise<void> {
  const nowMs = context.nowMs();
  const draft = draftOf(options);
  const added = await withCore(context, options, async (core) => {
    const owner = await ownerOf(core, options.provider);
    const doer = { core, nowMs, provider: { id: owner } };
    const outcome = await make('webhooks.add', doer, draft);
    const whose = options.provider === undefined ? 'the operator' : `provider ${options.provider}`;
    return granted(outcome, whose);
  });
  printSecret(context, options, added.id, added);
}

function view(webhook: Owned<Webhook>, nowMs: number) {
  const { id, ...shown } = webhookRecord(webhook, nowMs, showTime);
  return { id, provider_code: webhook.providerCode, ...shown };
}

async function list(context: CliContext, options: OwnerOptions): Promise<void> {
  const webhooks = await withCore(context, options, (core) => {
    const read = (owner: OwnerId) => core.store.listWebhooks(owner);
    return listOwned(core, options, read, () => read(null));
  });
  const nowMs = context.nowMs();
  const rows = webhooks.map((webhook) => view(webhook, nowMs));
  printTable(context, options, rows, {
    ID: 'id',
    OWNER: ownerName,
    KIND: 'kind',
    TO: ({ url, chat, locale: language, with: facts }) =>
      url ?? `chat ${chat} (${[language, ...facts].join(', ')})`,
    EVENTS: ({ events }) => (events.length === 0 ? 'all' : events.join(',')),
    STATE: stateOf,
  });
}

function stateOf({ disabled_why: why, old_secret_until: until }: ReturnType<typeof view>): string {
  const overlap = until === null ? '' : `, the old secret signs until ${until}`;
  return (why === null ? 'enabled' : `disabled: ${why}`) + overlap;
}

async function set(context: CliContext, id: number, options: SetOptions): Promise<void> {
  const { url, telegram: chat, enable, disable } = options;
  const given = givenSettings(options);
  const other = onlyGiven<{ url?: string; chat?: string; isEnabled?: boolean }>({
    url,
    chat,
    isEnabled: enable || disable ? enable === true : undefined,
  });
  if (Object.keys({ ...given, ...other }).length === 0) {
    throw new UsageError('nothing to change: give --url, --events, --enable or another option');
  }
  await withCore(context, options, async (core) => {
    const webhook = granted(await findWebhook(core, id), id);
    const settings = granted(readSettings(webhook.providerId, given), id);
    const edit = { id, ...other, ...settings };
    const change = await make('webhooks.edit', doerAt(context, core, webhook), edit);
    return granted(change, id);
  });
  print(context, options, { id, done: 'changed' }, `webhook ${id} changed`);
}

async function rotate(context: CliContext, id: number, options: RotateOptions): Promise<void> {
  const { tokenFile, keepOld: keepOldMs } = options;
  const wanted = {
    id,
    token: tokenFile === undefined ? null : secretIn(tokenFile).trim(),
    keepOldMs,
  };
  const { webhook, secret } = await withCore(context, options, async (core) => {
    const found = granted(await findWebhook(core, id), id);
    const rotated = await make('webhooks.rotate', doerAt(context, core, found), wanted);
    return { webhook: found, secret: granted(rotated, id) };
  });
  printSecret(context, options, id, secret);
  // With --json, programs read the rest.
  if (webhook.target.kind === 'webhook' && keepOldMs > 0 && !options.json) {
    const until = showTime(context.nowMs() + keepOldMs);
    context.stderr(`the old secret also signs until ${until}: change the receiver before\n`);
  }
}

async function remove(context: CliContext, id: number, options: ConfirmOptions): Promise<void> {
  await withCore(context, options, async (core) => {
    const webhook = granted(await findWebhook(core, id), id);
    const { target } = webhook;
    const to = target.kind === 'webhook' ? shownUrl(target.url) : `chat ${target.chat}`;
    await confirm(context, options, `Remove webhook ${id} to ${to} with its pending events`);
    return granted(await make('webhooks.remove', doerAt(context, core, webhook), { id }), id);
  });
  print(context, options, { id, done: 'removed' }, `webhook ${id} removed`);
}

const TOKEN_FILE = [
  '--token-file <file>',
  'the token of the Telegram bot from a file, - for stdin',
  fileValue,
] as const;
export function addWebhookCommands(program: Command, context: CliContext): void {
  const webhook = program.command('webhook').description('send events to bots and Telegram chats');

  addTerms(webhook.command('add'), WEBHOOK_SETTINGS, { isNew: true, other: OPERATOR_SETTINGS })
    .description('add a webhook or a Telegram chat, of the operator or of a provider')
    .option('--url <url>', 'the receiver, by the Standard Webhooks specification', calledUrlValue)
    .option(
      '--telegram <chat>',
      'the number of a chat, or @ and its public name',
      telegramChatValue,
    )
    .option(...TOKEN_FILE)
    .option('--provider <code>', 'the owner; the operator if omitted', providerCodeValue)
    .addOption(
      new Option('--signature <scheme>', 'v1 is HMAC-SHA256, the default; v1a is Ed25519').choices(
        SIGNATURE_SCHEMES,
      ),
    )
    .action((options: AddOptions) => add(context, options));

  webhook
    .command('list')
    .description('list the webhooks of the operator and of all providers, or of one provider')
    .option(...OF_PROVIDER)
    .action((options: OwnerOptions) => list(context, options));

  addTerms(webhook.command('set'), WEBHOOK_SETTINGS, { other: OPERATOR_SETTINGS })
    .description('change, disable or enable a webhook')
    .argument('<id>', '', webhookIdValue)
    .option('--url <url>', 'another URL', calledUrlValue)
    .option('--telegram <chat>', 'another chat of the same bot', telegramChatValue)
    .option('--enable', 'enable it and retry pending events at once')
    .addOption(new Option('--disable', 'send and store no events').conflicts('enable'))
    .action((id: number, options: SetOptions) => set(context, id, options));

  webhook
    .command('rotate')
    .description('create a new secret, or set the token of another bot')
    .argument('<id>', '', webhookIdValue)
    .addOption(
      new Option('--keep-old <time>', 'how long the old secret of a URL also signs; 0s: not at all')
        .argParser(durationValue)
        .default(86_400_000, '24h'),
    )
    .option(...TOKEN_FILE)
    .action((id: number, options: RotateOptions) => rotate(context, id, options));

  addTryCommand(webhook, context);
  addDeliveryCommands(webhook, context);

  webhook
    .command('remove')
    .description('delete a webhook with its pending events')
    .argument('<id>', '', webhookIdValue)
    .option('--yes', 'do not ask for confirmation')
    .action((id: number, options: ConfirmOptions) => remove(context, id, options));
}
