/** `gatepost provider …`: the operator's customers. */

import type { Command } from 'commander';
import { actAt } from '../core/audit/entry.ts';
import { fromStore } from '../core/outcome.ts';
import type { Holdings } from '../core/port/count.ts';
import type { Plan, Provider, ProviderChange } from '../core/port/provider.ts';
import {
  addProvider,
  type Credentials,
  isActive,
  removeProvider,
  rotateKey,
} from '../core/provider.ts';
import { UsageError } from '../operator-error.ts';
import { confirm, counted } from './confirm.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { KEY_FILE_ABOUT, KEY_FILE_FLAG, type KeyOptions, readKey } from './key.ts';
import { planNote } from './plan.ts';
import { granted, refusal } from './refusal.ts';
import { sheet, table } from './table.ts';
import {
  authKeyValue,
  durationValue,
  expiresValue,
  fileValue,
  maxLinksValue,
  nameValue,
  planValue,
  providerCodeValue,
  showExpires,
  showTime,
} from './values.ts';

interface AddOptions extends CommonOptions, KeyOptions {
  name: string;
  plan: Plan;
  expires: number | 'never';
  maxLinks: number | 'default';
  code?: string;
}

interface SetOptions extends CommonOptions {
  name?: string;
  plan?: Plan;
  expires?: number | 'never';
  maxLinks?: number | 'default';
}

interface RotateOptions extends CommonOptions, KeyOptions {
  keepOld: number;
}

interface RemoveOptions extends CommonOptions {
  yes?: boolean;
}

const KEY_NOTE = 'The key is shown this once: only its SHA-256 is stored.';

/** What may be shown of a provider: everything but its keys. */
function view(provider: Provider, nowMs: number) {
  return {
    provider_code: provider.code,
    name: provider.name,
    plan: provider.plan,
    active: isActive(provider, nowMs),
    suspended: provider.suspendedAtMs !== null,
    expires: showExpires(provider.activeUntilMs),
    links: provider.installCount,
    max_links: provider.installCountMax,
    created_at: showTime(provider.createdAtMs),
    old_key_until:
      provider.previousKeyUntilMs !== null && provider.previousKeyUntilMs > nowMs
        ? showTime(provider.previousKeyUntilMs)
        : null,
  };
}

function state(provider: Provider, nowMs: number): string {
  if (provider.suspendedAtMs !== null) return 'suspended';
  return isActive(provider, nowMs) ? 'active' : 'expired';
}

function printCredentials(
  context: CliContext,
  options: CommonOptions,
  { code, authKey }: Credentials,
  more: readonly string[] = [],
): void {
  const text = sheet([
    ['provider_code', code],
    ['auth_key', authKey],
  ]);
  const json = { provider_code: code, auth_key: authKey };
  print(context, options, json, [text, KEY_NOTE, ...more].join('\n'));
}

/** A number, or null for the word that stands for none. */
function orNull(value: number | 'never' | 'default'): number | null {
  return typeof value === 'number' ? value : null;
}

async function add(context: CliContext, options: AddOptions): Promise<void> {
  const draft = {
    name: options.name,
    plan: options.plan,
    activeUntilMs: orNull(options.expires),
    installCountMax: orNull(options.maxLinks),
    code: options.code,
    authKey: readKey(context, options),
  };
  const nowMs = context.nowMs();
  const added = await withCore(context, options, (core) => addProvider(core, draft, nowMs), true);
  printCredentials(context, options, granted(added, options.code ?? ''), [
    `Plan ${planNote(draft.plan)}.`,
  ]);
}

async function list(context: CliContext, options: CommonOptions): Promise<void> {
  const providers = await withCore(context, options, (core) => core.store.listProviders());
  const nowMs = context.nowMs();
  const rows = providers.map((provider) => [
    provider.code,
    provider.name,
    provider.plan,
    state(provider, nowMs),
    showExpires(provider.activeUntilMs),
    provider.installCount,
  ]);
  print(
    context,
    options,
    providers.map((provider) => view(provider, nowMs)),
    table(['CODE', 'NAME', 'PLAN', 'STATE', 'EXPIRES', 'LINKS'], rows),
  );
}

async function show(context: CliContext, code: string, options: CommonOptions): Promise<void> {
  const provider = await withCore(context, options, async (core) => core.store.findProvider(code));
  if (provider === null) throw refusal('provider_not_found', code);
  const nowMs = context.nowMs();
  const facts = view(provider, nowMs);
  const text = sheet([
    ['provider_code', facts.provider_code],
    ['name', facts.name],
    ['plan', planNote(facts.plan)],
    ['state', state(provider, nowMs)],
    ['expires', facts.expires],
    ['links', facts.links],
    ['max_links', facts.max_links ?? 'default'],
    ['created_at', facts.created_at],
    ['old_key_until', facts.old_key_until ?? 'no old key'],
  ]);
  print(context, options, facts, text);
}

