/** `gatepost provider …`: the providers and their credentials. */

import type { Command } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import { dateEndingAt } from '../core/calendar.ts';
import { counted } from '../core/counted.ts';
import { type Given, onlyGiven, outside } from '../core/field.ts';
import type { Holdings } from '../core/port/count.ts';
import type { OwnMy, OwnMyCut } from '../core/port/my.ts';
import type { OwnBot, OwnTerms, Provider } from '../core/port/provider.ts';
import type { OwnQuiet } from '../core/port/reminder.ts';
import type { OwnRideTerms } from '../core/port/ride.ts';
import type { OwnPolicy } from '../core/port/slot.ts';
import type { OwnFigures } from '../core/port/subscription-figures.ts';
import { isActive } from '../core/provider.ts';
import { NO_POLICY } from '../core/slot.ts';
import {
  BOT_TERMS,
  FIGURE_TERMS,
  MY_CUT_TERMS,
  MY_TERMS,
  OWN_POLICY_TERMS,
  OWN_TERMS,
  POLICY_TERMS,
  QUIET_TERMS,
  RIDE_TERMS,
  type Terms as TermTable,
} from '../core/terms.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { KEY_FILE, type KeyOptions, printCredentials, readKey } from './key.ts';
import { make } from './make.ts';
import { granted, refusal } from './refusal.ts';
import { sheet } from './table.ts';
import { addTerms, givenTerms, policySheet, termsView } from './term-options.ts';
import { EXPIRES, MAX_LINKS, NAME, orNull, PLAN, planNote, type Terms } from './terms.ts';
import { authKeyValue, durationValue, providerCodeValue, showExpires, showTime } from './values.ts';

type OwnOthers = OwnRideTerms & OwnMy & OwnMyCut & OwnBot & OwnFigures & OwnQuiet;
const OTHERS: TermTable<OwnOthers> = {
  ...RIDE_TERMS,
  ...MY_TERMS,
  ...MY_CUT_TERMS,
  ...BOT_TERMS,
  ...FIGURE_TERMS,
  ...QUIET_TERMS,
};
const SET_TERMS: TermTable<OwnTerms & OwnMyCut> = { ...OWN_TERMS, ...MY_CUT_TERMS };
/** The terms of a new provider: all but those of its page. */
type NewTerms = OwnPolicy & OwnRideTerms & OwnBot & OwnFigures & OwnQuiet;
const NEW_TERMS: TermTable<NewTerms> = {
  ...OWN_POLICY_TERMS,
  ...RIDE_TERMS,
  ...BOT_TERMS,
  ...FIGURE_TERMS,
  ...QUIET_TERMS,
};

interface AddOptions extends CommonOptions, KeyOptions, Terms {
  name: string;
  code?: string;
}

interface SetOptions extends CommonOptions, Partial<Terms> {
  name?: string;
}

interface RotateOptions extends CommonOptions, KeyOptions {
  keepOld: number;
}

/** Returns a provider as JSON, without its keys. */
function view(provider: Provider, nowMs: number) {
  const isOldKeyValid = (provider.previousKeyUntilMs ?? 0) > nowMs;
  return {
    provider_code: provider.code,
    name: provider.name,
    plan: provider.plan,
    active: isActive(provider, nowMs),
    suspended: provider.suspendedAtMs !== null,
    expires: showExpires(provider.activeUntilMs),
    links: provider.installCount,
    max_links: provider.installCountMax,
    ...outside(POLICY_TERMS, provider),
    ...termsView<OwnOthers>(OTHERS, provider),
    created_at: showTime(provider.createdAtMs),
    old_key_until: isOldKeyValid ? showTime(provider.previousKeyUntilMs ?? 0) : null,
  };
}

function state({ suspended, active }: ReturnType<typeof view>): string {
  if (suspended) return 'suspended';
  return active ? 'active' : 'expired';
}

async function add(context: CliContext, options: AddOptions): Promise<void> {
  const given = {
    name: options.name,
    plan: options.plan,
    lastDay: lastDayOf(options.expires),
    linkCountMax: orNull(options.maxLinks),
    ...onlyGiven({ code: options.code, authKey: readKey(context, options) }),
    ...givenTerms<NewTerms>(NEW_TERMS, options),
  };
  const nowMs = context.nowMs();
  const added = await withCore(
    context,
    options,
    (core) => make('providers.add', { core, nowMs }, given),
    true,
  );
  const note = `Plan ${planNote(given.plan)}.`;
  printCredentials(context, options, granted(added, options.code ?? ''), note);
}

async function list(context: CliContext, options: CommonOptions): Promise<void> {
  const providers = await withCore(context, options, (core) => core.store.listProviders());
  const nowMs = context.nowMs();
  const rows = providers.map((provider) => view(provider, nowMs));
  printTable(context, options, rows, {
    CODE: 'provider_code',
    NAME: 'name',
    PLAN: 'plan',
    STATE: state,
    EXPIRES: 'expires',
    LINKS: 'links',
  });
}

async function show(context: CliContext, code: string, options: CommonOptions): Promise<void> {
  const provider = await withCore(context, options, async (core) => core.store.findProvider(code));
  if (provider === null) throw refusal('provider_not_found', code);
  const facts = view(provider, context.nowMs());
  const text = sheet({
    provider_code: code,
    name: facts.name,
    plan: planNote(facts.plan),
    state: state(facts),
    expires: facts.expires,
    links: facts.links,
    max_links: facts.max_links ?? 'default',
    ...policySheet(provider, NO_POLICY),
    ...termsView<OwnOthers>(OTHERS, provider),
    created_at: facts.created_at,
    old_key_until: facts.old_key_until ?? 'no old key',
  });
  print(context, options, facts, text);
}

