/** `gatepost bot …`: the bots that fetch subscriptions for their customers. */

import type { Command } from 'commander';
import type { Bot } from '../core/port/bot.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
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
import { granted } from './refusal.ts';
import { sheet } from './table.ts';
import { botIdValue, lineValue, showTime } from './values.ts';

type Options = CommonOptions & ProviderOptions;

interface AddOptions extends Options {
  name: string;
}

const view = ({ createdAtMs, host, id, name, providerCode }: Owned<Bot>) => ({
  provider_code: providerCode,
  id,
  host,
  name,
  created_at: showTime(createdAtMs),
});

async function add(context: CliContext, host: string, options: AddOptions): Promise<void> {
  const nowMs = context.nowMs();
  const added = await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    const { name } = options;
    return granted(
      await make('bots.add', { core, nowMs, provider }, { host, name }),
      provider.code,
    );
  });
  const note = [
    'The secret is shown only once: only its SHA-256 is stored. The bot sends it as',
    'Authorization: Bearer SECRET, by HTTPS or from this machine.',
  ];
  print(context, options, added, [sheet(added), ...note].join('\n'));
}

async function list(context: CliContext, options: Options): Promise<void> {
  const bots = await withCore(context, options, (core) =>
    listOwned(core, options, (providerId) => core.store.listBots(providerId)),
  );
  printTable(context, options, bots.map(view), {
    ID: 'id',
    PROVIDER: ownerName,
    HOST: 'host',
    CREATED: 'created_at',
    NAME: 'name',
  });
}

async function remove(context: CliContext, id: number, options: Options): Promise<void> {
  const nowMs = context.nowMs();
  await withCore(context, options, async (core) => {
    const provider = await providerOf(core, options);
    granted(await make('bots.remove', { core, nowMs, provider }, { id }), id);
  });
  print(
    context,
    options,
    { id, done: 'removed' },
    `bot ${id} removed: its secret is worth nothing`,
  );
}

export function addBotCommands(program: Command, context: CliContext): void {
  const bot = program
    .command('bot')
    .description('trust bots that fetch subscriptions for their customers');

  bot
    .command('add')
    .description('trust a bot at a host by a new secret, which is shown once')
    .argument('<host>', 'the host in the addresses that it fetches, bound to the provider')
    .requiredOption('--name <text>', 'a name for lists', lineValue('a name'))
    .option(...PROVIDER)
    .action((host: string, options: AddOptions) => add(context, host, options));

  bot
    .command('list')
    .description('list the bots of all providers, or of one')
    .option(...OF_PROVIDER)
    .action((options: Options) => list(context, options));

  bot
    .command('remove')
    .description('trust a bot no more')
    .argument('<bot>', 'its id', botIdValue)
    .option(...PROVIDER)
    .action((id: number, options: Options) => remove(context, id, options));
}
