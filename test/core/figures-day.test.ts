/**
 * A day of 100,000 calls, drawn by a seed: the figures equal a recount from the answers, and of
 * messages from the ledger. It begins at noon, so that a UTC day ends in the middle.
 */

import { expect, test } from 'bun:test';
import { utcDay } from '../../src/core/calendar.ts';
import { checkIn } from '../../src/core/device.ts';
import { addDomain } from '../../src/core/domain.ts';
import { admitDevice } from '../../src/core/door.ts';
import { listFigures, noFigures } from '../../src/core/figures.ts';
import { addLink, freeSlot, listSlots, updateLink } from '../../src/core/link.ts';
import { registerDevice } from '../../src/core/message/registration.ts';
import { isRefused, type Refused } from '../../src/core/outcome.ts';
import type { Figure, Figures, RefusalReason } from '../../src/core/port/figure.ts';
import { ACK_STATES, type TokenHolder } from '../../src/core/port/inbox.ts';
import { INSTALL_DISABLED } from '../../src/core/port/link.ts';
import type { Provider } from '../../src/core/port/provider.ts';
import type { OwnPolicy } from '../../src/core/port/slot.ts';
import { hashKey } from '../../src/core/secret.ts';
import { expireMessages } from '../../src/jobs/keep.ts';
import {
  command,
  deliver,
  type Engine,
  MINUTE_MS,
  makeProvider,
  notify,
  openEngine,
} from '../support/delivery.ts';
import { Random } from '../support/random.ts';

const CALLS = 100_000;
const BATCH = 250;
const BATCH_MS = 4 * MINUTE_MS;
const BOUND = 'a'.repeat(64);
const UNBOUND = 'b'.repeat(64);
const HWID_COUNT = 4_000;
const LINK_COUNT = 40;
const REGISTERED_COUNT = 20;
const REPLACING: Partial<OwnPolicy> = { whenFull: 'replace-oldest', coolDownHours: 1 };

const FIGURE_OF: Readonly<Record<RefusalReason, Figure>> = {
  hwid_required: 'refused_hwid',
  link_domain_not_bound: 'refused_domain',
  link_disabled: 'refused_disabled',
  not_named: 'refused_full',
  link_limit_reached: 'refused_full',
  copied_hwid: 'refused_full',
  barred: 'refused_full',
};

interface Link {
  id: number;
  code: string;
  limit: number;
  hwids: Set<string>;
  refusals: { count: number; atMs: number; reasons: Set<RefusalReason> };
}

/** A provider with what the answers so far say of it. */
class Shop {
  readonly links: Link[] = [];
  readonly holders: TokenHolder[] = [];
  readonly #days = new Map<number, Figures>();
  readonly #seen = new Set<string>();

  constructor(readonly provider: Provider) {}

  count(figure: Figure, atMs: number, by = 1): void {
    this.figuresOf(utcDay(atMs))[figure] += by;
  }

  see(hwid: string, atMs: number): void {
    const visit = `${utcDay(atMs)} ${hwid}`;
    if (!this.#seen.has(visit)) this.count('seen', atMs);
    this.#seen.add(visit);
  }

  figuresOf(day: number): Figures {
    const figures = this.#days.get(day) ?? noFigures();
    this.#days.set(day, figures);
    return figures;
  }
}

/** A day of calls to an engine, and the recount of its answers. */
class Script {
  readonly shops: Shop[] = [];
  replacedCount = 0;

  constructor(
    readonly engine: Engine,
    readonly random: Random,
  ) {}

  get nowMs(): number {
    return this.engine.clock.nowMs();
  }

  async open(): Promise<void> {
    const { core } = this.engine;
    for (let n = 0; n < 2; n++) {
      const shop = new Shop(await makeProvider(this.engine));
      this.shops.push(shop);
      await addDomain(core, shop.provider, BOUND, 'shop', this.nowMs);
      for (let i = 0; i < LINK_COUNT; i++) {
        const policy = i % 8 === 0 ? REPLACING : {};
        await this.addLink(shop, this.random.int(1, 20), policy);
      }
      const link = await this.addLink(shop, 100);
      for (let i = 0; i < REGISTERED_COUNT; i++) await this.register(shop, link, `r${n}-${i}`);
      const closed = await this.addLink(shop, 5);
      await updateLink(core, shop.provider, closed.id, { status: INSTALL_DISABLED }, this.nowMs);
    }
  }

  async addLink(shop: Shop, installLimit: number, policy: Partial<OwnPolicy> = {}): Promise<Link> {
    const draft = { installCode: null, installLimit, note: null, ...policy };
    const added = await addLink(this.engine.core, shop.provider, draft, this.nowMs);
    if (isRefused(added)) throw new Error(added.says);
    shop.count('links', this.nowMs);
    const refusals = { count: 0, atMs: 0, reasons: new Set<RefusalReason>() };
    const { id, installCode: code } = added;
    const link = { id, code, limit: installLimit, hwids: new Set<string>(), refusals };
    shop.links.push(link);
    return link;
  }

