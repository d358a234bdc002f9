/** Messages with placeholders: what is accepted, and what each device gets. */

import { describe, expect, test } from 'bun:test';
import { lengthOf } from '../../../src/core/message/fill-form.ts';
import { fillMessages, fillPayload, isFilled } from '../../../src/core/message/filling.ts';
import { glanceInboxes } from '../../../src/core/message/inbox.ts';
import { encodePayload } from '../../../src/core/message/notification.ts';
import { readNotification } from '../../../src/core/message/order.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { COMMAND, PUSH } from '../../../src/core/port/distribution.ts';
import type { FillReader, LinkFacts } from '../../../src/core/port/fill.ts';
import type { Message } from '../../../src/core/port/inbox.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 30);
const FACTS: LinkFacts = {
  endsAtMs: NOW_MS + 3 * DAY_MS,
  totalBytes: 2 ** 31,
  usedBytes: 2 ** 30,
  readAtMs: NOW_MS,
  deviceCount: 2,
  installLimit: 3,
  greeting: 'Anna',
  timeZone: null,
};

const read = (form: object, more: object = { fill: 1 }) =>
  readNotification(
    {
      PushNotificationForm: { type_push: 'optional', expire_days: 3, ...form },
      os: ['ios'],
      ...more,
    },
    NOW_MS,
  );

/** Reads a form that is accepted. */
function accepted(form: object, more?: object) {
  const order = read(form, more);
  if (isRefused(order)) throw new Error(order.detail ?? order.says);
  return order.payload;
}

describe('what is accepted', () => {
  const refused: [form: object, detail: string][] = [
    [{ body: 'x {note}' }, 'body has an unknown placeholder {note}'],
    [{ body: 'x {Days_left}' }, 'body has an unknown placeholder {Days_left}'],
    [{ body: '{days<b>_left</b>}' }, 'body has an unknown placeholder {days<_left<}'],
    [
      { body: 'x', locales: { RU: { body: '{дни}' } } },
      'locales.RU.body has an unknown placeholder {}',
    ],
    [{ body: 'x', title: 'Hi {greeting}' }, 'title has {greeting}'],
    [
      { body: 'x', link_for_open: 'https://example.org/?{greeting}' },
      'link_for_open has {greeting}',
    ],
    [
      { body: 'x', background_image: 'https://example.org/{limit}.png' },
      'background_image has {limit}',
    ],
    [{ body: 'x', locales: { RU: { title: '{limit}' } } }, 'locales.RU.title has {limit}'],
    [
      { body: 'x', locales: { RU: { 'link-for-open': 'https://example.org/{limit}' } } },
      'locales.RU.link-for-open has {limit}',
    ],
    [{ body: '<a href="https://example.org/{greeting}">x</a>' }, 'tag of body has {greeting}'],
    [
      { body: '<img src="https://example.org/a.png" alt="{greeting}">' },
      'tag of body has {greeting}',
    ],
  ];
  for (const [form, detail] of refused) {
    test(JSON.stringify(form), () => {
      const order = read(form);
      expect(isRefused(order) && order.says).toBe('malformed');
      expect(isRefused(order) && order.detail).toContain(detail);
      // Nothing of it is wrong in a message that is not filled.
      expect(isRefused(read(form, {}))).toBe(false);
    });
  }

  test('a message without the mark is what it was', () => {
    const form = { body: '{days_left} {note} {', title: '{x}', locales: { RU: { body: '{y}' } } };
    const plain = { ...form, type_push: 'optional', expire_days: 3 };
    for (const more of [{}, { fill: 0 }, { fill: '0' }, { fill: null }]) {
      expect(JSON.stringify(accepted(form, more))).toBe(
        JSON.stringify({
          title: plain.title,
          body: plain.body,
          locales: plain.locales,
          type_push: 'optional',
          expire_days: 3,
        }),
      );
    }
    // A field of the form is no mark.
    expect(accepted({ ...form, fill: 1 }, {})).not.toHaveProperty('fill');
    expect(isRefused(read({ body: 'x' }, { fill: 'yes' }))).toBe(true);
  });

  test('the bound of 4096 holds with the longest values, however long they are', () => {
    const body = '{greeting} {days_left} {traffic_left} ';
    const greeting = { ...FACTS, greeting: '"'.repeat(40) };
    let count = 0;
    while (!isRefused(read({ body: body.repeat(count + 1) }))) count += 1;
    expect(count).toBeGreaterThan(5);
    const payload = accepted({ body: body.repeat(count) });
    expect(lengthOf(payload)).toBeLessThanOrEqual(4096);
    for (const endsAtMs of [NOW_MS + 3_650 * DAY_MS, null]) {
      const filled = fillPayload(payload, { ...greeting, endsAtMs }, NOW_MS);
      expect(encodePayload(filled).length).toBeLessThanOrEqual(4096);
    }
    const over = read({ body: body.repeat(count + 1) });
    expect(isRefused(over) && over.says).toBe('message_too_large');
    expect(isRefused(read({ body: body.repeat(count + 1) }, {}))).toBe(false);
  });
});

