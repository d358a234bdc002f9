/** `gatepost notify` and `gatepost command …`: messages to devices, for a provider. */

import { type Command, Option } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { EXPIRE_DAYS, PUSH_TYPE } from '../core/formats.ts';
import { isRecord } from '../core/json-input.ts';
import { noteOn } from '../core/message/command.ts';
import { fillExamples } from '../core/message/filling.ts';
import { readSegment } from '../core/message/segment.ts';
import type { Segment } from '../core/port/device-search.ts';
import { COMMAND, type DistributionType, PUSH } from '../core/port/distribution.ts';
import type { Provider } from '../core/port/provider.ts';
import type { RidingPayload } from '../core/ride/parts.ts';
import type { TargetCount } from '../core/target-count.ts';
import { confirm } from './confirm.ts';
import { type CliContext, print, withCore } from './context.ts';
import { addFigures } from './figures.ts';
import { gatewaysIn } from './gateway.ts';
import { make } from './make.ts';
import { providerOf } from './provider-name.ts';
import {
  addSendOptions,
  keysValue,
  objectIn,
  type SendOptions,
  scheduleFields,
  targetFields,
  textIn,
} from './send-options.ts';
import { previewOf } from './send-preview.ts';
import { sent } from './send-refusal.ts';
import { distributionIdValue, expireDaysValue, fileValue, showTimeOrNull } from './values.ts';
import { waysFacts, waysTable } from './ways.ts';

interface NotifyOptions extends SendOptions {
  title?: string;
  body?: string;
  bodyFile?: string;
  form?: string;
  link?: string;
  type?: string;
  expireDays?: number;
  replaces?: number;
  fill?: boolean;
}

interface CommandOptions extends SendOptions {
  value?: string;
  file?: string;
  reset?: string[];
}

/** Loaded late, for the filter of HTML. */
const orders = () => import('../core/message/order.ts');

/** The fields of a request by the API, which the core reads. */
type Body = Readonly<Record<string, unknown>>;

const EXPIRE_DAYS_USUAL = 7;

/** Makes the form of a notification from a file, with options in place of its fields. */
function formOf(options: NotifyOptions): Body {
  const { title, body, bodyFile, form: file, link, type, expireDays } = options;
  if (body !== undefined && bodyFile !== undefined) {
    throw new UsageError('give either --body or --body-file');
  }
  const given = file === undefined ? {} : objectIn(file);
  const inside = given['PushNotificationForm'];
  const form = isRecord(inside) ? inside : given;
  return {
    type_push: 'optional',
    expire_days: EXPIRE_DAYS_USUAL,
    ...form,
    ...(title !== undefined && { title }),
    ...(body !== undefined && { body }),
    ...(bodyFile !== undefined && { body: textIn(bodyFile) }),
    ...(link !== undefined && { link_for_open: link }),
    ...(type !== undefined && { type_push: type }),
    ...(expireDays !== undefined && { expire_days: expireDays }),
  };
}

async function notify(context: CliContext, options: NotifyOptions): Promise<void> {
  const form = { ...formOf(options), ...scheduleFields(context, options) };
  const { fill = false, replaces = null } = options;
  const { readNotification } = await orders();
  const rest = { replaces, ...(fill && { fill: 1 }) };
  const body = { PushNotificationForm: form, ...targetFields(options), ...rest };
  const read = (provider: Provider, nowMs: number) => sent(readNotification(body, nowMs), provider);
  if (options.preview) return printPreview(context, options, PUSH, read);
  await run(context, options, 'send.notification', body);
}

async function command(context: CliContext, options: CommandOptions, content: Body) {
  const { readCommand } = await orders();
  const body = { ...content, ...targetFields(options), ...scheduleFields(context, options) };
  const read = (provider: Provider, nowMs: number) => sent(readCommand(body, nowMs), provider);
  if (options.preview) return printPreview(context, options, COMMAND, read);
  await run(context, options, 'send.command', body, noteOn(content));
}

/** Prints the text of a message in each app. */
async function printPreview(
  context: CliContext,
  options: SendOptions,
  type: DistributionType,
  read: (provider: Provider, nowMs: number) => { payload: RidingPayload },
): Promise<void> {
  const { facts, text } = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const { payload } = read(provider, context.nowMs());
    const stored = 'action_type' in payload ? null : payload;
    const examples =
      stored && (await fillExamples(core.store, provider.id, stored, context.nowMs()));
    return previewOf(type, payload, provider, core.limits, examples ?? []);
  });
  print(context, options, facts, text);
}

/** Sends, or only checks, within the provider's subscription and plan, and prints the result. */
async function run(
  context: CliContext,
  options: SendOptions,
  call: 'send.notification' | 'send.command',
  body: Body,
  note: string | null = null,
): Promise<void> {
  const nowMs = context.nowMs();
  const kind = call === 'send.command' ? 'command' : 'push';
  const { code, id, count, dueAtMs, notes } = await withCore(
    context,
    options,
    async (core, config) => {
      const provider = await providerOf(core, options);
      const doer = { core: { ...core, gateways: () => gatewaysIn(config) }, nowMs, provider };
      const given = { body, segment: sent(readSegment(provider, body), provider) };
      if (given.segment !== null && !options.dryRun) await ask(context, options, doer, given);
      const done =
        options.dryRun === true
          ? await make('send.check', doer, { kind, ...given })
          : await make(call, doer, given);
      return { code: provider.code, ...sent(done, provider) };
    },
  );
  const isSent = options.dryRun !== true;
  const dueAt = showTimeOrNull(dueAtMs);
  const facts = {
    id: isSent ? id : null,
    provider_code: code,
    due_at: dueAt,
    recipients: count?.recipients ?? null,
    ...waysFacts(count),
    at_least: count?.isAtLeast ?? null,
  };
  const time = dueAt === null ? '' : ` for ${dueAt}`;
  const done = isSent ? `${id} accepted${time}` : `would be sent${time}`;
  const lines = [
    `${call.slice('send.'.length)} ${done}`,
    ...(count === null ? [] : [recipientsLine(count), waysTable(count)]),
  ];
  lines.push(
    isSent
      ? `'gatepost distribution show ${id}' shows the devices that received it.`
      : 'Nothing was sent.',
  );
  for (const one of [...notes, note]) if (one !== null) context.stderr(`${one}\n`);
  print(context, options, facts, lines.join('\n'));
}

