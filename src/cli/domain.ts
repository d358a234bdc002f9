/** `gatepost domain …`: the subscription domains of a provider. */

import type { Command } from 'commander';
import { readRecordId } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import { DOMAIN_ACTIVE, type Domain } from '../core/port/domain.ts';
import { activityWord } from '../core/status-word.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { make } from './make.ts';
import {
  listOwned,
  OF_PROVIDER,
  type Owned,
  ownerName,
  PROVIDER,
  type ProviderOptions,
  providerOf,
} from './provider-name.ts';
import { granted, refusal } from './refusal.ts';
import { type DomainName, domainValue, lineValue, showTime } from './values.ts';

interface AddOptions extends CommonOptions, ProviderOptions {
  name?: string;
}

type ListOptions = CommonOptions & ProviderOptions & LimitOptions;
type RemoveOptions = CommonOptions & ProviderOptions;

function view(domain: Owned<Domain>) {
  return {
    provider_code: domain.providerCode,
    id: domain.id,
    domain_name: domain.domainName,
    domain_hash: domain.domainHash,
    active: domain.status === DOMAIN_ACTIVE,
    created_at: showTime(domain.createdAtMs),
  };
}

const DONE = {
  ok: 'bound',
  domain_exists: 'bound already',
  domain_activated: 'bound again: it was disabled',
} as const;

async function add(context: CliContext, { host, hash }: DomainName, options: AddOptions) {
  const nowMs = context.nowMs();
  const added = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    // An existing binding keeps its name.
    const isNew = (await core.store.findDomain(provider.id, hash)) === null;
    const name = options.name ?? (isNew ? host : null) ?? '';
    const outcome = await make('domains.add', { core, nowMs, provider }, { hash, name });
    return granted(outcome, provider.code);
  });
  const { id, says } = added;
  const facts = { id, domain_hash: hash, done: says === 'ok' ? 'added' : says };
  print(context, options, facts, `domain ${id} ${DONE[says]}: ${host ?? hash}`);
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const countMax = countMaxOf(options);
  // One more than shown, to learn whether there are more.
  const page = { id: null, beforeId: null, countMax: countMax + 1 };
  const domains = await withCore(context, options, (core) =>
    listOwned(core, options, (providerId) => core.store.listDomains(providerId, page)),
  );
  const shown = domains.sort((a, b) => b.id - a.id).slice(0, countMax);
  printTable(context, options, shown.map(view), {
    ID: 'id',
    PROVIDER: ownerName,
    NAME: 'domain_name',
    STATE: ({ active }) => activityWord(active),
    CREATED: 'created_at',
    HASH: 'domain_hash',
  });
  if (domains.length > countMax) noteRest(context, countMax, null, 'domain');
}

type Selector = { id: number } | DomainName;

/** Reads the id of a domain, its host name or its hash. */
function selectorValue(text: string): Selector {
  const id = readRecordId(text.replace(/^#/, ''));
  return isRefused(id) ? domainValue(text) : { id };
}

async function remove(context: CliContext, selector: Selector, options: RemoveOptions) {
  const nowMs = context.nowMs();
  const id = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const name = 'id' in selector ? selector.id : (selector.host ?? selector.hash);
    const found =
      'id' in selector ? selector : await core.store.findDomain(provider.id, selector.hash);
    if (found === null) throw refusal('domain_not_found', name);
    granted(await make('domains.delete', { core, nowMs, provider }, { id: found.id }), name);
    return found.id;
  });
  const text = `domain ${id} disabled: devices that only it links get no messages until it is added again`;
  print(context, options, { id, done: 'disabled' }, text);
}

export function addDomainCommands(program: Command, context: CliContext): void {
  const domain = program
    .command('domain')
    .description('bind the subscription domains of a provider');

  domain
    .command('add')
    .description('bind a domain, or bind a disabled one again')
    .argument('<host>', 'the host name of the subscription links, or its SHA-256', domainValue)
    .option(...PROVIDER)
    .option('--name <text>', 'a name for lists; the host name if omitted', lineValue('a name'))
    .action((name: DomainName, options: AddOptions) => add(context, name, options));

  const listing = domain
    .command('list')
    .description('list the domains of all providers, or of one, the newest first')
    .option(...OF_PROVIDER);
  addLimit(listing).action((options: ListOptions) => list(context, options));

  domain
    .command('remove')
    .description('disable a domain; it stays in lists, and add binds it again')
    .argument('<domain>', 'its host name, hash or id', selectorValue)
    .option(...PROVIDER)
    .action((selector: Selector, options: RemoveOptions) => remove(context, selector, options));
}
