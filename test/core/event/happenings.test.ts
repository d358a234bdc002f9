import { expect, test } from 'bun:test';
import { keyFirstUsed } from '../../../src/core/event/first-use.ts';
import * as happenings from '../../../src/core/event/happenings.ts';
import { EVENT_MEANINGS } from '../../../src/core/event/meanings.ts';
import * as subscriptions from '../../../src/core/event/subscription-happenings.ts';
import { changeWaits } from '../../../src/core/event/waiting.ts';
import { OPERATOR_EVENTS, PROVIDER_EVENTS } from '../../../src/core/port/event.ts';

const LINK = { id: 1, installLimit: 100, deviceCount: 100 };
/** As long as a HWID or a reason may come. */
const LONG = '\u{10ffff}'.repeat(5_000);
const ENDED = {
  id: 1,
  recipientCount: 1,
  sentCount: 1,
  failedCount: 0,
  notificationType: 10,
} as const;
const REACH = {
  reachable: 1,
  received: 0,
  isAtLeast: false,
  carried: 0,
  inbox: 0,
  stream: 0,
  push: 0,
  fetch: 0,
  unknown: 0,
  none: 0,
};
const DEED = { action: 'provider.set', object: {}, change: { plan: ['basic', 'pro'] } } as const;
const FAILING = { task: 'copy', failureCount: 3, failingSinceMs: 0 } as const;
const OWNER = { code: 'Provide1', plan: 'pro', activeUntilMs: null };

const FIGURES = {
  endsAtMs: 86_400_000,
  totalBytes: 10,
  usedBytes: 9,
  readAtMs: 0,
  source: 'proxy',
  sinceMs: 0,
  periodEndsAtMs: 86_400_000,
  periodTotalBytes: 10,
} as const;

/** One of every kind. */
const FOUND = { name: 'disk_full', level: 'problem', check: 'disk space' };

const ALL = [
  happenings.linkCreated(LINK),
  happenings.linkUpdated({ ...LINK, status: 5 }, { ...DEED, action: 'install.update' }),
  happenings.linkFull(LINK),
  happenings.linkRefused(
    { id: 1, installCode: 'LinkCode0001', note: 'n' },
    { reason: 'link_disabled', device: null, count: 1, day: 20_000 },
  ),
  subscriptions.linkEnding(1, FIGURES, 0),
  subscriptions.linkEnded(1, FIGURES),
  subscriptions.linkRenewed(1, FIGURES),
  subscriptions.linkTrafficLow(1, FIGURES, 80),
  subscriptions.linkInactive(1, 14, 0),
  subscriptions.remindersStopped(9, 90),
  happenings.linkRevoked({ id: 1, freedCount: 2, hadKey: true }),
  happenings.linkRemoved({ id: 1, freedCount: 2 }),
  happenings.linkTied({ id: 1, formerId: 2, movedCount: 1, leftCount: 0 }, 'tied'),
  happenings.linkCutOff({
    id: 1,
    installId: 2,
    state: 'done',
    why: null,
    deviceCount: 3,
    fetchUntilMs: 0,
  }),
  happenings.linkOverLimit(LINK, 'a'),
  happenings.deviceAdmitted(LINK, 'a'),
  happenings.hwidCopied(1, 'a', [{ family: 'ios', app: 'Happ', state: 'first' }]),
  ...(['deleted', 'inactive', 'replaced'] as const).map((why) =>
    happenings.slotEnded({ link: LINK, hwid: 'a', lastSeenAtMs: 0, newHwid: 'b' }, why),
  ),
  ...[100, 120, 130, 140].map((status) =>
    happenings.distributionEnded({ ...ENDED, status }, REACH),
  ),
  happenings.ending('subscription.ending', 0, 3),
  happenings.ending('certificate.ending', 0, 3),
  happenings.subscriptionEnded(0),
  happenings.quotaReached('links', 80, 8, 10),
  happenings.keyRotated(0),
  keyFirstUsed({ providerCode: 'Provide1', key: 'a1b2c3d4', keyName: LONG, right: 'cuts' }),
  changeWaits(
    { providerCode: 'Provide1', changed: 'texts', oldHosts: [], newHosts: [LONG, LONG] },
    0,
  ),
  happenings.webhookDisabled(1, 'webhook', LONG),
  happenings.backupFailed(FAILING, LONG),
  happenings.backupRecovered(FAILING),
  happenings.diskLow(1),
  happenings.doctorFound({ ...FOUND, finding: LONG }, LONG),
  happenings.doctorOver({ ...FOUND, finding: LONG }, 0),
  happenings.doctorFigures({
    day: '2026-11-20',
    admitted: 1,
    refused: 2,
    seen: 3,
    links: 4,
    sends: 5,
    delivered: 6,
  }),
  happenings.gatewayStopped('fcm', LONG),
  happenings.releaseAvailable('1.2.3', '1.2.2'),
  happenings.providerAdded('Provide1', 'pro'),
  happenings.providerChanged(OWNER, DEED),
  happenings.providerChanged(OWNER, { ...DEED, action: 'provider.suspend' }),
  happenings.providerChanged(OWNER, { ...DEED, action: 'provider.resume' }),
  happenings.providerKeyRotated('Provide1', 0),
  happenings.providerRemoved('Provide1'),
];

test('there is a function for every kind', () => {
  const kinds = new Set<string>([...PROVIDER_EVENTS, ...OPERATOR_EVENTS]);
  expect(new Set(ALL.map(({ kind }) => kind as string))).toEqual(kinds);
});

test('every kind has the fields that the documents name, in their order', () => {
  const told = ALL.map(({ kind, data }) => [kind, Object.keys(data)]);
  expect(told).toEqual(ALL.map(({ kind }) => [kind, [...EVENT_MEANINGS[kind].fields]]));
});

test('data is flat, and far below 20 KB', () => {
  for (const { data } of ALL) {
    for (const [name, fact] of Object.entries(data)) {
      expect(name).toMatch(/^[a-z_]+$/);
      expect(fact === null || typeof fact !== 'object').toBe(true);
    }
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(4_000);
  }
});

test('a shortened reason ends at a character', () => {
  const { data } = happenings.backupFailed(FAILING, `x${LONG}`);
  expect(String(data['reason']).isWellFormed()).toBe(true);
});
