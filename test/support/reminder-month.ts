/**
 * A month of a panel's customers by a moved clock: their apps fetch through the proxy, they use
 * traffic up and pay twice, and reminders go out from two nodes that are killed now and then. A
 * judge who shares no code with src says who is to be reminded; each difference is a fault.
 */

import { actingAs } from '../../src/core/core.ts';
import { hostHash } from '../../src/core/host-name.ts';
import type { Store } from '../../src/core/port/store.ts';
import { withMethods } from '../../src/core/port/store.ts';
import { makePasses, PassMemory } from '../../src/core/reminder-pass.ts';
import { readAnnounce } from '../../src/core/ride/text.ts';
import { ACT } from './actor.ts';
import { call } from './app.ts';
import { type Beside, besideOf } from './beside.ts';
import { ack, byLink, inbox, register } from './messaging.ts';
import { answer, PANEL_HEADERS, type PanelCall, SUBSCRIPTION } from './panel.ts';
import { Random } from './random.ts';
import { expectOk } from './shop.ts';
import { until } from './until.ts';
import { type Fronted, HOST, startFronted } from './upstream.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const GB = 1024 ** 3;
const TOTAL = 100 * GB;
/** A period that a customer pays for. */
const PERIOD_MS = 12 * DAY_MS;
/** At night nothing is sent, in UTC+3: from 23 to 8 o'clock. */
const NIGHT = { quietFrom: '23:00', quietTo: '08:00' } as const;
const isNight = (atMs: number) => {
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
const LANGUAGES = ['en', 'ru', 'fa', 'zh'] as const;
type Language = (typeof LANGUAGES)[number];

/** The reminders of the month, by what their texts begin with. */
const RULES = {
  B72: { kind: 'before_end', amount: 72 },
  B24: { kind: 'before_end', amount: 24 },
  T80: { kind: 'traffic', amount: 80 },
  T95: { kind: 'traffic', amount: 95 },
  A1: { kind: 'after_end', amount: 1 },
} as const;
export type Tag = keyof typeof RULES;
export const TAGS = Object.keys(RULES) as Tag[];

/** What a panel knows of a customer. */
interface Standing {
  endsAtMs: number;
  usedBytes: number;
  /** How often the customer has paid. */
  paidCount: number;
}

interface Customer {
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
  /** Since when a reminder should have gone out. */
  dueSince: Partial<Record<Tag, number>>;
}

export interface MonthReport {
  customers: number;
  fetches: number;
  payments: number;
  kills: number;
  passes: number;
  /** By reminder and language. */
  sent: Record<Tag, Record<Language, number>>;
  /** Answers and inboxes in which a person saw one, by app. */
  seen: Record<string, number>;
  /** Held back by the bounds of a device. */
  bounded: number;
  /** Sent after a payment that no fetch had told of; none of them was seen in an app's answer. */
  beforeToldOf: number;
  faults: string[];
}

export interface MonthOptions {
  customers: number;
  seed: number;
  days?: number;
  stepMinutes?: number;
  /** The chance that a pass is killed. */
  killChance?: number;
  onDay?(day: number): void;
}

/** Whether a reminder is true of what is known: the judge's own rules. */
function isTrue(tag: Tag, { endsAtMs, usedBytes }: Standing, atMs: number): boolean {
  const leftMs = endsAtMs - atMs;
  if (tag === 'A1') return leftMs <= -DAY_MS;
  if (leftMs <= 0) return false;
  if (tag === 'T80' || tag === 'T95') return usedBytes / TOTAL >= RULES[tag].amount / 100;
  return leftMs <= RULES[tag].amount * HOUR_MS;
}

/** The reminders that a customer is to have now: the nearest of each kind. */
function wantedNow(known: Standing, atMs: number): Tag[] {
  const is = (tag: Tag) => isTrue(tag, known, atMs);
  const end: Tag[] = is('B24') ? ['B24'] : is('B72') ? ['B72'] : [];
  const traffic: Tag[] = is('T95') ? ['T95'] : is('T80') ? ['T80'] : [];
  const late: Tag[] = is('A1') && known.endsAtMs - atMs > -3 * DAY_MS ? ['A1'] : [];
  return [...end, ...traffic, ...late];
}

const recent = ({ sent }: Customer, atMs: number) =>
  sent.filter((one) => one.atMs > atMs - 7 * DAY_MS);

export class Month {
  readonly report: MonthReport;
  readonly #random: Random;
  readonly #startMs: number;
  readonly #byKey: Map<string, Customer>;
  #keeping = 0;
  #nodes = 0;
  #memory = [new PassMemory(), new PassMemory()];
  #lastRow = 0;

  private constructor(
    private readonly options: MonthOptions,
    private readonly fronted: { at: Fronted; beside: Beside },
    private readonly customers: Customer[],
    startMs: number,
  ) {
    this.#random = new Random(options.seed + 1);
    this.#startMs = startMs;
    this.#byKey = new Map(customers.map((one) => [one.key, one]));
    const none = () => Object.fromEntries(LANGUAGES.map((name) => [name, 0]));
    this.report = {
      ...{ customers: customers.length, fetches: 0, payments: 0, kills: 0, passes: 0 },
      sent: Object.fromEntries(TAGS.map((tag) => [tag, none()])) as MonthReport['sent'],
      ...{ seen: {}, bounded: 0, beforeToldOf: 0, faults: [] },
    };
  }

  static async live(options: MonthOptions): Promise<MonthReport> {
    let month: Month | null = null;
    const at = await startFronted(
      (panelCall) => month?.panelSays(panelCall),
      { defaultLimit: 3, ride: 'on', announce: 'message' },
      { rides: { level: 'on', hours: 72 } },
      (core) => ({
        ...core,
        store: withMethods(
          core.store,
          counting(core.store, () => month),
        ),
      }),
    );
    const beside = besideOf(at.app);
    try {
      const startMs = Math.ceil(at.app.clock.nowMs() / DAY_MS) * DAY_MS;
      at.app.clock.set(startMs);
      month = new Month(options, { at, beside }, customersOf(options, startMs), startMs);
      await month.#open();
      await month.#live();
      return month.report;
    } finally {
      beside.close();
      await at.stop();
    }
  }

  /** Counts writes of figures, which no fetch waits for. */
  keeping(by: 1 | -1): void {
    this.#keeping += by;
  }

  /** Answers an app as the panel does. */
  panelSays({ target, send }: PanelCall): void {
    const customer = this.#byKey.get(target.split('/').at(-1)?.split('?')[0] ?? '');
    if (customer === undefined) {
      void send(answer(404, '', {}));
      return;
    }
    const { endsAtMs, usedBytes } = customer.now;
    const used = Math.floor(usedBytes);
    const end = Math.floor(endsAtMs / 1_000);
    const said = `upload=0; download=${used}; total=${TOTAL}; expire=${end}`;
    void send(answer(200, SUBSCRIPTION, { ...PANEL_HEADERS, 'subscription-userinfo': said }));
  }

  async #open(): Promise<void> {
    const { app, own } = this.fronted.at;
    const { store } = app.core;
    await store.updateProvider(own.code, { subscriptionFigures: 1, ...NIGHT }, ACT);
    const providerId = (await store.findProvider(own.code))?.id ?? 0;
    for (const [tag, rule] of Object.entries(RULES)) {
      const texts = Object.fromEntries(
        LANGUAGES.map((language) => [language, `${tag} ${language} {days_left|0}`]),
      );
      const own = { ...rule, texts, pushText: 'neutral', enabled: 1 } as const;
      const draft = { ...own, providerId, createdAtMs: app.clock.nowMs(), countMax: 10 };
      const added = await store.addReminder(draft, ACT);
      if (typeof added === 'string') throw new Error(added);
    }
    for (const { key, n } of this.customers) {
      const link = { install_limit: 3, install_code: codeOf(n), subscription_key: key };
      await expectOk(call(app, '/api/add-install', own, link));
    }
  }

  async #live(): Promise<void> {
    const { days = 30, onDay, stepMinutes = 15 } = this.options;
    const stepMs = stepMinutes * MINUTE_MS;
    for (let atMs = this.#startMs; atMs < this.#startMs + days * DAY_MS; atMs += stepMs) {
      this.fronted.at.app.clock.set(atMs);
      if ((atMs - this.#startMs) % DAY_MS === 0) onDay?.((atMs - this.#startMs) / DAY_MS);
      const acting = this.customers.filter((one) => this.#moves(one, atMs, stepMs));
      for (let n = 0; n < acting.length; n += 16) {
        await Promise.all(acting.slice(n, n + 16).map((one) => this.#fetch(one, atMs)));
      }
      await until('what was read is kept', () => this.#keeping === 0);
      await this.#pass();
      this.#judge(atMs);
    }
  }

  /** Moves a customer on. Returns whether the app fetches in this step. */
  #moves(customer: Customer, atMs: number, stepMs: number): boolean {
    const { isDaily, minuteOfDay, n, now, payAtMs, refreshes } = customer;
    now.usedBytes = Math.max(0, atMs - customer.paidFromMs) * customer.bytesPerMs;
    const next = payAtMs[0];
    const pays = next !== undefined && next <= atMs;
    if (pays) {
      payAtMs.shift();
      this.report.payments += 1;
      now.endsAtMs = Math.max(now.endsAtMs, atMs) + PERIOD_MS;
      now.paidCount += 1;
      Object.assign(now, { usedBytes: 0 });
      customer.paidFromMs = atMs;
    }
    const day = Math.floor((atMs - this.#startMs) / DAY_MS);
    const ofDay = (atMs % DAY_MS) / MINUTE_MS;
    const isHour = ofDay <= minuteOfDay && minuteOfDay < ofDay + stepMs / MINUTE_MS;
    return (pays && refreshes) || (isHour && (isDaily || (day + n) % 4 === 0));
  }

  async #fetch(customer: Customer, atMs: number): Promise<void> {
    const { app, hwid, key, language, n, now } = customer;
    const { at } = this.fronted;
    this.report.fetches += 1;
    const headers = {
      'User-Agent': TEN_APPS[app] ?? '',
      'x-device-os': 'android',
      'X-Device-Locale': language === 'zh' ? 'CN' : language.toUpperCase(),
    };
    const got = await at.get(`/sub/${key}`, hwid, headers);
    if (got.status !== 200) this.#fault(`${n} was refused: ${got.status}`);
    customer.told = { ...now, atMs };
    const said = readAnnounce(got.headers.get('announce') ?? '');
    if (said !== '') this.#look(customer, said, now, atMs, 'in an answer');
    if (n % 3 === 0) await this.#readInbox(customer, atMs);
  }

  /** Every third app has registered, and reads its inbox. */
  async #readInbox(customer: Customer, atMs: number): Promise<void> {
    const { app } = this.fronted.at;
    customer.token ??= await register(
      app,
      byLink(customer.hwid, codeOf(customer.n), hostHash(HOST)),
    );
    const { json } = await inbox(app, customer.token);
    for (const { id, payload } of json.data) {
      const { body, locales } = payload;
      const said = locales?.[customer.language]?.body ?? body;
      this.#look(customer, said, customer.now, atMs, 'in the inbox');
      await ack(app, customer.token, [{ id, state: 'received' }]);
    }
  }

  /** Checks what a person sees: true of the panel, and in the person's language. */
  #look({ app, language, n }: Customer, said: string, now: Standing, atMs: number, where: string) {
    const [, tag, shown] = /^([ABT]\d+) (\w\w) /.exec(said) ?? [];
    if (!tag || !shown || !(tag in RULES)) {
      this.#fault(`${n} saw ${said} ${where}`);
      return;
    }
    this.report.seen[app] = (this.report.seen[app] ?? 0) + 1;
    if (shown !== language) this.#fault(`${n}, who reads ${language}, saw ${said} ${where}`);
    if (!isTrue(tag as Tag, now, atMs)) {
      this.#fault(`${n} saw ${tag} ${where}, which is not true: paid ${now.paidCount} times`);
    }
  }

  /** Makes a pass by one of two nodes; a kill ends the process before or after one of its steps. */
  async #pass(): Promise<void> {
    const { killChance = 0.1 } = this.options;
    const { app } = this.fronted.at;
    const node = this.#nodes % 2;
    this.#nodes += 1;
    const isKilled = this.#random.chance(killChance);
    const left = { steps: isKilled ? this.#random.int(0, 8) : Number.POSITIVE_INFINITY };
    const core = actingAs(app.core, app.core.actor);
    const parts = {
      core: { ...core, store: mortal(core.store, left, this.#random) },
      ...{ owner: `node ${node}.${this.report.kills}`, reader: null, onStopped: () => {} },
      ...{ memory: this.#memory[node] as PassMemory, signal: new AbortController().signal },
      steadyMs: app.clock.steadyMs,
    };
    this.report.passes += 1;
    try {
      await makePasses(parts, app.clock.nowMs());
    } catch (fault) {
      if (!(fault instanceof Killed)) throw fault;
      this.report.kills += 1;
      this.#memory[node] = new PassMemory();
    }
  }

  /** Compares what went out with what the judge wants. */
  #judge(atMs: number): void {
    this.#note(atMs);
    if (isNight(atMs)) return;
    for (const customer of this.customers) {
      const { dueSince, sent, told } = customer;
      const isFresh = told !== null && atMs - told.atMs <= 2 * DAY_MS;
      const wanted = isFresh ? wantedNow(told, atMs) : [];
      for (const tag of TAGS) {
        const had = sent.some((one) => one.tag === tag && one.paidCount === told?.paidCount);
        if (!wanted.includes(tag) || had) {
          delete dueSince[tag];
          continue;
        }
        const before = recent(customer, atMs);
        if (before.length >= 3 || before.some((one) => one.tag === tag)) {
          this.report.bounded += 1;
          delete dueSince[tag];
          continue;
        }
        dueSince[tag] ??= atMs;
        const lateMs = atMs - (dueSince[tag] ?? atMs);
        if (lateMs === 4 * (this.options.stepMinutes ?? 15) * MINUTE_MS) {
          this.#fault(`${customer.n} was not reminded: ${tag}, ${lateMs / MINUTE_MS} minutes late`);
        }
      }
    }
  }

  /** Notes what went out since the last step, by the ledger. */
  #note(atMs: number): void {
    const rows = this.fronted.beside
      .query<{ hwid: string; kind: string; amount: number }, [number]>(
        `SELECT d.hwid, m.kind, m.amount FROM reminder_sent s JOIN device d ON d.id = s.device_id
         JOIN reminder m ON m.id = s.reminder_id WHERE s.sent_at_ms > ?`,
      )
      .all(this.#lastRow);
    this.#lastRow = atMs;
    for (const { amount, hwid, kind } of rows) {
      const customer = this.customers[Number(hwid.replace('phone-', ''))];
      const tag = TAGS.find((one) => RULES[one].kind === kind && RULES[one].amount === amount);
      if (customer === undefined || tag === undefined) throw new Error(`${hwid} ${kind}`);
      this.#noteSent(customer, tag, atMs);
    }
  }

  #noteSent(customer: Customer, tag: Tag, atMs: number): void {
    const { language, n, now, sent, told } = customer;
    const before = recent(customer, atMs);
    if (isNight(atMs)) this.#fault(`${n} got ${tag} at night`);
    if (told === null || !wantedNow(told, atMs).includes(tag)) this.#fault(`${n} got ${tag}`);
    const paidCount = told?.paidCount ?? 0;
    if (sent.some((one) => one.tag === tag && one.paidCount === paidCount)) {
      this.#fault(`${n} got ${tag} twice in a period`);
    }
    if (before.some((one) => one.tag === tag)) this.#fault(`${n} got ${tag} twice in a week`);
    if (before.length >= 3) this.#fault(`${n} got a fourth one in a week`);
    if (now.paidCount > paidCount) this.report.beforeToldOf += 1;
    sent.push({ tag, atMs, paidCount });
    this.report.sent[tag][language] += 1;
  }

  #fault(what: string): void {
    const { clock } = this.fronted.at.app;
    const hours = (clock.nowMs() - this.#startMs) / HOUR_MS;
    this.report.faults.push(`day ${Math.floor(hours / 24)}, ${(hours % 24).toFixed(1)}h: ${what}`);
  }
}

const codeOf = (n: number) => `LinkCode${String(n).padStart(4, '0')}`;

function customersOf({ customers, seed }: MonthOptions, startMs: number): Customer[] {
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
      ...{ told: null, token: null, sent: [], dueSince: {} },
    };
  });
}

/** The store of the proxy, whose writes of figures are counted. */
const counting = (store: Store, month: () => Month | null): Partial<Store> => ({
  keepSubscriptionFigures: async (...given) => {
    month()?.keeping(1);
    try {
      await store.keepSubscriptionFigures(...given);
    } finally {
      month()?.keeping(-1);
    }
  },
});

class Killed extends Error {}

/** The steps of a pass that a kill may come before or after. */
const STEPS = ['nextReminded', 'claimPass', 'endPass', 'listCourses', 'tellCourses'] as const;
const MORE = ['listUnreminded', 'remind', 'listOpenReminders', 'endReminders'] as const;

/** A store whose process is killed after so many steps: nothing of it goes on. */
function mortal(store: Store, left: { steps: number }, random: Random): Store {
  const replaced = [...STEPS, ...MORE].map((name) => {
    const method = store[name] as (...given: unknown[]) => Promise<unknown>;
    const dying = async (...given: unknown[]) => {
      if (left.steps < 0) throw new Killed(name);
      left.steps -= 1;
      if (left.steps < 0 && random.chance(0.5)) throw new Killed(name);
      const done = await method.call(store, ...given);
      if (left.steps < 0) throw new Killed(name);
      return done;
    };
    return [name, dying] as const;
  });
  return withMethods(store, Object.fromEntries(replaced) as Partial<Store>);
}
