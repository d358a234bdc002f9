/** `gatepost link free`, `revoke` and `remove`: end slots, codes and links. */

import type { Command } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import { counted } from '../core/counted.ts';
import { onlyGiven } from '../core/field.ts';
import type { OwnedLink } from '../core/port/link-view.ts';
import { DEVICES_MAX } from '../core/slot.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, print, withCore } from './context.ts';
import { askCut, outcomeOf } from './cuts.ts';
import { addMany, changeLinks, type ManyOptions } from './link-filter.ts';
import { findNamed, LINK_ARGUMENT, type LinkName } from './link-name.ts';
import { make } from './make.ts';
import { granted } from './refusal.ts';
import { table } from './table.ts';
import { hwidValue, instantValue, SINCE_HELP, showTime } from './values.ts';

interface EndOptions extends ConfirmOptions {
  all?: boolean;
}

interface FreeOptions extends EndOptions {
  since?: (nowMs: number) => number;
  dryRun?: boolean;
  cutOff?: boolean;
}

/** Returns a link in a question: its code, its note and the number of its HWIDs. */
function described({ installCode, note, deviceCount }: OwnedLink): string {
  return `${installCode}${note === null ? '' : ` (${note})`} with ${counted(deviceCount, 'HWID')}`;
}

async function free(
  context: CliContext,
  name: LinkName,
  hwid: string | undefined,
  options: FreeOptions,
): Promise<void> {
  const { all: isAll = false, cutOff = false, since, dryRun = false } = options;
  const choices = [hwid !== undefined, isAll, since !== undefined].filter(Boolean);
  if (choices.length !== 1) throw new UsageError('give a HWID, --since, or --all');
  if (dryRun && since === undefined) throw new UsageError('--dry-run is for --since');
  if (cutOff) {
    if (hwid === undefined) throw new UsageError('--cut-off is for one HWID');
    return freeAndCut(context, name, hwid, options);
  }
  const nowMs = context.nowMs();
  if (since !== undefined) return freeSince(context, name, { ...options, sinceMs: since(nowMs) });
  const { link, freed } = await withCore(context, options, async (core) => {
    const named = await findNamed(core, name);
    const { id: installId, installCode, providerId } = named.link;
    if (isAll || named.isByNote) {
      const what = isAll ? 'all slots' : `the slot of ${hwid}`;
      await confirm(context, options, `Free ${what} of ${described(named.link)}`);
    }
    const given = { installCode: null, installId, ...onlyGiven({ hwid }) };
    const all = await make('links.free', { core, nowMs, provider: { id: providerId } }, given);
    return { link: named.link, freed: granted(all, installCode).freedCount };
  });
  const { installCode } = link;
  const facts = { install_code: installCode, freed, done: 'freed' };
  const text = hwid !== undefined && freed === 0 ? `${hwid} has no slot` : counted(freed, 'slot');
  print(context, options, facts, `${text}${freed > 0 ? ' freed' : ''} on ${installCode}`);
}

/** Frees the slot of a HWID, bars it, and cuts the link off. */
async function freeAndCut(
  context: CliContext,
  name: LinkName,
  hwid: string,
  options: FreeOptions,
): Promise<void> {
  const { asked, link } = await withCore(context, options, async (core) => {
    const named = await findNamed(core, name);
    return { asked: await askCut(context, core, named.link, hwid, options), link: named.link };
  });
  const { cut, freedCount: freed } = asked;
  const { installCode } = link;
  const facts = {
    install_code: installCode,
    freed,
    done: 'freed',
    cut_off: cut.state,
    cut: cut.id,
  };
  const text = `${counted(freed, 'slot')} freed on ${installCode}, ${hwid} is barred; ${outcomeOf(cut)}`;
  print(context, options, facts, text);
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
    const devices = await core.store.listLinkDevices(providerId, installId, DEVICES_MAX);
    const taken = devices.filter(({ registeredAtMs }) => registeredAtMs >= sinceMs);
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
    const doer = { core, nowMs: context.nowMs(), provider: { id: providerId } };
    const all = await make('links.free', doer, { installCode: null, installId, sinceMs });
    const freed = granted(all, installCode).freedCount;
    const text = `${counted(freed, 'slot')} freed on ${installCode}`;
    print(context, options, { ...facts, freed, done: 'freed' }, text);
  });
}

const CHANGE_KEY =
  'the link has no subscription key any more: change the key at the panel too, where the old one still opens the subscription, then set the new one with gatepost link set --key';

async function revoke(context: CliContext, name: LinkName, options: EndOptions): Promise<void> {
  const nowMs = context.nowMs();
  const { link, revoked } = await withCore(context, options, async (core) => {
    const { link: found } = await findNamed(core, name);
    await confirm(context, options, `Replace the code of ${described(found)}, and free its slots`);
    const doer = { core, nowMs, provider: { id: found.providerId } };
    const outcome = await make('links.revoke-now', doer, { id: found.id });
    return { link: found, revoked: granted(outcome, found.installCode) };
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
  const nowMs = context.nowMs();
  await changeLinks(context, name, options, {
    verb: 'Remove',
    done: 'removed',
    question: (link) => `Remove ${described(link)}`,
    change: (core, { providerId, id }) =>
      make('links.remove', { core, nowMs, provider: { id: providerId } }, { id }),
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
    .option('--cut-off', 'bar the HWID, and have the panel change the credentials of the link')
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
