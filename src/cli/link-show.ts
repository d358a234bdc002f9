/** `gatepost link show`: a limited link with its slots, present and past. */

import type { Command } from 'commander';
import { outside, rowsOf } from '../core/field.ts';
import type { KeptRefusal } from '../core/port/figure.ts';
import type { LinkStory, OwnedLink } from '../core/port/link-view.ts';
import type { SlotPhone } from '../core/port/phone.ts';
import type { Provider } from '../core/port/provider.ts';
import type { Buttons } from '../core/port/ride.ts';
import type { Slot } from '../core/port/slot.ts';
import type { ShownFigures } from '../core/port/subscription-figures.ts';
import { DEVICES_MAX, policyOf } from '../core/slot.ts';
import { BUTTON_TERMS, LINK_TERMS, POLICY_TERMS } from '../core/terms.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { figuresSheet, figuresView } from './figures.ts';
import { linkView } from './link-filter.ts';
import { findLink, LINK_ARGUMENT, type LinkName } from './link-name.ts';
import { phoneTable, phoneView } from './link-phones.ts';
import { refusal } from './refusal.ts';
import { REASON_WORDS } from './stats.ts';
import { sheet, table } from './table.ts';
import { policySheet } from './term-options.ts';
import { showTime, showTimeOrNull } from './values.ts';

interface ShownLink {
  link: OwnedLink;
  provider: Provider;
  slots: Slot[];
  phones: SlotPhone[];
  story: LinkStory;
  refused: KeptRefusal[];
  figures: ShownFigures | null;
}

function detailView({ link, provider, slots, phones, story, refused, figures }: ShownLink) {
  const { ends, refusals } = story;
  return {
    ...linkView(link),
    has_subscription_key: link.hasSubscriptionKey,
    ...(figures !== null && { subscription: figuresView(figures) }),
    ...outside(LINK_TERMS, link),
    policy: outside(POLICY_TERMS, policyOf(link, provider)),
    limit_wanted: link.limitWanted,
    replaced_at: showTimeOrNull(link.replacedAtMs),
    refusals: refusals && {
      count: refusals.count,
      last_at: showTime(refusals.lastAtMs),
      reason: refusals.reason,
    },
    refused: refused.map((device) => ({
      hwid: device.hwid,
      device_name: device.deviceName,
      os: device.os,
      reason: device.reason,
      count: device.count,
      first_at: showTime(device.firstAtMs),
      last_at: showTime(device.lastAtMs),
    })),
    slots: slots.map((slot) => ({
      hwid: slot.hwid,
      device_name: slot.deviceName,
      registered_at: showTime(slot.registeredAtMs),
      last_seen_at: slot.isNamed ? null : showTime(slot.lastSeenAtMs),
      ...(slot.isNamed && { named: true }),
    })),
    ...(phones.length > 0 && { phones: phones.map(phoneView) }),
    ended_slots: ends.map((end) => ({
      hwid: end.hwid,
      registered_at: showTime(end.registeredAtMs),
      last_seen_at: showTime(end.lastSeenAtMs),
      ended_at: showTime(end.endedAtMs),
      why: end.why,
      by: end.actor,
      for_hwid: end.forHwid,
    })),
  };
}

async function show(context: CliContext, name: LinkName, options: CommonOptions): Promise<void> {
  const shown = await withCore(context, options, async (core): Promise<ShownLink> => {
    const link = await findLink(core, name);
    const { id: installId, providerId, providerCode } = link;
    const provider = await core.store.findProvider(providerCode);
    const selector = { installCode: null, installId };
    const slots = await core.store.listSlots(providerId, selector, null, DEVICES_MAX);
    // The provider was removed between two reads.
    if (provider === null || typeof slots === 'string') {
      throw refusal('link_not_found', link.installCode);
    }
    const refused = await core.store.listRefused(installId);
    const phones = await core.store.listPhones(installId);
    return {
      link,
      provider,
      slots,
      phones,
      refused,
      story: await core.store.readLinkStory(installId),
      figures: await core.store.findSubscriptionFigures(installId),
    };
  });
  print(context, options, detailView(shown), text(shown));
}

/** Returns the buttons that apps get, with the origin of each. */
function buttonSheet(own: Buttons, above: Buttons): Record<string, string | null> {
  return Object.fromEntries(
    rowsOf<Buttons>(BUTTON_TERMS).map(({ field, name }) => {
      const inherited = above[field] && `${above[field]} (of the provider)`;
      return [name, own[field] ?? inherited];
    }),
  );
}

/** Returns the link as text: its facts, its slots, and the slots that ended. */
function text(shown: ShownLink): string {
  const { link, provider } = shown;
  const { slots, phones = [], ended_slots: ends, refusals, refused, ...facts } = detailView(shown);
  const parts = [
    sheet({
      ...linkView(link),
      ...(facts.limit_wanted !== null && { limit_wanted: facts.limit_wanted }),
      has_subscription_key: facts.has_subscription_key,
      ...figuresSheet(shown.figures),
      ...policySheet(link, provider),
      ...buttonSheet(link, provider),
      greeting: link.greeting,
      replaced_at: facts.replaced_at,
      refusals:
        refusals && `${refusals.count}, last ${refusals.last_at}: ${REASON_WORDS[refusals.reason]}`,
    }),
    slots.length === 0
      ? 'No HWID is on it.'
      : table(slots, {
          HWID: 'hwid',
          NAME: 'device_name',
          SINCE: 'registered_at',
          'LAST SEEN': (slot) => slot.last_seen_at ?? 'named, has not come',
        }),
  ];
  if (phones.length > 0) parts.push(phoneTable(phones));
  if (refused.length > 0) {
    parts.push(
      table(refused, {
        REFUSED: ({ hwid }) => hwid || '(sent no HWID)',
        NAME: 'device_name',
        OS: 'os',
        WHY: ({ reason }) => REASON_WORDS[reason],
        TIMES: 'count',
        LAST: 'last_at',
      }),
    );
  }
  if (ends.length > 0) {
    parts.push(
      table(ends, {
        'WAS ON IT': ({ hwid }) => hwid ?? '(forgotten)',
        SINCE: 'registered_at',
        'LAST SEEN': 'last_seen_at',
        UNTIL: 'ended_at',
        WHY: 'why',
        BY: 'by',
        FOR: (end) => end.for_hwid ?? '',
      }),
    );
  }
  return parts.join('\n\n');
}

export function addShowCommand(link: Command, context: CliContext): void {
  link
    .command('show')
    .description('show a link with its policy and its HWIDs, also those of the last 90 days')
    .argument(...LINK_ARGUMENT)
    .action((name: LinkName, options: CommonOptions) => show(context, name, options));
}
