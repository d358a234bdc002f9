/** `gatepost link …`: the limited links of all providers. */

import type { Command } from 'commander';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { addCutLinkCommand } from './cuts.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { addAddCommands } from './link-add.ts';
import { addEndCommands } from './link-end.ts';
import { addFilter, type FilterOptions, filterOf, linkTable, linkView } from './link-filter.ts';
import { addNameCommand } from './link-named.ts';
import { addPhoneCommands } from './link-phones.ts';
import { addQrCommand } from './link-qr.ts';
import { addSetCommands } from './link-set.ts';
import { addShowCommand } from './link-show.ts';
import { addTieCommands } from './link-ties.ts';
import { addWhyCommand } from './link-why.ts';

type ListOptions = CommonOptions & LimitOptions & FilterOptions;

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const countMax = countMaxOf(options);
  const { links, count } = await withCore(context, options, async (core) => {
    const filter = await filterOf(core, options);
    return {
      links: await core.store.listLinks({ ...filter, countMax }),
      count: await core.store.countLinks(filter),
    };
  });
  print(context, options, links.map(linkView), linkTable(links));
  noteRest(context, links.length, count, 'link');
}

export function addLinkCommands(program: Command, context: CliContext): void {
  const link = program
    .command('link')
    .description('make, show and change the limited links of all providers');

  addAddCommands(link, context);
  const listing = link.command('list').description('list links, the newest first');
  addLimit(addFilter(listing)).action((options: ListOptions) => list(context, options));

  addShowCommand(link, context);
  addSetCommands(link, context);
  addEndCommands(link, context);
  addWhyCommand(link, context);
  addNameCommand(link, context);
  addQrCommand(link, context);
  addTieCommands(link, context);
  addPhoneCommands(link, context);
  addCutLinkCommand(link, context);
}
