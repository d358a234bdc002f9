/** The summary of an import from a panel: imported records, omitted ones, and missing data. */

import { visible } from '../base/visible.ts';
import { counted } from '../core/counted.ts';
import type { PanelTally } from '../core/moving/panel-tally.ts';
import type { Tally } from '../core/moving/tally.ts';
import { PANEL_TRAITS } from '../core/panel/index.ts';
import type { PanelKind } from '../core/panel/kind.ts';
import { table } from './table.ts';

interface PanelSummary {
  kind: PanelKind;
  /** True: read by the panel's API; false: from its database. */
  isFromApi: boolean;
  providerCode: string;
  tally: Tally;
  panel: PanelTally;
  isComplete: boolean;
  isCheck: boolean;
  disablesGone: boolean;
  disablesDisabled: boolean;
  /** The admin whose API showed the users; empty: these are all users. */
  view: string;
  unlimitedAs: number | null;
}

export function panelSummaryJson({ kind, providerCode, tally, panel, ...more }: PanelSummary) {
  const { links, slots } = tally;
  return {
    panel: kind,
    provider_code: providerCode,
    complete: more.isComplete,
    check: more.isCheck,
    users: panel.users,
    disabled: panel.disabled,
    view: more.view === '' ? null : more.view,
    links: {
      ...links,
      code_taken: tally.codesTaken,
      removed_here: tally.codesEnded,
      over_cap: tally.overCap,
      over_limit: panel.overLimit,
      disabled_before: panel.keptDisabled,
      replaced: panel.replaced,
      limits: Object.fromEntries(limitsOf(panel)),
      mostly_unlimited: panel.isMostlyUnlimited,
    },
    hwids: {
      listed: panel.devices,
      added: slots.added,
      present: slots.present,
      without_room: slots.withoutRoom,
      unusable: panel.devicesUnusable,
    },
    without_limit: {
      users: panel.unlimited,
      as: more.unlimitedAs,
      left_out: panel.leftOut,
      kept: panel.keptLimit,
      lowered: panel.lowered,
    },
    gone: panel.gone,
    out_of_view: panel.outOfView,
    unusable: tally.unusable,
    mended: tally.mended,
    without_key: panel.withoutKey,
    unserved: panel.unserved,
    alike: panel.alike,
    problems: tally.problems,
  };
}

/** Returns limits with their numbers of links, the smallest first. */
const limitsOf = ({ limits }: PanelTally) => [...limits].toSorted(([a], [b]) => a - b);

/** Returns lines about the limits of the links. */
function limitLines({ panel, isCheck }: PanelSummary): string[] {
  const counts = limitsOf(panel).map(([limit, count]) => `${counted(count, 'link')}: ${limit}`);
  if (counts.length === 0) return [];
  return [
    `Limits${isCheck ? ' that the links would have' : ''}: ${counts.join('; ')}.`,
    ...(panel.isMostlyUnlimited ? [MOSTLY_UNLIMITED] : []),
  ];
}

const MOSTLY_UNLIMITED =
  'WARNING: most links have the limit 100, which stops no device: choose one by --unlimited-as 3 --apply-to-existing.';

/** Returns a line about users that are disabled in the panel. */
function disabledLines({ panel, disablesDisabled }: PanelSummary): string[] {
  const { disabled, keptDisabled } = panel;
  const active = disabled - (disablesDisabled ? 0 : keptDisabled);
  const what = `${counted(active, 'user')} disabled in the panel: their links`;
  const stay = disablesDisabled
    ? `${what} are disabled`
    : `${what} stay active, because the panel itself refuses them`;
  const kept = `${counted(keptDisabled, 'link')} that an earlier import disabled: they stay disabled until the panel enables the user`;
  return [...(active > 0 ? [stay] : []), ...(keptDisabled > 0 && !disablesDisabled ? [kept] : [])];
}

