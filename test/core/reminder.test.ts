/** The rules of reminders: their texts, their links, their defaults, and what keys change. */

import { describe, expect, test } from 'bun:test';
import { fillPayload } from '../../src/core/message/filling.ts';
import { plainText } from '../../src/core/message/plain-text.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { Reminder } from '../../src/core/port/reminder.ts';
import { reminderPayload, reminderState, tryTexts } from '../../src/core/reminder.ts';
import { AMOUNTS } from '../../src/core/reminder-fields.ts';
import { addressesIn, foreignAddress, hostOf } from '../../src/core/reminder-links.ts';
import { DEFAULT_REMINDERS, INACTIVE_REMINDER } from '../../src/core/reminder-texts.ts';
import { formerButtonsOf, formerOf, usedNow, WAIT_MS } from '../../src/core/unconfirmed.ts';
import { ACT, actOfKey } from '../support/actor.ts';

const DAY_MS = 86_400_000;
const NOW_MS = ACT.atMs;
/** The host of chats in Telegram, on which anybody has a page. */
const CHATS = ['t', 'me'].join('.');
const OURS = 'https://shop.example/pay?a=1&b=2';
const OWNER = {
  id: 1,
  confirmedAtMs: 0,
  supportUrl: `https://${CHATS}/ourshop`,
  webPageUrl: OURS,
  formerButtons: null,
  buttonsAtMs: 0,
};
const REMINDER: Reminder = {
  id: 1,
  kind: 'before_end',
  amount: 72,
  texts: { en: 'Ends on {end_date}.', ru: 'До {end_date}.' },
  formerTexts: null,
  textsAtMs: 0,
  pushText: 'neutral',
  enabled: 1,
  createdAtMs: NOW_MS,
};
const FACTS = {
  endsAtMs: NOW_MS + 3 * DAY_MS,
  totalBytes: 100 * 1024 ** 3,
  usedBytes: 80 * 1024 ** 3,
  readAtMs: NOW_MS,
  deviceCount: 2,
  installLimit: 3,
  greeting: null,
  timeZone: null,
};

const detailOf = (texts: unknown) => {
  const read = tryTexts(OWNER, texts, NOW_MS);
  return isRefused(read) ? read.detail : 'ok';
};

describe('texts', () => {
  test('have languages, words and known placeholders, and fit a message', () => {
    expect(detailOf({ en: 'Hi', 'pt-br': '<b>Oi</b> {days_left}', RU: 'Привет' })).toBe('ok');
    expect(detailOf('Hi')).toBe('texts must be an object with a text for each language');
    expect(detailOf({})).toBe('texts must have 1 to 16 languages');
    const many = Object.fromEntries(
      Array.from({ length: 17 }, (_, n) => [`l${'abcdefghijklmnopq'[n]}`, 'x']),
    );
    expect(detailOf(many)).toBe('texts must have 1 to 16 languages');
    expect(detailOf({ 'e n': 'Hi' })).toContain('is not a language');
    expect(detailOf({ en: 'Hi', ru: '<script>x</script>' })).toContain('is empty');
    expect(detailOf({ en: 5 })).toContain('must be a string');
    expect(detailOf({ en: '{day_left}' })).toContain('unknown placeholder');
    expect(detailOf({ en: 'x'.repeat(4_000) })).toContain('texts are too long');
    // A placeholder counts with the longest value that it can get.
    expect(detailOf({ en: '{greeting}'.repeat(20) })).toContain('texts are too long');
  });

  test('link to hosts of the pages alone, in whatever way', () => {
    for (const fine of [
      `<a href="${OURS.replace('&', '&amp;')}">Pay</a>`,
      '<a href="https://shop.example/other">Pay</a> or shop.example',
      `<a href="https://${CHATS}/OurShop?start=1">Ask</a> ${CHATS}/ourshop`,
      'Version 2.0, e.g. this one: 80.5 %. Renew it.',
    ]) {
      expect(detailOf({ en: fine })).toBe('ok');
    }
    for (const foreign of [
      '<a href="https://evil.example/pay">Pay</a>',
      '<a href="https://shop.example.evil.example/">Pay</a>',
      '<a href="https://shop.example@evil.example/">Pay</a>',
      `<a href="https://${CHATS}/thief">Ask</a>`,
      '<a href="tg://resolve?domain=thief">Ask</a>',
      '<img src="https://evil.example/x.png" alt="x">',
      'Pay at https://evil.example/',
      'Pay at evil.example',
      'Pay at Evil.Example/pay, now',
      `Pay at ${CHATS}/thief`,
      'Оплата: платёж.com',
      '{days_left|evil.example}',
    ]) {
      expect(detailOf({ en: 'Hi', fa: foreign })).toBe(
        'texts.fa has an address that is not on a host of support_url or web_page_url',
      );
    }
    expect(addressesIn('<b>5 &lt; 6</b>')).toEqual([]);
    expect(hostOf(`https://${CHATS}/OurShop`)).toBe(`${CHATS}/ourshop`);
    expect(hostOf(null)).toBeNull();
    const tg = { supportUrl: 'tg://resolve?domain=us', webPageUrl: null };
    expect(foreignAddress('<a href="tg://resolve?domain=us">Ask</a>', tg)).toBeNull();
  });

  test('of the defaults are filled in four languages, without a braces or a dash for a value', () => {
    for (const { amount, kind, texts } of [...DEFAULT_REMINDERS, INACTIVE_REMINDER]) {
      expect(Object.keys(texts)).toEqual(['en', 'ru', 'zh', 'fa']);
      expect(isRefused(AMOUNTS[kind].read(amount))).toBe(false);
      const payload = tryTexts(OWNER, texts, NOW_MS);
      if (isRefused(payload)) throw new Error(payload.detail);
      const { body, locales = {} } = fillPayload(payload, FACTS, NOW_MS);
      const all = [body, ...Object.values(locales).map((one) => one.body ?? '')];
      expect(all).toHaveLength(4);
      for (const text of all) expect(plainText(text)).not.toMatch(/[{}–]|\.\.|undefined/);
    }
    const [threeDays] = DEFAULT_REMINDERS;
    const payload = tryTexts(OWNER, threeDays?.texts, NOW_MS);
    if (isRefused(payload)) throw new Error(payload.detail);
    const { locales } = fillPayload(payload, FACTS, NOW_MS);
    expect(locales?.['ru']?.body?.replace(/\u00a0/g, ' ')).toBe(
      'Ваша подписка действует до 23 ноября 2026 г., осталось 3 дня. Продлите её заранее, чтобы связь не прервалась.',
    );
  });
});