async function change(
  context: CliContext,
  code: string,
  options: CommonOptions,
  wanted: ProviderChange,
  done: string,
  note = '',
): Promise<void> {
  const changed = await withCore(context, options, (core) =>
    core.store.updateProvider(code, wanted, actAt(core, context.nowMs())),
  );
  granted(fromStore(changed), code);
  print(context, options, { provider_code: code, done }, `${code} ${done}\n${note}`);
}

async function set(context: CliContext, code: string, options: SetOptions): Promise<void> {
  const { name, plan, expires, maxLinks } = options;
  const wanted: ProviderChange = {
    ...(name !== undefined && { name }),
    ...(plan !== undefined && { plan }),
    ...(expires !== undefined && { activeUntilMs: orNull(expires) }),
    ...(maxLinks !== undefined && { installCountMax: orNull(maxLinks) }),
  };
  if (Object.keys(wanted).length === 0) {
    throw new UsageError('nothing to set: give --name, --plan, --expires or --max-links');
  }
  const note = plan === undefined ? '' : `Plan ${planNote(plan)}.`;
  await change(context, code, options, wanted, 'changed', note);
}

async function rotate(context: CliContext, code: string, options: RotateOptions): Promise<void> {
  const key = readKey(context, options);
  const rotated = await withCore(context, options, (core) =>
    rotateKey(core, code, options.keepOld, context.nowMs(), key),
  );
  printCredentials(context, options, granted(rotated, code));
}

async function remove(context: CliContext, code: string, options: RemoveOptions): Promise<void> {
  const removed = await withCore(context, options, async (core) => {
    const provider = await core.store.findProvider(code);
    const held = await core.store.countHoldings(code);
    if (provider === null || held === null) throw refusal('provider_not_found', code);
    await confirm(context, options, deedOf(provider, held));
    return removeProvider(core, code, context.nowMs());
  });
  granted(removed, code);
  print(context, options, { provider_code: code, done: 'removed' }, `${code} removed`);
}

function deedOf({ code, name }: Provider, held: Holdings): string {
  const parts = [
    counted(held.links, 'link'),
    counted(held.hwids, 'HWID'),
    counted(held.domains, 'domain'),
    counted(held.distributions, 'distribution'),
  ];
  return `Remove ${code} (${name}) with ${parts.join(', ')}`;
}

export function addProviderCommands(program: Command, context: CliContext): void {
  const provider = program
    .command('provider')
    .description('manage providers and their credentials');

  provider
    .command('add')
    .description('create a provider and print its credentials, the key for the only time')
    .requiredOption('--name <name>', 'what you call the provider', nameValue)
    .option('--plan <plan>', 'basic, pro or enterprise', planValue, 'basic')
    .option(
      '--expires <date>',
      'last day of the subscription in UTC+3, or never',
      expiresValue,
      'never',
    )
    .option('--code <code>', 'a provider code of your choice', providerCodeValue)
    .option('--key <key>', 'a key of your choice', authKeyValue)
    .option(KEY_FILE_FLAG, KEY_FILE_ABOUT, fileValue)
    .option('--max-links <number>', 'cap on limited links, or default', maxLinksValue, 'default')
    .action((options: AddOptions) => add(context, options));

  provider
    .command('list')
    .description('list the providers')
    .action((options: CommonOptions) => list(context, options));

  provider
    .command('show')
    .description('show one provider')
    .argument('<code>', '', providerCodeValue)
    .action((code: string, options: CommonOptions) => show(context, code, options));

  provider
    .command('set')
    .description('change a provider; what is not given stays')
    .argument('<code>', '', providerCodeValue)
    .option('--name <name>', 'what you call the provider', nameValue)
    .option('--plan <plan>', 'basic, pro or enterprise', planValue)
    .option('--expires <date>', 'last day of the subscription in UTC+3, or never', expiresValue)
    .option('--max-links <number>', 'cap on limited links, or default', maxLinksValue)
    .action((code: string, options: SetOptions) => set(context, code, options));

  provider
    .command('suspend')
    .description('stop a subscription until it is resumed')
    .argument('<code>', '', providerCodeValue)
    .action((code: string, options: CommonOptions) =>
      change(context, code, options, { suspendedAtMs: context.nowMs() }, 'suspended'),
    );

  provider
    .command('resume')
    .description('end a suspension')
    .argument('<code>', '', providerCodeValue)
    .action((code: string, options: CommonOptions) =>
      change(context, code, options, { suspendedAtMs: null }, 'resumed'),
    );

  provider
    .command('rotate-key')
    .description('give a provider a new key and print it, for the only time')
    .argument('<code>', '', providerCodeValue)
    .option('--keep-old <time>', 'how long the old key stays good, such as 24h', durationValue, 0)
    .option('--key <key>', 'a key of your choice', authKeyValue)
    .option(KEY_FILE_FLAG, KEY_FILE_ABOUT, fileValue)
    .action((code: string, options: RotateOptions) => rotate(context, code, options));

  provider
    .command('remove')
    .description('remove a provider and all that is its own; devices stay known')
    .argument('<code>', '', providerCodeValue)
    .option('--yes', 'do not ask')
    .action((code: string, options: RemoveOptions) => remove(context, code, options));
}
