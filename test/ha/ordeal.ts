/**
 * Several nodes under everything that callers do at once, while whoever runs the ordeal kills what
 * they stand on: places of links, links, domains, general notifications, messages to devices.
 */

import { SQL } from 'bun';
import type { Credentials } from '../../src/core/provider.ts';
import { DOMAIN_HASH, LiveDevice, Traffic } from '../support/delivery-traffic.ts';
import { Random } from '../support/random.ts';
import { bind } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { Client, isAnswer } from './client.ts';
import { lawProblems, messageProblems, openCount, openProblem } from './look.ts';
import type { Nodes } from './nodes.ts';
import { Promises } from './promises.ts';
import { Recorder } from './recorder.ts';
import { Seats } from './seats.ts';

const DEVICES_PER_PROVIDER = 3;
/** Of all messages, after the last fault. */
const ENDED_MAX_MS = 120_000;

interface Order {
  nodes: Nodes;
  /** The address of the database for a superuser who looks on. */
  lookUrl: string;
  providerCount: number;
  /** Who race for places, of each provider. */
  callerCount: number;
  seed: number;
}

export class Ordeal {
  readonly recorder: Recorder;
  readonly #problems: string[] = [];
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly nodes: Nodes,
    private readonly sql: SQL,
    private readonly client: Client,
    private readonly seats: readonly Seats[],
    private readonly promises: readonly Promises[],
    private readonly traffic: Traffic,
  ) {
    this.recorder = client.recorder;
  }

  /** Makes providers and devices; nobody calls yet. */
  static async prepare({
    nodes,
    lookUrl,
    providerCount,
    callerCount,
    seed,
  }: Order): Promise<Ordeal> {
    const client = new Client(nodes.url, new Recorder());
    const own: Credentials[] = [];
    const devices: LiveDevice[] = [];
    for (let n = 0; n < providerCount; n++) {
      const by = await nodes.addProvider(`ORDEAL0${n}`);
      own.push(by);
      await bind(nodes, by);
      await bind(nodes, by, DOMAIN_HASH);
      for (let at = 0; at < DEVICES_PER_PROVIDER; at++) {
        devices.push(await register(client, by, n, `live-${n}-${at}`));
      }
    }
    const random = (n: number) => new Random(seed * 1000 + n);
    const seats = own.map((by, n) => new Seats(client, by, callerCount, random(n)));
    const promises = own.map((by, n) => new Promises(client, by, `P${n}`, random(100 + n)));
    const traffic = new Traffic(own, devices, random(200), (reply) => !isAnswer(reply));
    const sql = new SQL({ url: lookUrl, database: databaseOf(lookUrl), max: 1 });
    return new Ordeal(nodes, sql, client, seats, promises, traffic);
  }

  begin(): void {
    const isOver = () => this.#isOver;
    this.#running = Promise.all([
      ...this.seats.map((seats) => seats.run(isOver)),
      ...this.promises.map((promises) => promises.run(isOver)),
      this.traffic.run(this.client.url, isOver),
    ]);
  }

  /** Notes what cannot be so at this moment; while the database is away there is nothing to see. */
  async look(): Promise<void> {
    const problems = await lawProblems(this.sql).catch(() => []);
    this.#problems.push(...problems);
  }

  /** Lets all come to rest; answers what was not as promised. */
  async end(): Promise<string[]> {
    this.#isOver = true;
    await this.#running;
    const endMs = performance.now() + ENDED_MAX_MS;
    while ((await openCount(this.sql).catch(() => 1)) > 0) {
      if (performance.now() > endMs) return [...this.#problems, await openProblem(this.sql)];
      await Bun.sleep(100);
    }
    for (const device of this.traffic.devices) {
      await until('an empty inbox', async () => {
        return (await this.traffic.fetch(this.client.url, device, 0)) === 0;
      });
    }
    const kept = await Promise.all(this.promises.map((promises) => promises.check()));
    const { code, stdout, stderr } = await this.nodes.command('audit', 'verify');
    return [
      ...this.#problems,
      ...(await lawProblems(this.sql)),
      ...(await messageProblems(this.traffic, this.sql)),
      ...this.seats.flatMap(({ problems }) => problems),
      ...kept.flat(),
      ...(code === 0 ? [] : [`audit verify: ${stdout} ${stderr}`]),
    ];
  }

  /** What was tried, so that nobody takes a standstill for a success. */
  figures(): Record<string, unknown> {
    const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0);
    const { sent, cancelled, answers } = this.traffic;
    return {
      calls: sum([...this.client.answers.values()]) + answers,
      unknown: this.client.unknown + this.traffic.lost,
      rounds: sum(this.seats.map(({ rounds }) => rounds)),
      refusals: sum(this.seats.map(({ refusals }) => refusals)),
      certain: sum(this.promises.map(({ certainCount }) => certainCount)),
      generals: sum(this.promises.map(({ acceptedGenerals }) => acceptedGenerals)),
      messages: sent.size,
      cancelled: cancelled.size,
      ...Object.fromEntries([...this.client.answers].toSorted()),
    };
  }
}

const databaseOf = (url: string) => new URL(url).pathname.slice(1);

async function register(
  client: Client,
  by: Credentials,
  provider: number,
  hwid: string,
): Promise<LiveDevice> {
  const draft = { hwid, os: 'android', provider_code: by.code, domain_hash: DOMAIN_HASH };
  const init = { method: 'POST', body: JSON.stringify(draft) };
  const { device_token: token, msg } = await client.insist('/device/register', null, {}, init);
  if (token === undefined) throw new Error(`register: ${msg}`);
  const device = new LiveDevice(hwid, provider);
  device.token = token;
  return device;
}
