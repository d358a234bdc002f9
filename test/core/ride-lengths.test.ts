/** How long a text is in each app, and how long it stays: see `textLengthMax` and `keepsText`. */

import { expect, test } from 'bun:test';
import { appOf } from '../../src/core/app/find.ts';
import { type Riding, rideHeaders } from '../../src/core/ride/headers.ts';
import { announceWith } from '../../src/core/ride/text.ts';
import { NOTHING, ridingApp } from '../support/riding-apps.ts';

const NOTE = {
  title: 'Moving',
  body: 'We move tonight.',
  type_push: 'optional',
  expire_days: 3,
  link_for_open: 'https://shop.example/pay?id=7',
} as const;

const riding = (payload: typeof NOTE | object, phase: Riding['phase'] = 'rides'): Riding => ({
  distributionId: 7,
  part: 'message',
  payload: payload as typeof NOTE,
  phase,
});

const to = (agent: string) => ({
  app: appOf(agent),
  languages: ['en'],
  providerId: null,
  hosts: [],
});

function seen(name: string, rides: readonly Riding[], before = NOTHING) {
  const app = ridingApp(name);
  return app.shows(new Headers(rideHeaders(rides, to(app.userAgent)).headers), before);
}

test('a text of 600 characters has those that the app shows', () => {
  const body = 'слова и слова '.repeat(43);
  const length = (name: string) =>
    seen(name, [riding({ ...NOTE, body })])?.announcement?.length ?? 0;
  const shown = ['Prizrak-Box', 'Clod Clash for Android', 'Clod Clash'].map(length);
  for (const [at, most] of [200, 300, 500].entries()) {
    expect(shown[at]).toBeGreaterThan(most - 10);
    expect(shown[at]).toBeLessThanOrEqual(most);
  }
  // The link stays off where the longest text leaves no room.
  const link_for_open = `https://shop.example/${'x'.repeat(400)}`;
  const longest = riding({ ...NOTE, body: '服务器'.repeat(200), link_for_open });
  const { headers, announceText } = rideHeaders([longest], to('ClodClash/1.4.0'));
  expect([Object.keys(headers), announceText?.length]).toEqual([['announce'], 500]);
  // Beside it the text of the panel has no room.
  expect(announceWith('Pay by Friday', announceText ?? '', 'both')).toBe(headers['announce'] ?? '');
});

test('a text that ended is taken away in an app that keeps it, and only there', () => {
  const ended = [riding(NOTE, 'clears')];
  const before = seen('Prizrak-Box', [riding(NOTE)]) ?? NOTHING;
  expect(before.announcement).not.toBeNull();
  expect(seen('Prizrak-Box', [], before)?.announcement).toBe(before.announcement);
  expect(seen('Prizrak-Box', ended, before)).toEqual(NOTHING);
  for (const name of ['INCY', 'FlClashX', 'Koala Clash', 'Clod Clash', 'v2RayTun']) {
    expect(rideHeaders(ended, to(ridingApp(name).userAgent)).headers).toEqual({});
  }
  const next = [...ended, riding({ ...NOTE, title: 'Next' })];
  expect(seen('Prizrak-Box', next, before)?.announcement).toContain('Next');
});
