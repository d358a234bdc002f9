import { expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import {
  certificateNotice,
  diskNotice,
  subscriptionNotice,
} from '../../../src/core/event/notice.ts';

const END_MS = Date.UTC(2026, 11, 1);
const DAYS = [7, 3, 1];

test.each([
  [8, null],
  [7.001, null],
  [7, 7],
  [6.5, 7],
  [3, 3],
  [2.5, 3],
  [1, 1],
  [0.001, 1],
])('%d days before its end a subscription says %p', (before, days) => {
  const notice = subscriptionNotice(END_MS, DAYS, END_MS - before * DAY_MS);
  if (days === null) {
    expect(notice).toBeNull();
    return;
  }
  const data = { days, ends_at: '2026-12-01T00:00:00.000Z' };
  const left = Math.ceil(before);
  expect(notice?.happening).toEqual({
    kind: 'subscription.ending',
    data: { ...data, days: left },
  });
  expect(notice?.mark).toBe(`${END_MS} ${days}`);
});

test('each of its days has a mark of its own, and so has each end', () => {
  const marks = [7, 3, 1, 0].map(
    (before) => subscriptionNotice(END_MS, DAYS, END_MS - before * DAY_MS)?.mark,
  );
  const later = subscriptionNotice(END_MS + 1, DAYS, END_MS + 1)?.mark;
  expect(new Set([...marks, later]).size).toBe(5);
});

test('its end has a notice from its first moment on, also without days', () => {
  expect(subscriptionNotice(END_MS, [], END_MS - 1)).toBeNull();
  expect(subscriptionNotice(END_MS, [], END_MS)?.happening).toEqual({
    kind: 'subscription.ended',
    data: { ended_at: '2026-12-01T00:00:00.000Z' },
  });
});

test('a certificate says so from two weeks before, and when it is over', () => {
  expect(certificateNotice(END_MS, END_MS - 15 * DAY_MS)).toBeNull();
  expect(certificateNotice(END_MS, END_MS - 14 * DAY_MS)?.happening.data['days']).toBe(14);
  expect(certificateNotice(END_MS, END_MS + DAY_MS)?.happening.data['days']).toBe(0);
});

test('a disk is low below a gigabyte, once a UTC day', () => {
  expect(diskNotice(1e9, END_MS)).toBeNull();
  const low = diskNotice(1e9 - 1, END_MS);
  expect(low?.happening).toEqual({ kind: 'disk.low', data: { free_bytes: 1e9 - 1 } });
  expect(diskNotice(5, END_MS + DAY_MS - 1)?.mark).toBe(low?.mark as string);
  expect(diskNotice(5, END_MS + DAY_MS)?.mark).not.toBe(low?.mark as string);
});