type Change = Omit<Parameters<typeof make<'providers.edit'>>[2], 'code'>;

/** Returns the last day of a subscription, `YYYY-MM-DD`; null: it has no end. */
function lastDayOf(expires: Terms['expires']): string | null {
  const untilMs = orNull(expires);
  return untilMs === null ? null : dateEndingAt(untilMs);
}

async function change(
  context: CliContext,
  code: string,
  options: CommonOptions,
  wanted: Change,
  done: string,
  note = '',
): Promise<void> {
  const changed = await withCore(context, options, (core) =>
    make('providers.edit', { core, nowMs: context.nowMs() }, { code, ...wanted }),
  );
  granted(changed, code);
  print(context, options, { provider_code: code, done }, `${code} ${done}\n${note}`);
}

async function set(context: CliContext, code: string, options: SetOptions): Promise<void> {
  const { name, plan, expires, maxLinks } = options;
  const own: Given<Omit<Change, keyof OwnTerms | keyof OwnMyCut | 'isSuspended'>> = {
    name,
    plan,
    lastDay: expires === undefined ? undefined : lastDayOf(expires),
    linkCountMax: maxLinks === undefined ? undefined : orNull(maxLinks),
  };
  const wanted = { ...onlyGiven(own), ...givenTerms<OwnTerms & OwnMyCut>(SET_TERMS, options) };
  if (Object.keys(wanted).length === 0) {
    throw new UsageError('nothing to change: give --name, --plan or another option');
  }
  const note = plan === undefined ? '' : `Plan ${planNote(plan)}.`;
  await change(context, code, options, wanted, 'changed', note);
}

async function rotate(context: CliContext, code: string, options: RotateOptions): Promise<void> {
  const key = readKey(context, options);
  const rotated = await withCore(context, options, (core) =>
    make(
      'providers.rotate',
      { core, nowMs: context.nowMs() },
      { code, keepOldMs: options.keepOld, ...onlyGiven({ authKey: key }) },
    ),
  );
  const { invitationCount, sessionCount, ...credentials } = granted(rotated, code);
  const ended = `Ended: ${counted(sessionCount, 'session')} of the old key in the console, `;
  const note = `${ended}${counted(invitationCount, 'open invitation')}.`;
  printCredentials(context, options, credentials, note);
}

async function remove(context: CliContext, code: string, options: ConfirmOptions): Promise<void> {
  const removed = await withCore(context, options, async (core) => {
    const provider = await core.store.findProvider(code);
    const held = await core.store.countHoldings(code);
    if (provider === null || held === null) throw refusal('provider_not_found', code);
    await confirm(context, options, deedOf(provider, held));
    return make('providers.remove', { core, nowMs: context.nowMs() }, { code });
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

  const adding = provider
    .command('add')
    .description('create a provider and print its credentials; the key is shown only once')
    .requiredOption(...NAME)
    .option(...PLAN, 'enterprise')
    .option(...EXPIRES, 'never')
    .option('--code <code>', 'a code of your choice', providerCodeValue)
    .option('--key <key>', 'a key of your choice', authKeyValue)
    .option(...KEY_FILE)
    .option(...MAX_LINKS, 'default');
  addTerms(adding, NEW_TERMS).action((options: AddOptions) => add(context, options));

  provider
    .command('list')
    .description('list the providers')
    .action((options: CommonOptions) => list(context, options));

  provider
    .command('show')
    .description('show one provider')
    .argument('<code>', '', providerCodeValue)
    .action((code: string, options: CommonOptions) => show(context, code, options));

  const setting = provider
    .command('set')
    .description('change a provider; omitted options change nothing')
    .argument('<code>', '', providerCodeValue)
    .option(...NAME)
    .option(...PLAN)
    .option(...EXPIRES)
    .option(...MAX_LINKS);
  addTerms(setting, SET_TERMS).action((code: string, options: SetOptions) =>
    set(context, code, options),
  );

  provider
    .command('suspend')
    .description('suspend a subscription until it is resumed')
    .argument('<code>', '', providerCodeValue)
    .action((code: string, options: CommonOptions) =>
      change(context, code, options, { isSuspended: true }, 'suspended'),
    );

  provider
    .command('resume')
    .description('end a suspension')
    .argument('<code>', '', providerCodeValue)
    .action((code: string, options: CommonOptions) =>
      change(context, code, options, { isSuspended: false }, 'resumed'),
    );

  provider
    .command('rotate-key')
    .description('create a new key for a provider and print it once')
    .argument('<code>', '', providerCodeValue)
    .option('--keep-old <time>', 'how long the old key stays valid, such as 24h', durationValue, 0)
    .option('--key <key>', 'a key of your choice', authKeyValue)
    .option(...KEY_FILE)
    .action((code: string, options: RotateOptions) => rotate(context, code, options));

  provider
    .command('remove')
    .description('delete a provider with all its data; devices stay known')
    .argument('<code>', '', providerCodeValue)
    .option('--yes', 'do not ask for confirmation')
    .action((code: string, options: ConfirmOptions) => remove(context, code, options));
}