describe('what a device gets', () => {
  test('each text in its language, without the mark', () => {
    const said = '{greeting}: {days_left|?}, {end_date}, {traffic_left}, {traffic_used}';
    const bodies = { RU: { body: said }, FA: { body: said }, CN: { title: 'T', body: said } };
    const payload = accepted({ body: `${said} {devices}/{limit}`, locales: bodies });
    const filled = JSON.parse(
      JSON.stringify(fillPayload(payload, FACTS, NOW_MS)).replace(/[\u00a0\u202f]/g, ' '),
    );
    expect(filled).toEqual({
      body: 'Anna: 3 days, December 3, 2026, 1 GB, 1 GB 2/3',
      locales: {
        RU: { body: 'Anna: 3 дня, 3 декабря 2026 г., 1 ГБ, 1 ГБ' },
        FA: { body: 'Anna: ۳ روز, ۱۲ آذر ۱۴۰۵, ۱ گیگابایت, ۱ گیگابایت' },
        CN: { title: 'T', body: 'Anna: 3天, 2026年12月3日, 1 GB, 1 GB' },
      },
      type_push: 'optional',
      expire_days: 3,
    });
  });

  test('a value of HTML is text', () => {
    const evil = { ...FACTS, greeting: '<a href="https://evil">&{limit}' };
    const { body } = fillPayload(accepted({ body: '<b>{greeting}</b>' }), evil, NOW_MS);
    expect(body).toBe('<b>&lt;a href=&quot;https://evil&quot;&gt;&amp;{limit}</b>');
  });

  test('traffic that was read over 48 hours ago is not known; an end stays true', () => {
    const payload = accepted({ body: '{days_left} {end_date} {traffic_left|?} {traffic_used|?}' });
    const at = (ageMs: number) =>
      fillPayload(payload, { ...FACTS, readAtMs: NOW_MS - ageMs }, NOW_MS).body.replace(
        /[\u00a0\u202f]/g,
        ' ',
      );
    expect(at(2 * DAY_MS - 1)).toBe('3 days December 3, 2026 1 GB 1 GB');
    expect(at(2 * DAY_MS)).toBe('3 days December 3, 2026 ? ?');
  });

  test('commands and other messages are the same objects, and nothing is read for them', async () => {
    const store = { findFillFacts: () => Promise.reject(new Error('it was read')) };
    const messages = [
      { providerId: 1, notificationType: COMMAND, payload: { action_type: 'x', fill: 1 } },
      { providerId: 1, notificationType: PUSH, payload: { body: '{limit}' } },
      { providerId: 1, notificationType: PUSH, payload: null },
    ];
    expect(messages.some(isFilled)).toBe(false);
    expect(await fillMessages(store, 1, messages, NOW_MS)).toBe(messages);
  });

  test('10,000 streams take one read for each look, not for each device', async () => {
    const stored = { body: '{greeting}', fill: 1, type_push: 'optional', expire_days: 1 };
    const times = { createdAtMs: 0, expiresAtMs: NOW_MS * 2 };
    const facts = { id: 7, providerId: 3, bytes: 99, notificationType: PUSH } as const;
    const message: Message = { ...facts, ...times, payload: stored };
    const devices = Array.from({ length: 10_000 }, (_, n) => ({ id: n }));
    let reads = 0;
    const core = {
      leastMs: (ms: number) => ms,
      signals: { onAcknowledged: () => () => {} },
      store: {
        glanceInboxes: async (holders: unknown[]) => holders.map(() => [message]),
        findFillFacts: async (readers: readonly FillReader[]) => {
          reads += 1;
          return readers.map(({ deviceId }) => ({ ...FACTS, greeting: `no ${deviceId}` }));
        },
      },
    };
    const found = await glanceInboxes(core as never, devices as never, NOW_MS);
    expect(reads).toBe(1);
    expect(found[0]).toEqual([{ ...message, payload: { ...withoutMark(stored), body: 'no 0' } }]);
    expect(found[9_999]).toMatchObject([{ id: 7, payload: { body: 'no 9999' } }]);
    // What all devices share stays as it was.
    expect(message.payload).toBe(stored);
  });
});

const withoutMark = ({ fill: _, ...payload }: { fill: number; [name: string]: unknown }) => payload;
