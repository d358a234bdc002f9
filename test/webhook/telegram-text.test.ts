/** Texts for Telegram: every kind of event in every language, whatever the values hold. */

import { describe, expect, test } from 'bun:test';
import {
  type EventData,
  FOLDED_EVENT,
  OPERATOR_EVENTS,
  PROVIDER_EVENTS,
  type StoredEvent,
  TEST_EVENT,
} from '../../src/core/port/event.ts';
import { CHAT_FACTS, WEBHOOK_LOCALES } from '../../src/core/port/webhook.ts';
import { telegramText } from '../../src/webhook/telegram/text.ts';

const AT_MS = Date.UTC(2026, 10, 30, 12, 5);
const KINDS = [
  ...new Set<StoredEvent['kind']>([
    ...PROVIDER_EVENTS,
    ...OPERATOR_EVENTS,
    ...([FOLDED_EVENT, TEST_EVENT] as const),
  ]),
];

const event = (kind: StoredEvent['kind'], data: EventData = {}): StoredEvent => ({
  id: 1,
  providerId: 1,
  kind,
  atMs: AT_MS,
  data,
});
/** The text without tags and without the marks of direction. */
const plain = (html: string) =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/[\u200F\u2068\u2069]/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** Every field that an event may have, as long and as odd as it may be. */
const EVERYTHING: EventData = {
  provider_code: 'Provide1',
  install_id: 3,
  device_name: '<b>&'.repeat(500),
  hwid: 'h'.repeat(128),
  new_hwid: '&'.repeat(128),
  install_count: 2,
  install_limit: 3,
  status: 10,
  last_seen_at: '2026-11-29T10:00:00.000Z',
  reason: '<'.repeat(500),
  count: 1000,
  distribution_id: 5,
  type: 'command',
  recipients: 12_345,
  sent: 12_000,
  failed: 345,
  reachable: 2_000,
  at_least: true,
  changed: 'install_limit,note,x'.repeat(50),
  quota: 'kept_bytes',
  percent: 80,
  used: 214_748_364,
  limit: 268_435_456,
  days: 3,
  ends_at: '2026-12-03T21:00:00.000Z',
  ended_at: '2026-12-04T21:00:00.000Z',
  active_until: '2026-12-03T21:00:00.000Z',
  plan: 'pro',
  old_key_until: '2026-12-03T21:00:00.000Z',
  webhook_id: 9,
  gateway: 'fcm',
  free_bytes: 1_230_000_000,
  check: 'disk space',
  finding: '<'.repeat(500),
  todo: '&'.repeat(300),
  since: '2026-12-03T21:00:00.000Z',
  day: '2026-11-29',
  admitted: 1_000,
  refused: 2_000,
  seen: 3_000,
  links: 4,
  sends: 5,
  delivered: 6_000,
  problem: '>'.repeat(500),
  why: '\u202Eevil\u0007',
};

describe.each(WEBHOOK_LOCALES)('%s', (locale) => {
  test('every kind has a title of its own', () => {
    const titles = KINDS.map((kind) => telegramText(event(kind), locale).split('\n')[0] ?? '');
    expect(new Set(titles).size).toBe(KINDS.length);
    for (const title of titles) expect(title).toMatch(/^\u200F?<b>[^<]{4,60}<\/b>$/);
  });

  test('every kind, with all that any event may say, is HTML that Telegram takes', () => {
    for (const kind of KINDS) {
      const html = telegramText(event(kind, EVERYTHING), locale, { shows: CHAT_FACTS });
      expect(plain(html).length).toBeLessThanOrEqual(4096);
      const withoutTags = html.replace(/<\/?(?:b|code)>/g, '');
      expect(withoutTags).not.toMatch(/[<>]|&(?!lt;|gt;|amp;)/);
      expect(html.split('<code>').length).toBe(html.split('</code>').length);
    }
  });

  test('no value turns the text around it, or holds a control', () => {
    const html = telegramText(event('webhook.disabled', EVERYTHING), locale);
    expect(html).not.toMatch(/[\u202A-\u202E\u0007]/);
    expect(plain(html)).toContain('evil');
  });

  test('a long value is cut at a character', () => {
    const html = telegramText(event('disk.low', { why: '\u{1F600}'.repeat(5_000) }), locale);
    expect(html.isWellFormed()).toBe(true);
    expect(plain(html)).toContain('\u{1F600}…');
    expect(plain(html).length).toBeLessThan(600);
  });

  test('what an event does not say has no line', () => {
    const lines = telegramText(
      event('link.created', { install_id: 3, hwid: '', why: null }),
      locale,
    );
    expect(lines.split('\n')).toHaveLength(3);
  });

  test('no line is said twice, and none is empty', () => {
    const lines = plain(telegramText(event('link.updated', EVERYTHING), locale)).split('\n');
    expect(
      lines.filter((line) => line.trim() === '' || /(?:null|undefined|NaN)/.test(line)),
    ).toEqual([]);
    expect(new Set(lines).size).toBe(lines.length);
  });
});