/** Names users that no link can serve, and users with keys that some programs confuse. */
function namedLines({ unserved, alike }: PanelTally): string[] {
  return [
    ...(unserved.length > 0 ? ['', 'Users that cannot be served:'] : []),
    ...unserved.map(({ user, why }) => `  ${user}: ${why}`),
    ...(alike.length > 0 ? ['', ALIKE] : []),
    ...alike.map((names) => `  ${names.join(', ')}`),
  ].map(visible);
}

const ALIKE =
  'Users whose keys differ only in the form of letters (Unicode NFKC), which some apps and proxies make one:';

export function panelSummaryText(summary: PanelSummary): string {
  const { tally, panel, kind, isFromApi, isCheck, isComplete } = summary;
  const found = [
    `${counted(panel.users, 'user')}, ${panel.disabled} of them disabled, and ${counted(panel.devices, 'device')} in the panel.`,
  ];
  const rows = [
    { noun: 'links', ...tally.links },
    { noun: 'HWIDs', ...tally.slots, updated: '', different: '' },
  ];
  const stored = table(rows, {
    '': 'noun',
    CAME: 'added',
    'HERE ALREADY': 'present',
    UPDATED: 'updated',
    'DIFFERENT HERE': 'different',
  });
  const last = isComplete
    ? 'Run the same command again at any time: it imports the changes in the panel.'
    : 'The import is incomplete: run the same command to continue.';
  return [
    ...(isCheck ? found : [stored, '', ...found]),
    ...limitLines(summary),
    ...disabledLines(summary),
    ...missing(summary),
    ...PANEL_TRAITS[kind].lacks[isFromApi ? 'api' : 'database'],
    ...(tally.problems.length > 0 ? ['', 'The first problems:'] : []),
    ...tally.problems.map((problem) => `  ${problem}`),
    ...namedLines(panel),
    '',
    isCheck ? 'Nothing was stored: run the command without --check.' : last,
  ].join('\n');
}

/** Returns lines about omitted and changed records. */
function missing(summary: PanelSummary): string[] {
  const { tally, panel, unlimitedAs, disablesGone, isCheck, view } = summary;
  const newcomers = panel.unlimited - panel.leftOut - panel.keptLimit - panel.lowered;
  const counts: [count: number, noun: string, what: string][] = [
    [newcomers, 'user', `without a limit, or above 100: their links get ${unlimitedAs}`],
    [panel.leftOut, 'user', 'omitted: they have no limit, or a limit above 100 (--unlimited-as)'],
    [panel.keptLimit, 'user', 'without a limit in the panel: their links keep their limit'],
    [
      panel.lowered,
      'link',
      `whose user has no limit: lowered to ${unlimitedAs}, as their devices leave`,
    ],
    [
      panel.replaced,
      'link',
      'ended: the panel made the user again, so another customer has a new link',
    ],
    [
      panel.overLimit,
      'link',
      'with more devices than their limit: the devices stay, new ones are refused',
    ],
    [
      panel.devicesUnusable,
      'device',
      'omitted: their HWID is invalid, or their link has 100 devices',
    ],
    [tally.slots.withoutRoom, 'HWID', 'omitted: the link is full here'],
    [tally.codesTaken, 'user', 'omitted: the link of another user has their subscription key'],
    [tally.codesEnded, 'link', 'omitted: removed or revoked here'],
    [tally.overCap, 'link', 'omitted: over the cap of the provider (provider set --max-links)'],
    [
      tally.unusable,
      'user',
      'omitted: no link can have their key or name, or they are listed twice',
    ],
    [panel.withoutKey, 'user', 'omitted: they have no subscription key'],
    [tally.mended, 'link', 'corrected: long or multi-line notes, times in the future'],
    [
      panel.gone,
      'link',
      disablesGone && !isCheck
        ? 'whose user the panel no longer has: disabled'
        : 'whose user the panel no longer has: kept (--disable-gone disables)',
    ],
    [panel.outOfView, 'link', `whose user this token does not show (it belongs to ${view}): kept`],
  ];
  return counts.flatMap(([count, noun, what]) =>
    count > 0 ? [`${counted(count, noun)} ${what}`] : [],
  );
}
