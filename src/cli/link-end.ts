/** `gatepost link free`, `revoke` and `remove`: end slots, codes and links. */

import type { Command } from 'commander';
import { actAt } from '../core/audit/entry.ts';
import { counted } from '../core/counted.ts';
import { freeSlots, removeInstall, revokeInstall } from '../core/install.ts';
import { innermostReason, isRefused, type Refused } from '../core/outcome.ts';
import type { OwnedLink } from '../core/port/link.ts';
import { DEVICES_MAX } from '../core/slot.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, print, withCore } from './context.ts';
import {
  addMany,
  choose,
  type ManyOptions,
  onEach,
  preview,
  printOutcomes,
  refuseNoChoice,
} from './link-filter.ts';
import { findNamed, LINK_ARGUMENT, type LinkName } from './link-name.ts';
import { refusal } from './refusal.ts';
import { table } from './table.ts';
import { hwidValue, instantValue, SINCE_HELP, showTime } from './values.ts';

interface EndOptions extends ConfirmOptions {
  all?: boolean;
}

interface FreeOptions extends EndOptions {
  since?: (nowMs: number) => number;
  dryRun?: boolean;
}

/** Returns a link in a question: its code, its note and the number of its HWIDs. */
function described({ installCode, note, deviceCount }: OwnedLink): string {
  return `${installCode}${note === null ? '' : ` (${note})`} with ${counted(deviceCount, 'HWID')}`;
}

/** Throws the error of a refusal: the link was removed meanwhile, or the change was not saved. */
function refuse({ installCode }: OwnedLink, { says, fault }: Refused<string>): never {
  if (says !== 'install_save_error') throw refusal('link_not_found', installCode);
  throw new OperatorError(`the change could not be saved: ${innermostReason(fault)}`, 'not_saved');
}

async function free(
  context: CliContext,
  name: LinkName,
  hwid: string | undefined,
  options: FreeOptions,
): Promise<void> {
  const { all: isAll = false, since, dryRun = false } = options;
  const choices = [hwid !== undefined, isAll, since !== undefined].filter(Boolean);
  if (choices.length !== 1) throw new UsageError('give a HWID, --since, or --all');
  if (dryRun && since === undefined) throw new UsageError('--dry-run is for --since');
  const nowMs = context.nowMs();
  if (since !== undefined) return freeSince(context, name, { ...options, sinceMs: since(nowMs) });
  const { link, freed } = await withCore(context, options, async (core) => {
    const named = await findNamed(core, name);
    const { id: installId, providerId } = named.link;
    if (isAll || named.isByNote) {
      const what = isAll ? 'all slots' : `the slot of ${hwid}`;
      await confirm(context, options, `Free ${what} of ${described(named.link)}`);
    }
    const selector = { installCode: null, installId };
    if (hwid === undefined) {
      const all = await freeSlots(core, { id: providerId }, selector, nowMs);
      if (isRefused(all)) return refuse(named.link, all);
      return { link: named.link, freed: all.freedCount };
    }
    const act = actAt(core, nowMs);
    const had = await core.store.listSlots(providerId, selector, hwid, 1);
    const one = await core.store.freeSlot(providerId, selector, hwid, act);
    if (typeof one === 'string') throw refusal('link_not_found', named.link.installCode);
    return { link: named.link, freed: had.length > 0 ? 1 : 0 };
  });
  const { installCode } = link;
  const facts = { install_code: installCode, freed, done: 'freed' };
  const text = hwid !== undefined && freed === 0 ? `${hwid} has no slot` : counted(freed, 'slot');
  print(context, options, facts, `${text}${freed > 0 ? ' freed' : ''} on ${installCode}`);
}

const SLOT_COLUMNS = {
  HWID: 'hwid',
  DEVICE: 'device_name',
  REGISTERED: 'registered_at',
  'LAST SEEN': 'last_seen_at',
} as const;

