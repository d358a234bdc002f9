/**
 * Figures of two servers on one data directory are those of the answers of both. A server that is
 * killed loses the figures that it had not saved, counts none of the others twice, and loses no
 * answer.
 */

import { expect, test } from 'bun:test';
import { sumOf } from '../../src/core/figures.ts';
import type { Figures } from '../../src/core/port/figure.ts';
import { call } from '../support/app.ts';
import { openBeside } from '../support/database.ts';
import { run, type ServerProcess, startServe } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { HASH, type Link, openShop, type Shop } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const CALLS = 3_000;
const AT_ONCE = 60;
const HWIDS = 60;
/** What calls for links that are not there is no guess here. */
const env = { GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000' };

useProcesses();

/** Calls of apps at servers, and what their answers say. */
class Callers {
  readonly slots = new Set<string>();
  readonly seen = new Set<string>();
  readonly refused = { refused_hwid: 0, refused_domain: 0, refused_full: 0 };
  /** Refused calls that nobody has to count: they name no link that is known. */
  strayCount = 0;

  constructor(
    readonly servers: readonly ServerProcess[],
    readonly links: readonly Link[],
    readonly random: Random,
  ) {}

  async knock(): Promise<void> {
    const { random } = this;
    const hwid = `h${random.int(1, HWIDS)}`;
    const link = random.pick(this.links);
    const known = { id: HASH, installid: link.code, hwid };
    const draw = random.next();
    if (draw < 0.1) {
      const { hwid: _, ...silent } = known;
      await this.#ask(silent, 'HWID is required');
      this.refused.refused_hwid += 1;
    } else if (draw < 0.2) {
      const id = random.text(64, '0123456789abcdef');
      await this.#ask({ ...known, id }, 'Install not found');
      this.refused.refused_domain += 1;
    } else if (draw < 0.4) {
      const installid = random.text(random.int(0, 40), 'abcXYZ019-_%');
      await this.#ask({ ...known, installid }, 'Install not found');
      this.strayCount += 1;
    } else {
      const said = await this.#ask(known, 'Ok', 'Install limit reached');
      if (said === 'Ok') {
        this.slots.add(`${link.code} ${hwid}`);
        this.seen.add(hwid);
      } else {
        this.refused.refused_full += 1;
      }
    }
  }

  async #ask(query: Record<string, string>, ...expected: string[]): Promise<string> {
    const { json } = await call(this.random.pick(this.servers), '/install', null, query);
    if (!expected.includes(json.msg)) throw new Error(`${json.msg} instead of ${expected}`);
    return json.msg;
  }

  async knockOften(count: number): Promise<void> {
    for (let done = 0; done < count; done += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => this.knock()));
    }
  }

  figures(): Partial<Figures> {
    const { slots, seen, refused } = this;
    return { admitted: slots.size, seen: seen.size, ...refused };
  }
}

/** The figures on disk; `seen` counts again from midnight on, so that a test may meet that. */
function savedIn({ dataDir }: Shop): Figures & { dayCount: number } {
  const db = openBeside(dataDir);
  try {
    const rows = db.query<Figures, []>('SELECT * FROM provider_day').all();
    return { ...sumOf(rows), dayCount: rows.length };
  } finally {
    db.close();
  }
}

test('of two servers, both stopped: those of all answers', async () => {
  const shop = await openShop({ env, serverCount: 2, limits: [1, 3, 10, 40] });
  const callers = new Callers(shop.servers, shop.links, new Random(7));
  await callers.knockOften(CALLS);
  for (const server of shop.servers) await server.stop();
  const { dayCount, ...saved } = savedIn(shop);
  if (dayCount === 1) expect(saved).toMatchObject({ ...callers.figures(), links: 4 });
  expect(dayCount).toBeLessThanOrEqual(2);
  expect(callers.strayCount).toBeGreaterThan(0);
  const { code, stdout } = await run(['stats', shop.own.code, '--json', '--data', shop.dataDir]);
  const { total, refusals } = JSON.parse(stdout);
  expect({ code, total }).toEqual({ code: 0, total: saved });
  expect(refusals).toHaveLength(shop.links.length);
  const byLink = refusals.reduce((sum: number, link: { refused_count: number }) => {
    return sum + link.refused_count;
  }, 0);
  const { refused_hwid, refused_domain, refused_full } = callers.refused;
  expect(byLink).toBe(refused_hwid + refused_domain + refused_full);
});

test('of a server that is killed: no more than those since they were saved are lost', async () => {
  const shop = await openShop({ env, limits: [100, 100, 1] });
  const callers = new Callers(shop.servers, shop.links, new Random(8));
  await callers.knockOften(CALLS / 10);
  const early = callers.figures();
  await until('the figures are saved by the clock', () => {
    return savedIn(shop).refused_full >= (early.refused_full ?? 0);
  });
  await callers.knockOften(CALLS / 10);
  await shop.server.stop('SIGKILL');
  const late = callers.figures();
  const { dayCount, ...saved } = savedIn(shop);
  for (const name of ['admitted', 'refused_hwid', 'refused_domain', 'refused_full'] as const) {
    expect(saved[name]).toBeGreaterThanOrEqual(early[name] ?? 0);
    expect(saved[name]).toBeLessThanOrEqual(late[name] ?? 0);
  }
  const again = await startServe({ dataDir: shop.dataDir });
  const onLinks: string[] = [];
  for (const { code } of shop.links) {
    const { json } = await call(again, '/api/list-hwid', shop.own, { install_code: code });
    onLinks.push(...json.data.map(({ hwid }: { hwid: string }) => `${code} ${hwid}`));
  }
  expect(onLinks.sort()).toEqual([...callers.slots].sort());
  await again.stop();
  expect(savedIn(shop)).toEqual({ ...saved, dayCount });
});