describe('the notification of a reminder', () => {
  test('is in English, or else the first language, for all others, and opens the page', () => {
    const payload = reminderPayload(REMINDER, OWNER, NOW_MS);
    expect(payload).toEqual({
      body: 'Ends on {end_date}.',
      locales: { ru: { body: 'До {end_date}.' } },
      link_for_open: OURS,
      type_push: 'optional',
      expire_days: 2,
      fill: 1,
    });
    const texts = { fa: 'سلام', ru: 'Привет' };
    expect(reminderPayload({ ...REMINDER, texts }, OWNER, NOW_MS)).toMatchObject({ body: 'سلام' });
  });

  test('has the texts before a key changed them, until a day is over or a person confirms', () => {
    const textsAtMs = NOW_MS;
    const written = { ...REMINDER, formerTexts: { en: 'Before' }, textsAtMs };
    const bodyAt = (atMs: number, confirmedAtMs = 0) => {
      const payload = reminderPayload(written, { ...OWNER, confirmedAtMs }, atMs);
      return typeof payload === 'string' ? payload : payload.body;
    };
    expect(bodyAt(NOW_MS)).toBe('Before');
    expect(bodyAt(NOW_MS + WAIT_MS - 1)).toBe('Before');
    expect(bodyAt(NOW_MS + WAIT_MS)).toBe('Ends on {end_date}.');
    expect(bodyAt(NOW_MS, NOW_MS - 1)).toBe('Before');
    expect(bodyAt(NOW_MS, NOW_MS)).toBe('Ends on {end_date}.');
  });

  test('opens the page before a key moved it', () => {
    const formerButtons = JSON.stringify({ supportUrl: null, webPageUrl: OURS });
    const moved = { webPageUrl: 'https://evil.example/', formerButtons, buttonsAtMs: NOW_MS };
    const payload = reminderPayload(REMINDER, { ...OWNER, ...moved }, NOW_MS);
    expect(payload).toMatchObject({ link_for_open: OURS });
  });

  test('is none while it is off, waits, or leads to a host that is the provider’s no more', () => {
    const stateOf = (more: Partial<Reminder>, owner: Partial<typeof OWNER> = {}) =>
      reminderState({ ...REMINDER, ...more }, { ...OWNER, ...owner }, NOW_MS);
    expect(stateOf({})).toBe('on');
    expect(stateOf({ enabled: 0 })).toBe('off');
    expect(stateOf({ textsAtMs: NOW_MS })).toBe('waits');
    const texts = { en: `<a href="${OURS}">Pay</a>` };
    expect(stateOf({ texts })).toBe('on');
    expect(stateOf({ texts }, { webPageUrl: 'https://new.example/' })).toBe('foreign_link');
  });
});

describe('what keys change', () => {
  const key = actOfKey('Provide1');
  const later = actOfKey('Provide1', NOW_MS + WAIT_MS - 1);

  test('the former value is the one that was used, whoever wrote it', () => {
    const settled = { now: 'a', former: null, atMs: 0 };
    expect(formerOf(settled, 0, ACT)).toEqual({ former: null, atMs: 0 });
    expect(formerOf(settled, 0, key)).toEqual({ former: 'a', atMs: NOW_MS });
    const waiting = { now: 'b', former: 'a', atMs: NOW_MS };
    expect(formerOf(waiting, 0, later)).toEqual({ former: 'a', atMs: later.atMs });
    expect(formerOf(waiting, NOW_MS, later)).toEqual({ former: 'b', atMs: later.atMs });
    expect(usedNow(waiting, 0, NOW_MS)).toBe('a');
    expect(formerOf(null, 0, key)).toEqual({ former: null, atMs: NOW_MS });
  });

  test('a person settles the address that they set, and no other', () => {
    const before = { supportUrl: 'a', webPageUrl: 'evil' };
    const waiting = {
      ...before,
      formerButtons: JSON.stringify({ supportUrl: 'a', webPageUrl: 'b' }),
      buttonsAtMs: NOW_MS,
    };
    const set = { supportUrl: 'c', webPageUrl: 'evil' };
    expect(formerButtonsOf(waiting, set, 0, ACT)).toEqual({
      formerButtons: JSON.stringify({ supportUrl: 'c', webPageUrl: 'b' }),
      buttonsAtMs: NOW_MS,
    });
    const back = { supportUrl: 'a', webPageUrl: 'd' };
    expect(formerButtonsOf(waiting, back, 0, ACT)).toEqual({ formerButtons: null, buttonsAtMs: 0 });
  });
});