  async register(shop: Shop, link: Link, hwid: string): Promise<void> {
    const { core } = this.engine;
    const facts = { os: 'android', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
    const registered = await registerDevice(
      core,
      {
        hwid,
        facts,
        locale: null,
        push: null,
        token: null,
        providerCode: null,
        installCode: link.code,
        domainHash: BOUND,
      },
      this.nowMs,
    );
    if (isRefused(registered)) throw new Error(registered.says);
    this.admitted(shop, link, hwid);
    shop.holders.push({ id: registered.deviceId, tokenHash: hashKey(registered.token) });
  }

  admitted(shop: Shop, link: Link, hwid: string): void {
    if (!link.hwids.has(hwid)) {
      shop.count('admitted', this.nowMs);
      if (link.hwids.size >= link.limit) shop.count('freed', this.nowMs);
    }
    link.hwids.add(hwid);
    shop.see(hwid, this.nowMs);
  }

  refused(shop: Shop, link: Link, { says, reason }: Refused<string>): void {
    const why = (reason ?? says) as RefusalReason;
    shop.count(FIGURE_OF[why], this.nowMs);
    const { refusals } = link;
    refusals.count += 1;
    if (refusals.atMs < this.nowMs) refusals.reasons.clear();
    refusals.atMs = this.nowMs;
    // Of those of one moment any may be the last.
    refusals.reasons.add(why);
  }

  async knock(shop: Shop, link: Link, hwid: string | null, domainHash = BOUND): Promise<void> {
    const deviceName = this.random.chance(0.02) ? `name ${this.random.int(1, 9)}` : 'Pixel';
    const facts = { os: 'android', osVersion: '', deviceName, appVersion: '', userAgent: '' };
    const call = { installCode: link.code, domainHash, hwid };
    const answer = await admitDevice(this.engine.core, call, facts, this.nowMs);
    if (isRefused(answer)) this.refused(shop, link, answer);
    else this.admitted(shop, link, hwid ?? '');
  }

  async knockAtNothing(): Promise<void> {
    const call = { installCode: 'NoLink000000', domainHash: BOUND, hwid: this.anyHwid() };
    const facts = { os: '', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
    const answer = await admitDevice(this.engine.core, call, facts, this.nowMs);
    expect(isRefused(answer) && answer.says).toBe('link_not_found');
  }

  async callProvider(shop: Shop, hwid: string): Promise<void> {
    const domainHash = this.random.pick([null, BOUND, UNBOUND]);
    const call = { providerCode: shop.provider.code, domainHash, hwid };
    const facts = { os: 'ios', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
    const answer = await checkIn(this.engine.core, call, facts, this.nowMs);
    if (isRefused(answer)) throw new Error(answer.says);
    shop.see(hwid, this.nowMs);
  }

  async acknowledge(shop: Shop): Promise<void> {
    const { store } = this.engine.core;
    const holder = this.random.pick(shop.holders);
    const limits = { countMax: 5, bytesMax: 1_000_000 };
    const { messages } = await store.listInbox(holder, this.nowMs, limits);
    // Sometimes of one that was acknowledged long ago, or that is somebody else's.
    const ids = [...messages.map(({ id }) => id), this.random.int(1, 50)];
    const [distributionId] = ids;
    // Sometimes its subscription had carried it before: that counts once.
    if (this.random.chance(0.5) && distributionId !== undefined) {
      const by = { deviceId: holder.id, hwid: '', carried: 'Happ: x' };
      store.noteCarried([{ distributionId, ...by, atMs: this.nowMs }]);
    }
    const state = this.random.pick(ACK_STATES);
    const item = { id: this.random.pick(ids), state, detail: null };
    await store.acknowledge(holder, [item], this.nowMs);
  }

  /** Asks who is left on a link on which somebody took another's slot. */
  async ask(shop: Shop, link: Link): Promise<void> {
    const selector = { installCode: link.code, installId: null };
    const slots = await listSlots(this.engine.core, shop.provider, selector, null, link.limit + 1);
    if (isRefused(slots)) throw new Error(slots.says);
    link.hwids = new Set(slots.map(({ hwid }) => hwid));
    expect(link.hwids.size).toBe(link.limit);
    this.replacedCount += 1;
  }

  async free(shop: Shop): Promise<void> {
    const link = this.random.pick(shop.links.slice(0, LINK_COUNT));
    const hwid = this.random.pick([...link.hwids, this.anyHwid()]);
    const selector = { installCode: link.code, installId: null };
    const { core } = this.engine;
    const answer = await freeSlot(core, shop.provider, selector, hwid, this.nowMs);
    if (isRefused(answer)) throw new Error(answer.says);
    if (link.hwids.delete(hwid)) shop.count('freed', this.nowMs);
    expect(answer.deviceCount).toBe(link.hwids.size);
  }

  async send(shop: Shop, batch: number): Promise<void> {
    if (batch % 50 === 0) await notify(this.engine, shop.provider, { expireDays: 1 });
    const link = shop.links.find(({ hwids }) => hwids.size > 2);
    const hwids = [...(link?.hwids ?? [])].slice(0, 2);
    if (hwids.length > 0) await command(this.engine, shop.provider, { hwids });
    const registered = Array.from({ length: 4 }, () => this.random.int(0, REGISTERED_COUNT - 1));
    const names = [...new Set(registered)].map((n) => `r${this.shops.indexOf(shop)}-${n}`);
    await command(this.engine, shop.provider, { hwids: names });
  }

  anyHwid(): string {
    return `h${this.random.int(1, HWID_COUNT)}`;
  }

  /** One of the calls that may be answered in any order. */
  call(): Promise<void> {
    const { random } = this;
    const shop = random.pick(this.shops);
    const link = random.pick(shop.links.slice(0, LINK_COUNT));
    const draw = random.next();
    if (draw < 0.55 && link.hwids.size > 0)
      return this.knock(shop, link, random.pick([...link.hwids]));
    if (draw < 0.72) return this.knock(shop, link, this.anyHwid());
    if (draw < 0.75) return this.knock(shop, link, this.anyHwid(), UNBOUND);
    if (draw < 0.78) return this.knock(shop, link, null);
    if (draw < 0.81) return this.knock(shop, shop.links.at(-1) as Link, this.anyHwid());
    if (draw < 0.83) return this.knockAtNothing();
    if (draw < 0.92) return this.callProvider(shop, this.anyHwid());
    return this.acknowledge(shop);
  }

  async run(): Promise<void> {
    const { core, clock } = this.engine;
    await this.open();
    for (let batch = 0; batch * BATCH < CALLS; batch++) {
      await Promise.all(Array.from({ length: BATCH }, () => this.call()));
      for (const shop of this.shops) {
        for (const link of shop.links) if (link.hwids.size > link.limit) await this.ask(shop, link);
        for (let n = 0; n < 5; n++) await this.free(shop);
        if (batch % 10 === 0) await this.send(shop, batch);
      }
      await deliver(this.engine);
      if (batch % 20 === 0) await expireMessages(core, this.nowMs);
      if (this.random.chance(0.1)) await core.store.saveFigures();
      clock.advance(BATCH_MS);
    }
  }
}

/** The figures of messages by the times in the ledger. */
function recountMessages({ db }: Engine, { id }: Provider, day: number): Partial<Figures> {
  const span = `BETWEEN ${day * 86_400_000} AND ${(day + 1) * 86_400_000 - 1}`;
  const in_ = (column: string) => `count(*) FILTER (WHERE ${column} ${span})`;
  const recipients = db
    .query<Figures, [number]>(
      `SELECT ${in_('queued_at_ms')} AS recipients, ${in_('sent_at_ms')} AS delivered,
         ${in_('received_at_ms')} AS received, ${in_('opened_at_ms')} AS opened,
         ${in_('executed_at_ms')} AS executed, ${in_('expired_at_ms')} AS expired,
         ${in_('carried_at_ms')} AS carried,
         ${in_('failed_at_ms')} + ${in_('refused_at_ms')} AS failed
       FROM recipient WHERE abs(inbox) = ?`,
    )
    .get(id);
  const sends = db
    .query<Figures, [number]>(
      `SELECT ${in_('created_at_ms')} AS sends FROM distribution WHERE provider_id = ?`,
    )
    .get(id);
  return { ...recipients, ...sends };
}

test('the figures of a day of 100,000 calls are those of a recount', async () => {
  const engine = await openEngine();
  try {
    const firstDay = utcDay(engine.clock.nowMs());
    const script = new Script(engine, new Random(20261122));
    await script.run();
    await engine.core.store.saveFigures();
    const lastDay = utcDay(engine.clock.nowMs());
    expect(lastDay).toBe(firstDay + 1);
    expect(script.replacedCount).toBeGreaterThan(10);
    for (const shop of script.shops) {
      const found = await listFigures(engine.core, shop.provider.id, firstDay, lastDay);
      found.forEach(({ day: _, ...figures }, n) => {
        const day = firstDay + n;
        const messages = recountMessages(engine, shop.provider, day);
        expect(figures).toEqual({ ...shop.figuresOf(day), ...messages });
        // A script that brings none of a figure about says nothing of it.
        const never = Object.entries(figures).filter(([name, count]) => {
          // All links enforce their limits.
          if (name === 'admitted_over') return false;
          return count === 0 && !(n === 0 && name === 'expired') && !(n === 1 && name === 'links');
        });
        expect(never).toEqual([]);
      });
      const refusals = await engine.core.store.listRefusals(shop.provider.id, 0, 1_000);
      const expected = shop.links.filter((link) => link.refusals.count > 0);
      expect(refusals).toHaveLength(expected.length);
      for (const { installCode, refusedCount, refusedAtMs, reason } of refusals) {
        const link = expected.find(({ code }) => code === installCode);
        expect({ count: refusedCount, atMs: refusedAtMs }).toEqual({
          count: link?.refusals.count ?? 0,
          atMs: link?.refusals.atMs ?? 0,
        });
        expect(link?.refusals.reasons.has(reason)).toBe(true);
      }
    }
  } finally {
    await engine.close();
  }
});
