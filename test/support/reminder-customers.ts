/**
 * Customers of a panel for a month, and a judge's own rules about their reminders; they share no
 * code with src.
 */

import { Random } from './random.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
const GB = 1024 ** 3;
export const TOTAL = 100 * GB;
/** A period that a customer pays for. */
export const PERIOD_MS = 12 * DAY_MS;
/** At night nothing is sent, in UTC+3: from 23 to 8 o'clock. */
export const NIGHT = { quietFrom: '23:00', quietTo: '08:00' } as const;
export const isNight = (atMs: number) => {
  const hour = new Date(atMs + 3 * HOUR_MS).getUTCHours();
  return hour >= 23 || hour < 8;
};

/** Ten apps, by what they call themselves. */
export const TEN_APPS: Readonly<Record<string, string>> = {
  Happ: 'Happ/3.4.1/Android',
  INCY: 'INCY/2.1.0/iOS',
  FlClashX: 'FlClash X/v0.3.2 Platform/android',
  'Koala Clash': 'koala-clash/v0.2.4',
  v2RayTun: 'v2raytun/android',
  'Prizrak-Box': 'Clash-Meta/Prizrak-Box (Windows)',
  'Clod Clash': 'ClodClash/1.2.0',
  Karing: 'karing/1.1.2',
  Throne: 'Throne/1.0.8',
  v2rayNG: 'v2rayNG/1.9.5',
};
export const LANGUAGES = ['en', 'ru', 'fa', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The reminders of the month, by what their texts begin with. */
export const RULES = {
  B72: { kind: 'before_end', amount: 72 },
  B24: { kind: 'before_end', amount: 24 },
  T80: { kind: 'traffic', amount: 80 },
  T95: { kind: 'traffic', amount: 95 },
  A1: { kind: 'after_end', amount: 1 },
} as const;
export type Tag = keyof typeof RULES;
export const TAGS = Object.keys(RULES) as Tag[];

/** What a panel knows of a customer. */
export interface Standing {
  endsAtMs: number;
  usedBytes: number;
  /** How often the customer has paid. */
  paidCount: number;
}

export interface Customer {
  n: number;
  key: string;
  hwid: string;
  app: string;
  language: Language;
  /** False: the app fetches every fourth day. */
  isDaily: boolean;
  minuteOfDay: number;
  payAtMs: number[];
  refreshes: boolean;
  bytesPerMs: number;
  paidFromMs: number;
  now: Standing;
  /** What the last fetch told, and when. */
  told: (Standing & { atMs: number }) | null;
  token: string | null;
  sent: { tag: Tag; atMs: number; paidCount: number }[];
  /** Whole passes that should have sent a reminder, and did not. */
  missedBy: Partial<Record<Tag, number>>;
}

export interface MonthOptions {
  customers: number;
  seed: number;
  days?: number;
  stepMinutes?: number;
  /** The chance that a pass is killed. */
  killChance?: number;
  /** True: the API of the panel can be asked before a reminder. */
  asksPanel?: boolean;
  onDay?(day: number): void;
}

/** Whether a reminder is true of what is known: the judge's own rules. */
export function isTrue(tag: Tag, { endsAtMs, usedBytes }: Standing, atMs: number): boolean {
  const leftMs = endsAtMs - atMs;
  if (tag === 'A1') return leftMs <= -DAY_MS;
  if (leftMs <= 0) return false;
  if (tag === 'T80' || tag === 'T95') return usedBytes / TOTAL >= RULES[tag].amount / 100;
  return leftMs <= RULES[tag].amount * HOUR_MS;
}

/** The reminders that a customer is to have now: the nearest of each kind. */
export function wantedNow(known: Standing, atMs: number): Tag[] {
  const is = (tag: Tag) => isTrue(tag, known, atMs);
  const end: Tag[] = is('B24') ? ['B24'] : is('B72') ? ['B72'] : [];
  const traffic: Tag[] = is('T95') ? ['T95'] : is('T80') ? ['T80'] : [];
  const late: Tag[] = is('A1') && known.endsAtMs - atMs > -3 * DAY_MS ? ['A1'] : [];
  return [...end, ...traffic, ...late];
}

export const recent = ({ sent }: Customer, atMs: number) =>
  sent.filter((one) => one.atMs > atMs - 7 * DAY_MS);

export const codeOf = (n: number) => `LinkCode${String(n).padStart(4, '0')}`;

export function customersOf({ customers, seed }: MonthOptions, startMs: number): Customer[] {
  const random = new Random(seed);
  const apps = Object.keys(TEN_APPS);
  return Array.from({ length: customers }, (_, n) => {
    const endsAtMs = startMs + random.int(2 * 24 * 60, 12 * 24 * 60) * MINUTE_MS;
    const late = () => random.int(-60, 36) * HOUR_MS;
    const firstMs = endsAtMs + late();
    const secondEndMs = Math.max(endsAtMs, firstMs) + PERIOD_MS;
    return {
      n,
      key: `key-of-customer-${String(n).padStart(4, '0')}`,
      hwid: `phone-${n}`,
      app: apps[n % apps.length] ?? '',
      language: LANGUAGES[Math.floor(n / 10) % 4] ?? 'en',
      isDaily: random.chance(0.9),
      minuteOfDay: random.int(0, 1_439),
      payAtMs: [firstMs, secondEndMs + late()],
      refreshes: random.chance(0.5),
      bytesPerMs: (random.next() * 1.2 * TOTAL) / PERIOD_MS,
      paidFromMs: startMs,
      now: { endsAtMs, usedBytes: 0, paidCount: 0 },
      told: null,
      token: null,
      sent: [],
      missedBy: {},
    };
  });
}
