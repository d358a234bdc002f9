/** `gatepost link name`: HWIDs that get their places on links before they come. */

import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { NAMED_PER_CALL, readNamedHwid } from '../core/named-hwid.ts';
import { isRefused } from '../core/outcome.ts';
import type { OwnedLink } from '../core/port/link-view.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, print, withCore } from './context.ts';
import { readNamedFile } from './link-csv.ts';
import { findNamed, LINKS_ARGUMENT, type LinkName } from './link-name.ts';
import { make } from './make.ts';
import { granted, refusal } from './refusal.ts';
import { fileValue } from './values.ts';

interface NameOptions extends ConfirmOptions {
  csv?: string;
}

/** Reads one of several HWIDs. */
function namedHwidValue(text: string, previous: readonly string[] = []): string[] {
  const hwid = readNamedHwid(text);
  if (isRefused(hwid)) throw new InvalidArgumentError(`${hwid.detail}`);
  if (previous.length === NAMED_PER_CALL) {
    throw new InvalidArgumentError(`give at most ${NAMED_PER_CALL}`);
  }
  return [...previous, hwid];
}

/** Names HWIDs for one link. */
async function nameFor(core: Core, link: OwnedLink, hwids: string[], nowMs: number) {
  const { id: installId, installCode, providerId } = link;
  const doer = { core, nowMs, provider: { id: providerId } };
  const named = granted(await make('links.name', doer, { installId, hwids }), installCode);
  return { install_code: installCode, added: named.addedCount, install_count: named.deviceCount };
}

/** Names the HWIDs of a file, link by link: each link gets all of its own, or none. */
async function nameAll(context: CliContext, path: string, options: NameOptions): Promise<void> {
  const byCode = Map.groupBy(readNamedFile(path), ({ installCode }) => installCode);
  await withCore(context, options, async (core) => {
    const nowMs = context.nowMs();
    const done: Awaited<ReturnType<typeof nameFor>>[] = [];
    const failed: { install_code: string; why: string }[] = [];
    for (const [installCode, rows] of byCode) {
      try {
        const link = await core.store.findLink(installCode);
        const owned = link && (await core.store.findLinkById(link.id));
        if (owned === null) throw refusal('link_not_found', installCode);
        const hwids = rows.map(({ hwid }) => hwid);
        done.push(await nameFor(core, owned, hwids, nowMs));
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        failed.push({ install_code: installCode, why: error.message });
      }
    }
    const sum = done.reduce((all, { added }) => all + added, 0);
    const text = [
      `${counted(sum, 'HWID')} named for ${counted(done.length, 'link')}`,
      ...failed.slice(0, 20).map(({ install_code, why }) => `${install_code}: ${why}`),
    ].join('\n');
    print(context, options, { links: done, failed }, text);
    if (done.length === 0) throw new OperatorError('no HWID was named');
  });
}

async function name(
  context: CliContext,
  linkName: LinkName | undefined,
  hwids: string[],
  options: NameOptions,
): Promise<void> {
  const { csv } = options;
  if (csv !== undefined) {
    if (linkName !== undefined) throw new UsageError('give either a link or --csv');
    return nameAll(context, csv, options);
  }
  if (linkName === undefined || hwids.length === 0) {
    throw new UsageError('give a link and its HWIDs, or --csv');
  }
  await withCore(context, options, async (core) => {
    const { link, isByNote } = await findNamed(core, linkName);
    if (isByNote) await confirm(context, options, `Name HWIDs for ${link.installCode}`);
    const facts = await nameFor(core, link, hwids, context.nowMs());
    const text = `${counted(facts.added, 'HWID')} named for ${link.installCode}, which has ${facts.install_count}`;
    print(context, options, facts, text);
  });
}

export function addNameCommand(link: Command, context: CliContext): void {
  link
    .command('name')
    .description('name HWIDs for a link before they come: each takes a place at once')
    .argument(...LINKS_ARGUMENT)
    .argument('[hwid...]', 'HWIDs as their apps send them', namedHwidValue)
    .option('--csv <file>', 'a file with the columns code and hwid instead', fileValue)
    .option('--yes', 'do not ask for confirmation')
    .action((linkName: LinkName | undefined, hwids: string[] | undefined, options: NameOptions) =>
      name(context, linkName, hwids ?? [], options),
    );
}
