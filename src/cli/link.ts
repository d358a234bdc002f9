/** `gatepost link …`: the limited links of all providers. */

import type { Command } from 'commander';
import type { Core } from '../core/core.ts';
import { withFigures } from '../core/figures-filter.ts';
import type { OwnedLink } from '../core/port/link-view.ts';
import type { ShownFigures } from '../core/port/subscription-figures.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { addCutLinkCommand } from './cuts.ts';
import { figuresView } from './figures.ts';
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

/** Links whose figures are read at once. */
const TOGETHER = 1_000;

/** Adds to links their figures, some at a time. */
async function figuredLinks(core: Core, links: readonly OwnedLink[]) {
  const figured: (OwnedLink & { figures: ShownFigures | null })[] = [];
  for (let at = 0; at < links.length; at += TOGETHER) {
    figured.push(...(await withFigures(core, links.slice(at, at + TOGETHER))));
  }
  return figured;
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const countMax = countMaxOf(options);
  const { links, count } = await withCore(context, options, async (core) => {
    const filter = await filterOf(core, options, context.nowMs());
    const found = await core.store.listLinks({ ...filter, countMax });
    return {
      links: await figuredLinks(core, found),
      count: await core.store.countLinks(filter),
    };
  });
  const facts = links.map((link) => ({
    ...linkView(link),
    ...(link.figures !== null && { subscription: figuresView(link.figures) }),
  }));
  print(context, options, facts, linkTable(links));
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