describe('whole texts', () => {
  const admitted = event('device.admitted', {
    install_id: 3,
    hwid: 'my-phone',
    install_count: 2,
    install_limit: 3,
  });
  const TEXTS = {
    en: 'New device\nLink: #3\nHWID: my-phone\nDevices: 2 of 3\nTime: Nov 30, 2026, 12:05 UTC',
    ru: 'Подключено новое устройство\nСсылка: №3\nHWID: my-phone\nУстройств: 2 из 3\nВремя: 30 нояб. 2026 г., 12:05 UTC',
    zh: '新设备已接入\n链接：#3\nHWID：my-phone\n设备数：2 / 3\n时间：2026年11月30日 12:05 UTC',
    fa: 'دستگاه جدید اضافه شد\nلینک: #3\nHWID: my-phone\nدستگاه‌ها: ۲ از ۳\nزمان: ۹ آذر ۱۴۰۵، ۱۲:۰۵ UTC',
  };
  test.each(WEBHOOK_LOCALES)('%s', (locale) => {
    const whole = plain(telegramText(admitted, locale, { shows: CHAT_FACTS }));
    expect(whole).toBe(TEXTS[locale]);
    const withoutPhone = TEXTS[locale].replace(/\nHWID.*/, '');
    expect(plain(telegramText(admitted, locale))).toBe(withoutPhone);
  });

  const found = event('doctor.found', {
    name: 'disk_full',
    level: 'problem',
    check: 'disk space',
    finding: 'the disk of path-1 is full',
    todo: 'free space',
  });
  const PROBLEM = 'disk space: the disk of path-1 is full';
  const problems: [(typeof WEBHOOK_LOCALES)[number], ...string[]][] = [
    ['en', 'Problem found', `Found: ${PROBLEM}`, 'What to do: free space'],
    ['ru', 'Обнаружена проблема', `Обнаружено: ${PROBLEM}`, 'Что делать: free space'],
    ['zh', '发现问题', `发现：${PROBLEM}`, '处理方法：free space'],
    ['fa', 'مشکلی پیدا شد', `یافته: ${PROBLEM}`, 'چه باید کرد: free space'],
  ];
  test.each(problems)('of a problem in %s', (locale, ...lines: string[]) => {
    expect(plain(telegramText(found, locale)).split('\n').slice(0, 3)).toEqual([...lines]);
    const warning = event('doctor.found', { ...found.data, level: 'warning' });
    expect(plain(telegramText(warning, locale)).split('\n')[0]).not.toBe(lines[0]);
  });

  test('numbers, sizes and days are those of the language', () => {
    const low = event('disk.low', { free_bytes: 1_230_000_000 });
    const ending = event('subscription.ending', { days: 3 });
    const line = (one: StoredEvent, locale: (typeof WEBHOOK_LOCALES)[number]) =>
      plain(telegramText(one, locale)).split('\n')[1];
    expect(WEBHOOK_LOCALES.map((locale) => line(low, locale))).toEqual([
      'Free space: 1.2 GB',
      'Свободно: 1,2 ГБ',
      '可用空间：1.2 GB',
      'فضای آزاد: ۱٫۲ گیگابایت',
    ]);
    expect(WEBHOOK_LOCALES.map((locale) => line(ending, locale))).toEqual([
      'Time left: 3 days',
      'Осталось: 3 дня',
      '剩余时间：3天',
      'زمان باقی‌مانده: ۳ روز',
    ]);
  });

  test('how many recipients can get a message, without a line where there are none', () => {
    const sent = (recipients: number, at_least = false) =>
      event('distribution.finished', { recipients, reachable: recipients && 14, at_least });
    const line = (one: StoredEvent, locale: (typeof WEBHOOK_LOCALES)[number]) =>
      plain(telegramText(one, locale)).split('\n')[2];
    expect(WEBHOOK_LOCALES.map((locale) => line(sent(120), locale))).toEqual([
      'Can get messages: 14 of 120',
      'Могут получить: 14 из 120',
      '可接收的设备：14 / 120',
      'قادر به دریافت: ۱۴ از ۱۲۰',
    ]);
    expect(line(sent(120, true), 'en')).toBe('Can get messages: at least 14 of 120');
    expect(line(sent(0), 'en')).toStartWith('Time:');
    // On subscriptions it comes too.
    const riding = { recipients: 120, reachable: 14, at_next_fetch: 80 };
    expect(line(event('distribution.finished', riding), 'en')).toBe('Can get messages: 94 of 120');
  });

  test('a quota that is nearly used up is no limit that is reached', () => {
    const used = (percent: number) =>
      plain(
        telegramText(
          event('quota.reached', { quota: 'links', percent, used: percent, limit: 100 }),
          'ru',
        ),
      ).split('\n');
    expect(used(80).slice(0, 3)).toEqual([
      'Лимит почти исчерпан',
      'Лимит: ссылки',
      'Использовано: 80 из 100 (80\u00A0%)',
    ]);
    expect(used(100)[0]).toBe('Лимит исчерпан');
  });

  test('what changed is named', () => {
    const changed = event('link.updated', { changed: 'install_limit,note' });
    const line = (locale: (typeof WEBHOOK_LOCALES)[number]) =>
      plain(telegramText(changed, locale)).split('\n')[1];
    expect(WEBHOOK_LOCALES.map(line)).toEqual([
      'Changed: device limit, note',
      'Изменено: лимит устройств, заметка',
      '修改内容：设备数上限、备注',
      'تغییرات: محدودیت دستگاه، یادداشت',
    ]);
  });

  test('the status of a link is a word; that of a distribution is in its title', () => {
    const status = (kind: StoredEvent['kind'], value: number) =>
      plain(telegramText(event(kind, { status: value }), 'en')).split('\n');
    expect(status('link.updated', 5)).toContain('Status: disabled');
    expect(status('distribution.finished', 110)).toHaveLength(2);
  });
});