/** Frees the slots that were taken since a time, after it lists them. */
async function freeSince(
  context: CliContext,
  name: LinkName,
  options: FreeOptions & { sinceMs: number },
): Promise<void> {
  const { sinceMs, dryRun = false } = options;
  await withCore(context, options, async (core) => {
    const { link } = await findNamed(core, name);
    const { id: installId, installCode, providerId } = link;
    const all = await core.store.listLinkDevices(providerId, installId, DEVICES_MAX);
    const taken = all.filter(({ registeredAtMs }) => registeredAtMs >= sinceMs);
    const rows = taken.map(({ hwid, deviceName, registeredAtMs, lastSeenAtMs }) => ({
      hwid,
      device_name: deviceName,
      registered_at: showTime(registeredAtMs),
      last_seen_at: showTime(lastSeenAtMs),
    }));
    const facts = { install_code: installCode, since: showTime(sinceMs), slots: rows };
    const shown = rows.length === 0 ? 'No slot was taken since then.' : table(rows, SLOT_COLUMNS);
    if (dryRun || rows.length === 0) {
      return print(context, options, { ...facts, freed: 0, done: 'listed' }, shown);
    }
    if (!options.yes) context.stderr(`${shown}\n`);
    await confirm(context, options, `Free ${counted(rows.length, 'slot')} on ${installCode}`);
    const selector = { installCode: null, installId };
    const nowMs = context.nowMs();
    const freed = await freeSlots(core, { id: providerId }, selector, nowMs, sinceMs);
    if (isRefused(freed)) return refuse(link, freed);
    const text = `${counted(freed.freedCount, 'slot')} freed on ${installCode}`;
    print(context, options, { ...facts, freed: freed.freedCount, done: 'freed' }, text);
  });
}

const CHANGE_KEY =
  'the link has no subscription key any more: change the key at the panel too, where the old one still opens the subscription, then set the new one with gatepost link set --key';

async function revoke(context: CliContext, name: LinkName, options: EndOptions): Promise<void> {
  const nowMs = context.nowMs();
  const { link, revoked } = await withCore(context, options, async (core) => {
    const { link: found } = await findNamed(core, name);
    await confirm(context, options, `Replace the code of ${described(found)}, and free its slots`);
    const outcome = await revokeInstall(core, { id: found.providerId }, found.id, nowMs);
    if (isRefused(outcome)) return refuse(found, outcome);
    return { link: found, revoked: outcome };
  });
  const { installCode, freedCount: freed, hadKey } = revoked;
  const facts = {
    install_code: installCode,
    old_install_code: link.installCode,
    id: link.id,
    freed,
    had_subscription_key: hadKey,
    done: 'revoked',
  };
  const text = `${link.installCode} revoked, ${counted(freed, 'slot')} freed; the code is ${installCode}`;
  print(context, options, facts, text);
  if (hadKey) context.stderr(`${CHANGE_KEY}\n`);
}

async function remove(
  context: CliContext,
  name: LinkName | undefined,
  options: ManyOptions,
): Promise<void> {
  refuseNoChoice(name, options);
  const nowMs = context.nowMs();
  await withCore(context, options, async (core) => {
    const { links, isByFilter } = await choose(core, name, options);
    const [link] = links;
    if (isByFilter) await preview(context, options, 'Remove', links);
    else if (link !== undefined) await confirm(context, options, `Remove ${described(link)}`);
    const outcomes = await onEach(links, async (one) => {
      const removed = await removeInstall(core, { id: one.providerId }, one.id, nowMs);
      if (!isRefused(removed)) return null;
      // A link that was removed meanwhile does not stop the others.
      const isGone = isByFilter && removed.says === 'install_not_found';
      return isGone ? refusal('link_not_found', one.installCode).message : refuse(one, removed);
    });
    if (isByFilter || link === undefined) {
      return printOutcomes(context, options, 'removed', outcomes);
    }
    if (outcomes.stopped !== null) throw outcomes.stopped.fault;
    const { installCode } = link;
    print(
      context,
      options,
      { install_code: installCode, done: 'removed' },
      `${installCode} removed`,
    );
  });
}

export function addEndCommands(link: Command, context: CliContext): void {
  link
    .command('free')
    .description('free the slot of a HWID on a link, those since a time, or all')
    .argument(...LINK_ARGUMENT)
    .argument('[hwid]', 'the HWID', hwidValue)
    .option('--all', 'all slots of the link')
    .option('--since <time>', `the slots taken ${SINCE_HELP}`, instantValue)
    .option('--dry-run', 'with --since: list the slots, and free none')
    .option('--yes', 'do not ask for confirmation')
    .action((name: LinkName, hwid: string | undefined, options: FreeOptions) =>
      free(context, name, hwid, options),
    );

  link
    .command('revoke')
    .description('replace the code of a link, remove its key, and free its slots')
    .argument(...LINK_ARGUMENT)
    .option('--yes', 'do not ask for confirmation')
    .action((name: LinkName, options: EndOptions) => revoke(context, name, options));

  addMany(
    link
      .command('remove')
      .description('remove a link, or many by a filter; their codes and keys cannot be used again'),
  ).action((name: LinkName | undefined, options: ManyOptions) => remove(context, name, options));
}
