/** The summary of an import from a panel: imported records, omitted ones, and missing data. */

import type { PanelTally } from '../core/moving/panel-import.ts';
import type { Tally } from '../core/moving/tally.ts';
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
  unlimitedAs: number | null;
}

const NO_DEVICES_BY_API =
  'The API of 3x-ui has no devices: import its database, or wait until each device takes a slot.';

/** The data that each panel lacks. */
const UNKNOWN: Readonly<Record<PanelKind, readonly string[]>> = {
  remnawave: [],
  '3x-ui': [
    '3x-ui stores hashes of HWIDs: the HWID of a device is known when it first comes here.',
  ],
  pasarguard: ['PasarGuard does not store the app of a device.'],
  marzban: [
    'Marzban stores neither limits nor devices: each device takes a slot when it first comes.',
  ],
  hiddify: ['Hiddify stores no devices: each device takes a slot when it first comes.'],
};

export function panelSummaryJson({ kind, providerCode, tally, panel, ...more }: PanelSummary) {
  const { links, slots } = tally;
  return {
    ...{ panel: kind, provider_code: providerCode, complete: more.isComplete },
    ...{ check: more.isCheck, users: panel.users, disabled: panel.disabled },
    links: {
      ...links,
      code_taken: tally.codesTaken,
      removed_here: tally.codesEnded,
      over_cap: tally.overCap,
      over_limit: panel.overLimit,
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
    },
    ...{ gone: panel.gone, unusable: tally.unusable, mended: tally.mended },
    problems: tally.problems,
  };
}

export function panelSummaryText(summary: PanelSummary): string {
  const { tally, panel, kind, isFromApi, isCheck, isComplete } = summary;
  const found = [
    `${panel.users} users, ${panel.disabled} of them disabled, and ${panel.devices} devices in the panel.`,
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
    ...missing(summary),
    ...(kind === '3x-ui' && isFromApi ? [NO_DEVICES_BY_API] : UNKNOWN[kind]),
    ...(tally.problems.length > 0 ? ['', 'The first problems:'] : []),
    ...tally.problems.map((problem) => `  ${problem}`),
    '',
    isCheck ? 'Nothing was stored: run the command without --check.' : last,
  ].join('\n');
}

/** Returns lines about omitted and changed records. */
function missing({ tally, panel, unlimitedAs, disablesGone }: PanelSummary): string[] {
  const newcomers = panel.unlimited - panel.leftOut - panel.keptLimit;
  const counts: [number, string][] = [
    [newcomers, `users without a limit, or above 100: their links get ${unlimitedAs}`],
    [panel.leftOut, 'users omitted: they have no limit, or a limit above 100 (--unlimited-as)'],
    [panel.keptLimit, 'users without a limit in the panel: their links keep their limit'],
    [
      panel.overLimit,
      'links with more devices than their limit: the devices stay, new ones are refused',
    ],
    [
      panel.devicesUnusable,
      'devices omitted: their HWID is invalid, or their link has 100 devices',
    ],
    [tally.slots.withoutRoom, 'HWIDs omitted: their links are full here'],
    [tally.codesTaken, 'links omitted: another link here has their subscription key'],
    [tally.codesEnded, 'links omitted: they were removed or revoked here'],
    [tally.overCap, 'links omitted: over the cap of the provider (provider set --max-links)'],
    [tally.unusable, 'users omitted: their subscription key is invalid here'],
    [tally.mended, 'links corrected: long or multi-line notes, times in the future'],
    [
      panel.gone,
      disablesGone
        ? 'links of users that the panel no longer has: disabled'
        : 'links of users that the panel no longer has: they stay (--disable-gone disables them)',
    ],
  ];
  return counts.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
}