test('a subscription that ends, with its traffic as panels count it', () => {
  const data = {
    install_id: 3,
    days: 3,
    ends_at: '2026-12-03T10:00:00.000Z',
    total_bytes: 10 * 1024 ** 3,
    used_bytes: 9 * 1024 ** 3,
    read_at: '2026-11-30T10:00:00.000Z',
  };
  const said = (locale: (typeof WEBHOOK_LOCALES)[number]) =>
    plain(telegramText(event('link.ending', data), locale)).replace(/[\u00a0\u202f]/g, ' ');
  expect(said('en').split('\n').slice(0, 5)).toEqual([
    'A subscription ends soon',
    'Link: #3',
    'Time left: 3 days',
    'Ends: Dec 3, 2026, 10:00 UTC',
    'Traffic used: 9 GB of 10 GB',
  ]);
  expect(said('ru')).toContain('Израсходовано трафика: 9 ГБ из 10 ГБ');
  expect(said('zh')).toContain('用户订阅即将到期');
  expect(said('fa')).toContain('اشتراک کاربر به‌زودی تمام می‌شود');
});

describe('Persian', () => {
  const html = telegramText(event('device.admitted', EVERYTHING), 'fa', { shows: CHAT_FACTS });

  test('every line runs from right to left, whatever it begins with', () => {
    for (const line of html.split('\n')) expect(line).toStartWith('\u200F');
  });

  test('values from left to right are set apart, each set-apart is closed', () => {
    expect(html).toContain('\u2068<code>');
    for (const line of html.split('\n')) {
      expect(line.split('\u2068').length).toBe(line.split('\u2069').length);
    }
  });

  test('is written in its own letters, with the joiners that it needs', () => {
    const ARABIC_FORMS = /[\u064A\u0643\u0629\u0660-\u0669]/;
    for (const kind of KINDS) {
      expect(telegramText(event(kind, EVERYTHING), 'fa')).not.toMatch(ARABIC_FORMS);
    }
  });
});

