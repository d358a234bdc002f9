/** A month by a moved clock with the real jobs: what the chat of the operator gets, in order. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { OperatorError } from '../../src/base/operator-error.ts';
import { noticeAppliance } from '../../src/jobs/notice.ts';
import { readCertificate } from '../../src/tls/certificate.ts';
import { CertificateKeeper } from '../../src/tls/keeper.ts';
import { freshFolder } from '../support/app.ts';
import { filesIn, selfSigned, writePair } from '../support/certificate.ts';
import { DAY_MS, HOUR_MS } from '../support/delivery.ts';
import { type FakeChat, Nights } from '../support/nights.ts';

const FULL = new OperatorError('no space left on the disk of /b: nothing was changed', 'disk_full');
const FAILING = { from: 15, to: 21 };

let nights: Nights;
let keeper: CertificateKeeper;
let folder: string;
/** The midnight before the first night, UTC ms. */
let startMs: number;

beforeEach(async () => {
  nights = await Nights.open({ GATEPOST_BACKUP_AT: '03:30' });
  const { clock } = nights.engine;
  startMs = Math.ceil(clock.nowMs() / DAY_MS) * DAY_MS;
  clock.set(startMs);
  folder = freshFolder();
  await certify(21);
  const first = readCertificate(filesIn(folder), clock.nowMs());
  const { log } = nights;
  keeper = new CertificateKeeper({
    files: filesIn(folder),
    first,
    clock,
    log,
    use: async () => undefined,
  });
});
afterEach(async () => {
  keeper.stop();
  await nights.close();
  rmSync(folder, { recursive: true });
});

/** Puts a certificate there that ends after so many days of the month. */
async function certify(days: number): Promise<void> {
  writePair(folder, await selfSigned('gate', { fromMs: startMs - DAY_MS, days: days + 1 }));
}

/** Lives through a day: a backup at night, the minute's jobs each hour, what waits is sent. */
async function live(day: number): Promise<void> {
  const { clock, core } = nights.engine;
  const atMs = startMs + day * DAY_MS;
  for (let hour = 0; hour < 24; hour++) {
    clock.set(Math.max(clock.nowMs(), atMs + hour * HOUR_MS));
    await keeper.check();
    await noticeAppliance(core, keeper.current.expiresAtMs, clock.nowMs());
    if (hour === 3) {
      clock.set(atMs + 3.5 * HOUR_MS);
      nights.error = day >= FAILING.from && day <= FAILING.to ? FULL : null;
      await (await nights.start()).run();
    }
    await nights.deliver();
  }
}

/** The first lines of messages, with the day on which each came. */
function told({ messages }: FakeChat, lines = 2): string[] {
  return messages.map((message) => message.split('\n').slice(0, lines).join(' | '));
}

test('30 nights: a failing week, a certificate that is renewed, a chat that is blocked', async () => {
  const chat = await nights.addChat('1');
  const other = await nights.addChat('2');
  const got: [day: number, first: string][] = [];
  let othersLast = 0;
  for (let day = 0; day < 30; day++) {
    const before = chat.messages.length;
    if (day === 12) other.isBlocked = true;
    if (day === 10) await certify(90);
    await live(day);
    got.push(
      ...told(chat)
        .slice(before)
        .map((first): [number, string] => [day, first]),
    );
    if (day === 11) othersLast = other.messages.length;
  }
  expect(got).toEqual([
    [7, expect.stringMatching(/^Certificate expires soon \| Time left: 14\sdays/)],
    [15, expect.stringMatching(/^Backup failed \| Reason: no space left on the disk of \/b/)],
    [15, expect.stringMatching(new RegExp(`^Webhook disabled \\| .*#${other.id}`))],
    [22, expect.stringMatching(/^Backups work again \| Failed in a row: 7/)],
  ]);
  // The other chat got what came before it was blocked.
  expect([othersLast, other.messages.length]).toEqual([1, 1]);
  const failures = nights.lines.filter((line) => line.includes('"backup_failed"'));
  expect(failures).toHaveLength(7);
});

test('a failure that lasts is repeated once a week', async () => {
  const chat = await nights.addChat('1');
  await certify(400);
  for (let day = 0; day < 30; day++) {
    nights.engine.clock.set(startMs + day * DAY_MS + 3.5 * HOUR_MS);
    nights.error = FULL;
    await (await nights.start()).run();
    await nights.deliver();
  }
  expect(told(chat, 3).map((first) => /row: (\d+)/.exec(first)?.[1] ?? '1')).toEqual([
    ...['1', '8', '15', '22', '29'],
  ]);
});
