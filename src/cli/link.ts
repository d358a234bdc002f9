/** `gatepost link …`: the limited links of all providers. */

import type { Command } from 'commander';
import { INSTALL_DISABLED } from '../core/port/install.ts';
import { type CliContext, type CommonOptions, printTable, withCore } from './context.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { addQrCommand } from './link-qr.ts';
import { addSetCommand } from './link-set.ts';
import { addShowCommand, linkView } from './link-show.ts';
import { addWhyCommand } from './link-why.ts';
import { refusal } from './refusal.ts';
import { providerCodeValue } from './values.ts';

interface ListOptions extends CommonOptions, LimitOptions {
  provider?: string;
  full?: boolean;
  disabled?: boolean;
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const filter = {
    providerCode: options.provider ?? null,
    isFull: options.full ?? false,
    status: options.disabled ? INSTALL_DISABLED : null,
  };
  const countMax = countMaxOf(options);
  const { links, count } = await withCore(context, options, async ({ store }) => {
    const { providerCode } = filter;
    if (providerCode !== null && (await store.findProvider(providerCode)) === null) {
      throw refusal('provider_not_found', providerCode);
    }
    return {
      links: await store.listLinks({ ...filter, countMax }),
      count: await store.countLinks(filter),
    };
  });
  printTable(context, options, links.map(linkView), {
    CODE: 'install_code',
    PROVIDER: 'provider_code',
    STATE: ({ active }) => (active ? 'active' : 'disabled'),
    HWIDS: 'install_count',
    LIMIT: 'install_limit',
    CREATED: 'created_at',
    NOTE: ({ note }) => note ?? '',
  });
  noteRest(context, links.length, count, 'links');
}

export function addLinkCommands(program: Command, context: CliContext): void {
  const link = program
    .command('link')
    .description('show and change the limited links of all providers');

  const listing = link
    .command('list')
    .description('list links, the newest first')
    .option('--provider <code>', 'only of this provider', providerCodeValue)
    .option('--full', 'only links without a free slot')
    .option('--disabled', 'only disabled links');
  addLimit(listing).action((options: ListOptions) => list(context, options));

  addShowCommand(link, context);
  addSetCommand(link, context);
  addWhyCommand(link, context);
  addQrCommand(link, context);
}