describe.each(WEBHOOK_LOCALES)('what a chat was not given (%s)', (locale) => {
  const SECRETS = {
    note: { note: 'Anna Petrova' },
    phone: {
      hwid: 'phone-of-anna',
      new_hwid: 'new-of-anna',
      former_hwid: 'old-of-anna',
      device_name: 'Pixel of Anna',
      os: 'os-of-anna',
    },
    code: { code: 'Code…', install_code: 'CodeOfAnna12', installid: 'CodeOfAnna12' },
  };
  const data = { install_id: 3, ...SECRETS.note, ...SECRETS.phone, ...SECRETS.code };
  const secretsIn = (kind: StoredEvent['kind'], shows: readonly (keyof typeof SECRETS)[]) => {
    const facts = CHAT_FACTS.filter((fact) => shows.includes(fact));
    const text = plain(telegramText(event(kind, data), locale, { shows: facts }));
    const found = (secret: object) =>
      Object.values(secret).filter((value) => text.includes(value)).length;
    return { note: found(SECRETS.note), phone: found(SECRETS.phone), code: found(SECRETS.code) };
  };

  test('is in no text of any kind; the code is in none, whatever it was given', () => {
    for (const kind of KINDS) {
      expect([kind, secretsIn(kind, [])]).toEqual([kind, { note: 0, phone: 0, code: 0 }]);
      expect([kind, secretsIn(kind, ['note'])]).toEqual([kind, { note: 1, phone: 0, code: 0 }]);
      expect([kind, secretsIn(kind, ['phone'])]).toEqual([kind, { note: 0, phone: 5, code: 0 }]);
      expect([kind, secretsIn(kind, ['note', 'phone'])]).toEqual([
        kind,
        { note: 1, phone: 5, code: 0 },
      ]);
    }
  });
});

test('a refusal of a phone has the number of the link and the reason', () => {
  const data = {
    install_id: 3,
    reason: 'link_limit_reached',
    phone_count: 10,
    hwid: 'a',
    note: 'b',
  };
  expect(plain(telegramText(event('link.refused', data), 'en'))).toBe(
    'Device refused\nLink: #3\nReason: the link is full\nRefusals of this phone: 10\nTime: Nov 30, 2026, 12:05 UTC',
  );
  const first = telegramText(event('link.refused', { ...data, phone_count: 1 }), 'en');
  expect(first).not.toContain('Refusals');
});

test('the sums of an hour have the refusals, the phones and the links', () => {
  const since = '2026-11-30T11:00:00.000Z';
  const sum = event('events.folded', { refusals: 37, phones: 12, install_ids: '3,7', since });
  expect(plain(telegramText(sum, 'en')).split('\n')).toEqual([
    ...['Not reported one by one', 'Further refusals: 37', 'New phones among them: 12'],
    ...['Links: #3, #7', 'Since: Nov 30, 2026, 11:00 UTC', 'Time: Nov 30, 2026, 12:05 UTC'],
  ]);
});

test('a refusal names the slot that the device seems to have had', () => {
  const refused = event('link.refused', { install_id: 3, hwid: 'new', former_hwid: 'old' });
  const text = telegramText(refused, 'en', { shows: ['phone'] });
  expect(text).toContain('Seems to have been: <code>old</code>');
  expect(telegramText(event('link.refused', { hwid: 'new' }), 'en')).not.toContain('old');
});

test('a full link names the page of users, if its provider has it', () => {
  const page = 'https://gatepost.example.org/my';
  const refused = event('link.refused', { install_id: 3, has_page: true });
  expect(telegramText(refused, 'en', { page })).toContain(page);
  expect(telegramText(refused, 'en')).not.toContain(page);
  expect(telegramText(event('link.refused', { install_id: 3 }), 'en', { page })).not.toContain(
    page,
  );
});