/** Says how many devices the filter of subscriptions finds before they get a message, and asks. */
async function ask(
  context: CliContext,
  options: SendOptions,
  doer: { core: Core; nowMs: number; provider: Provider },
  given: { body: Body; segment: Segment | null },
): Promise<void> {
  const checked = sent(await make('send.check', doer, { kind: 'push', ...given }), doer.provider);
  const { recipients = 0, isAtLeast = false } = checked.count ?? {};
  const found = `${isAtLeast ? 'at least ' : ''}${counted(recipients, 'device')}`;
  const time = checked.dueAtMs === null ? '' : ' now; it goes to those that match at its time';
  await confirm(context, options, `Send to the ${found} that the filter finds${time}`);
}

const recipientsLine = ({ recipients, isAtLeast }: TargetCount) =>
  `Recipients: ${isAtLeast ? 'at least ' : ''}${recipients}`;

const FILE = '--file <file>';

/** Returns the text of `--value` or `--file`. */
function contentFrom({ value, file }: CommandOptions): string {
  if ((value === undefined) === (file === undefined)) {
    throw new UsageError('give either --value or --file');
  }
  return value ?? textIn(file ?? '');
}

/** Returns the settings of `--file`, and those of `--reset` with the value that resets them. */
function settingsFrom({ file, reset }: CommandOptions): Body {
  if ((file ?? reset) === undefined) throw new UsageError('give --file, --reset or both');
  const given = file === undefined ? {} : objectIn(file);
  const both = reset?.find((key) => Object.hasOwn(given, key));
  if (both !== undefined) throw new UsageError(`${both} is both in the file and after --reset`);
  return { ...given, ...Object.fromEntries((reset ?? []).map((key) => [key, ''])) };
}

export function addSendCommands(program: Command, context: CliContext): void {
  const notification = program.command('notify');
  addFigures(
    addSendOptions(
      notification.description(
        'send a notification to the devices of a provider; one by a filter of subscriptions goes to all that match when its delivery begins, a scheduled one at its time',
      ),
    ),
    'to the devices of links',
  )
    .option('--title <text>', 'the title')
    .option('--body <html>', 'the text, with the tags that the API allows')
    .option('--body-file <file>', 'the text from a file, - for stdin', fileValue)
    .option('--form <file>', 'a PushNotificationForm as JSON, such as one with locales', fileValue)
    .option('--link <url>', 'what a tap opens')
    .addOption(
      new Option('--type <type>', 'optional if omitted; force: the app must show it').choices(
        PUSH_TYPE.values,
      ),
    )
    .option(
      '--expire-days <days>',
      `days until it expires, ${EXPIRE_DAYS.minimum} to ${EXPIRE_DAYS.maximum}; ${EXPIRE_DAYS_USUAL} if omitted`,
      expireDaysValue,
    )
    .option(
      '--replaces <id>',
      'an earlier notification to the same recipients, which this one replaces without a push',
      distributionIdValue,
    )
    .option('--yes', 'do not ask whether to send to what a filter of subscriptions finds')
    .option('--fill', 'fill placeholders of the text, such as {days_left|soon}, for each device')
    .action((options: NotifyOptions) => notify(context, options));

  const group = program.command('command').description('send a command to devices of a provider');

  addSendOptions(
    group.command('update-subscription').description('reload the subscription'),
  ).action((options: SendOptions) =>
    command(context, options, { action_type: 'update-subscription' }),
  );

  addSendOptions(
    group.command('import-data').description('import a subscription; reaches unlinked HWIDs too'),
  )
    .option('--value <text>', 'the data, such as the URL of a subscription')
    .option(FILE, 'the data from a file, - for stdin', fileValue)
    .action((options: CommandOptions) =>
      command(context, options, { action_type: 'import-data', import_data: contentFrom(options) }),
    );

  addSendOptions(group.command('set-settings').description('change settings of the app'))
    .option(FILE, 'the settings as a JSON object, - for stdin', fileValue)
    .option(
      '--reset <keys>',
      "keys that get the app's own value again, separated by commas",
      keysValue,
    )
    .action((options: CommandOptions) => {
      const settings = settingsFrom(options);
      return command(context, options, { action_type: 'set-settings', settings });
    });

  addSendOptions(
    group.command('sub-change').description('change the domain or the URL of the subscription'),
  )
    .option('--value <text>', 'the new domain, or the new URL with its scheme')
    .option(FILE, 'the same from a file, - for stdin', fileValue)
    .action((options: CommandOptions) => {
      const value = contentFrom(options).trim();
      const type = value.includes('://') ? 'url' : 'domain';
      const content = { change_type: type, change_value: value };
      return command(context, options, { action_type: 'sub-change', ...content });
    });
}
