/** `gatepost link enable --disabled-by-import`: lists and enables links that imports disabled. */

import { OperatorError, UsageError } from '../base/operator-error.ts';
import { counted } from '../core/counted.ts';
import { enableImported } from '../core/link.ts';
import type { OwnedLink } from '../core/port/link-view.ts';
import { type CliContext, print, withCore } from './context.ts';
import {
  filterOf,
  linkTable,
  linkView,
  MANY_MAX,
  type ManyOptions,
  onEach,
  preview,
  printOutcomes,
} from './link-filter.ts';
import { findNamed, type LinkName } from './link-name.ts';

const NO_LONGER = 'no import disabled it, or its state was changed since';

/**
 * Lists the links whose state is still that of an import which disabled them. Enables the one that
 * is named, or with `--all` all of them.
 */
export async function enableLinks(
  context: CliContext,
  name: LinkName | undefined,
  options: ManyOptions,
): Promise<void> {
  const { all = false } = options;
  if (name !== undefined && all) throw new UsageError('give either a link or --all');
  await withCore(context, options, async (core) => {
    const filter = {
      ...(await filterOf(core, options, context.nowMs())),
      isDisabledByImport: true,
    };
    const enable = async (link: OwnedLink) =>
      (await enableImported(core, link, context.nowMs())) ? null : NO_LONGER;
    if (name !== undefined) {
      const { link } = await findNamed(core, name);
      const refused = await enable(link);
      const { installCode } = link;
      if (refused !== null) throw new OperatorError(`${installCode}: ${refused}`);
      const facts = { install_code: installCode, done: 'enabled' };
      return print(context, options, facts, `${installCode} enabled`);
    }
    const links = await core.store.listLinks({ ...filter, countMax: MANY_MAX });
    if (!all) return list(context, options, links);
    await preview(context, options, 'Enable', links);
    printOutcomes(context, options, 'enabled', await onEach(links, enable));
  });
}

function list(context: CliContext, options: ManyOptions, links: readonly OwnedLink[]): void {
  const text = links.length === 0 ? 'No import disabled a link.' : linkTable(links);
  print(context, options, links.map(linkView), text);
  if (links.length === 0 || options.json) return;
  context.stderr(
    `${counted(links.length, 'link')} that an import disabled; nothing was changed: give a link, or --all to enable them\n`,
  );
}
