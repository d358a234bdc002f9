/** `gatepost link phones` and `ignore-copies`: the phones that send one HWID of a link. */

import type { Command } from 'commander';
import type { SlotPhone } from '../core/port/phone.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { findLink, findNamed, LINK_ARGUMENT, type LinkName } from './link-name.ts';
import { make } from './make.ts';
import { granted } from './refusal.ts';
import { table } from './table.ts';
import { hwidValue, showTime } from './values.ts';

const STATES: Readonly<Record<SlotPhone['state'], string>> = {
  first: 'came first',
  pending: 'perhaps replaced',
  hint: 'perhaps another',
  certain: 'another phone',
  ignored: 'same person',
};

/** Returns a phone as JSON, with the names of the API. */
export const phoneView = (phone: SlotPhone) => ({
  hwid: phone.hwid,
  number: phone.number,
  state: phone.state,
  system: phone.family,
  app: phone.app,
  device_name: phone.model,
  own_hwid: phone.ownHwid,
  first_seen_at: showTime(phone.firstSeenAtMs),
  last_seen_at: showTime(phone.lastSeenAtMs),
});

/** Returns phones as a table. */
export const phoneTable = (phones: readonly ReturnType<typeof phoneView>[]): string =>
  table(phones, {
    'PHONE OF': 'hwid',
    NO: 'number',
    IS: ({ state }) => STATES[state],
    SYSTEM: 'system',
    APP: 'app',
    MODEL: 'device_name',
    'OWN SLOT': ({ own_hwid: own }) => own ?? '',
    FIRST: 'first_seen_at',
    'LAST SEEN': 'last_seen_at',
  });

async function list(context: CliContext, name: LinkName, options: CommonOptions): Promise<void> {
  const { link, phones } = await withCore(context, options, async (core) => {
    const found = await findLink(core, name);
    return { link: found, phones: (await core.store.listPhones(found.id)).map(phoneView) };
  });
  const { installCode } = link;
  const text =
    phones.length === 0 ? `Each HWID of ${installCode} has one phone.` : phoneTable(phones);
  print(context, options, { install_code: installCode, phones }, text);
}

async function ignore(
  context: CliContext,
  name: LinkName,
  hwid: string,
  options: ConfirmOptions,
): Promise<void> {
  const { link, isIgnored } = await withCore(context, options, async (core) => {
    const named = await findNamed(core, name);
    const { id: installId, installCode, providerId } = named.link;
    if (named.isByNote) {
      await confirm(
        context,
        options,
        `Take the phones of ${hwid} on ${installCode} for one person's`,
      );
    }
    const doer = { core, nowMs: context.nowMs(), provider: { id: providerId } };
    const ignored = await make('phones.ignore', doer, { installCode: null, installId, hwid });
    return { link: named.link, isIgnored: granted(ignored, installCode) };
  });
  const { installCode } = link;
  const text = isIgnored
    ? `the phones of ${hwid} on ${installCode} are one person's`
    : `${hwid} has no further phone on ${installCode}`;
  print(context, options, { install_code: installCode, hwid, ignored: isIgnored }, text);
}

export function addPhoneCommands(link: Command, context: CliContext): void {
  link
    .command('phones')
    .description('show the phones that send one HWID of a link, where there are several')
    .argument(...LINK_ARGUMENT)
    .action((name: LinkName, options: CommonOptions) => list(context, name, options));

  link
    .command('ignore-copies')
    .description("take the phones that send a HWID for one person's: none is refused")
    .argument(...LINK_ARGUMENT)
    .argument('<hwid>', 'the HWID that they send', hwidValue)
    .option('--yes', 'do not ask for confirmation')
    .action((name: LinkName, hwid: string, options: ConfirmOptions) =>
      ignore(context, name, hwid, options),
    );
}
