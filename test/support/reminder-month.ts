/**
 * A month of a panel's customers by a moved clock: their apps fetch through the proxy, they use
 * traffic up and pay twice, and reminders go out from two nodes that are killed now and then. A
 * judge who shares no code with src says who is to be reminded; each difference is a fault.
 */

import { actingAs } from '../../src/core/core.ts';
import { hostHash } from '../../src/core/host-name.ts';
import type { Store } from '../../src/core/port/store.ts';
import { withMethods } from '../../src/core/port/store.ts';
import type { Figures } from '../../src/core/port/subscription-figures.ts';
import { makePasses, PassMemory } from '../../src/core/reminder-pass.ts';
import { readAnnounce } from '../../src/core/ride/text.ts';
import { ACT } from './actor.ts';
import { call } from './app.ts';
import { type Beside, besideOf } from './beside.ts';
import { ack, byLink, inbox, register } from './messaging.ts';
import { Killed, mortal } from './mortal-store.ts';
import { answer, PANEL_HEADERS, type PanelCall, SUBSCRIPTION } from './panel.ts';
import { Random } from './random.ts';
import {
  type Customer,
  codeOf,
  customersOf,
  DAY_MS,
  HOUR_MS,
  isNight,
  isTrue,
  LANGUAGES,
  type Language,
  MINUTE_MS,
  type MonthOptions,
  NIGHT,
  PERIOD_MS,
  RULES,
  recent,
  type Standing,
  TAGS,
  type Tag,
  TEN_APPS,
  TOTAL,
  wantedNow,
} from './reminder-customers.ts';
import { expectOk } from './shop.ts';
import { until } from './until.ts';
import { type Fronted, HOST, startFronted } from './upstream.ts';

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
  /** Sent after a payment that no fetch had told of; none of them was seen in an app's answer. */
  beforeToldOf: number;
  faults: string[];
}

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
      customers: customers.length,
      fetches: 0,
      payments: 0,
      kills: 0,
      passes: 0,
      sent: Object.fromEntries(TAGS.map((tag) => [tag, none()])) as MonthReport['sent'],
      seen: {},
      beforeToldOf: 0,
      faults: [],
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
      await month.#recount();
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

  /** Answers the appliance as the API of the panel does; links have the ids of their customers. */
  async #apiSays(installId: number): Promise<Figures | null> {
    const customer = this.customers[installId - 1];
    if (customer === undefined) return null;
    const { clock } = this.fronted.at.app;
    customer.told = { ...customer.now, atMs: clock.nowMs() };
    const { endsAtMs, usedBytes } = customer.now;
    return { endsAtMs: Math.floor(endsAtMs), totalBytes: TOTAL, usedBytes: Math.floor(usedBytes) };
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
      // No fetch waits for that: who reads the inbox in the same moment may still see a reminder.
      await until('what was read is kept', () => this.#keeping === 0);
      const readers = acting.filter(({ n }) => n % 3 === 0);
      for (const one of readers) await this.#readInbox(one, atMs);
      this.#judge(atMs, await this.#pass());
    }
  }

  /** Counts the ledgers again, row by row, and compares the rounds with them. */
  async #recount(): Promise<void> {
    const { app, own } = this.fronted.at;
    await app.core.store.saveFigures();
    const { id = 0 } = (await app.core.store.findProvider(own.code)) ?? {};
    const page = { beforeId: null, countMax: 1_000 };
    const rounds = await app.core.store.listRounds(id, page);
    const rows = this.fronted.beside.query<Record<string, number | string | null>, [number]>(
      'SELECT * FROM recipient WHERE distribution_id = ?',
    );
    let all = 0;
    for (const round of rounds) {
      const counts = { recipientCount: 0, gotCount: 0, endedCount: 0 };
      for (const row of rows.all(round.id)) {
        const isGot =
          row['received_at_ms'] !== null ||
          row['carried_at_ms'] !== null ||
          row['push_state'] === 2;
        counts.recipientCount += 1;
        counts.gotCount += isGot ? 1 : 0;
        counts.endedCount += !isGot && String(row['detail']).includes('not true') ? 1 : 0;
      }
      all += counts.recipientCount;
      for (const [name, count] of Object.entries(counts)) {
        const shown = round[name as keyof typeof counts];
        if (shown !== count) this.#fault(`round ${round.id} has ${shown} of ${count} ${name}`);
      }
    }
    const sent = this.customers.reduce((sum, one) => sum + one.sent.length, 0);
    if (all !== sent) this.#fault(`the rounds have ${all} devices, ${sent} were reminded`);
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

  /** Makes a pass by one of two nodes, which a kill may end at any step. True: it was whole. */
  async #pass(): Promise<boolean> {
    const { killChance = 0.1 } = this.options;
    const { app } = this.fronted.at;
    const node = this.#nodes % 2;
    this.#nodes += 1;
    const isKilled = this.#random.chance(killChance);
    const left = { steps: isKilled ? this.#random.int(0, 8) : Number.POSITIVE_INFINITY };
    const core = actingAs(app.core, app.core.actor);
    const parts = {
      core: { ...core, store: mortal(core.store, left, this.#random) },
      owner: `node ${node}.${this.report.kills}`,
      reader: this.options.asksPanel ? { read: (id: number) => this.#apiSays(id) } : null,
      onStopped: () => {},
      memory: this.#memory[node] as PassMemory,
      signal: new AbortController().signal,
      steadyMs: app.clock.steadyMs,
    };
    this.report.passes += 1;
    try {
      await makePasses(parts, app.clock.nowMs());
      return true;
    } catch (fault) {
      if (!(fault instanceof Killed)) throw fault;
      this.report.kills += 1;
      this.#memory[node] = new PassMemory();
      return false;
    }
  }

  /** Compares what went out with what the judge wants. */
  #judge(atMs: number, isWhole: boolean): void {
    this.#note(atMs);
    if (isNight(atMs)) return;
    for (const customer of this.customers) {
      const { missedBy, sent, told } = customer;
      const isFresh = told !== null && atMs - told.atMs <= 2 * DAY_MS;
      const wanted = isFresh ? wantedNow(told, atMs) : [];
      for (const tag of TAGS) {
        const had = sent.some((one) => one.tag === tag && one.paidCount === told?.paidCount);
        const before = recent(customer, atMs);
        const isBounded = before.length >= 3 || before.some((one) => one.tag === tag);
        if (!wanted.includes(tag) || had || isBounded) {
          delete missedBy[tag];
          continue;
        }
        const missed = (missedBy[tag] ?? 0) + (isWhole ? 1 : 0);
        missedBy[tag] = missed;
        // A pass asks panels about so many links alone.
        if (missed === (this.options.asksPanel ? 6 : 1))
          this.#fault(`${customer.n} was not reminded: ${tag}`);
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
