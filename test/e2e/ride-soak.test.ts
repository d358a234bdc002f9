/**
 * Messages that ride: devices of ten apps at three providers fetch their subscriptions through the
 * own proxy and through `/gate`, from two servers on the same data that are killed in turn, while
 * notifications, commands, cancellations and blocks go on and hours pass. Each message rides on
 * each answer of its time, and on none outside it; none reaches another provider's device or a
 * link that only has the HWID; and the ledger has what answers carried.
 *
 * RIDES_SECONDS=60 RIDES_DEVICES=20000 bun test test/e2e/ride-soak.test.ts runs it longer,
 * RIDES_SEED=n otherwise.
 */

import { expect, test } from 'bun:test';
import { invariantProblems } from '../fuzz/invariants.ts';
import { lookedAt } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { Fetches, type Heard, type SoakDevice, type Way } from '../support/ride-fetches.ts';
import { RideModel, SOAK_PARTS } from '../support/ride-model.ts';
import { type OwnMessage, Sender, type Soak } from '../support/ride-sender.ts';
import { openScene, readLedger, recount, type Scene, Servers } from '../support/ride-soak.ts';
import { age } from '../support/ride-time.ts';
import { IS_LONG, isAskedFor, scaleOf } from '../support/scale.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const SECONDS = scaleOf('RIDES_SECONDS', { short: 3, long: 60 });
const DEVICES = scaleOf('RIDES_DEVICES', { short: 400, long: 20_000 });
const SEED = Number(process.env['RIDES_SEED'] ?? 11);
const CALLERS = 24;
const KILL_EVERY_MS = IS_LONG ? 12_000 : 1_800;
/** Devices that come when messages ride already: one in so many. */
const NEWCOMERS = 20;
/** Stamps are saved with the figures, every ten seconds: those since are lost by a kill. */
const STAMPS_LOST_MS = 11_000;

useProcesses(SECONDS * 1000 + 8 * PATIENCE_MS);

class Run {
  readonly random = new Random(SEED);
  readonly fetches = new Fetches(this.random);
  readonly servers: Servers;
  readonly senders: Sender[];
  #endMs = 0;

  constructor(readonly scene: Scene) {
    this.servers = new Servers(scene, this.random);
    const soak: Soak = {
      dataDir: scene.dataDir,
      db: scene.db,
      random: this.random,
      fetches: this.fetches,
      urlOf: () => this.servers.one().url,
      isOver: this.isOver,
      last: { message: 0, domain: 0 },
    };
    this.senders = scene.providers.map((provider) => {
      const own = scene.devices.filter((device) => device.provider === provider);
      return new Sender(soak, provider, own);
    });
  }

  isOver = () => Date.now() > this.#endMs;

  get messages(): OwnMessage[] {
    return this.senders.flatMap(({ messages }) => messages);
  }

  /** Each device fetches once, some at a time. */
  async fetchAll(devices: readonly SoakDevice[], way: Way): Promise<void> {
    const left = [...devices];
    const work = async () => {
      for (let device = left.pop(); device !== undefined; device = left.pop()) {
        await this.fetches.fetch(device, this.servers.one(), way);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, work));
  }

  async live(): Promise<void> {
    this.#endMs = Date.now() + SECONDS * 1000;
    await Promise.all([
      ...this.senders.map((sender) => sender.run()),
      ...Array.from({ length: CALLERS }, () => this.#call()),
      this.servers.killUntil(this.isOver, KILL_EVERY_MS),
    ]);
  }

  async #call(): Promise<void> {
    const { random, scene } = this;
    while (!this.isOver()) {
      const { named } = random.pick(this.senders);
      const isHot = named.length > 0 && random.chance(0.4);
      const device = random.pick(isHot ? named : scene.devices);
      const isSquat = device.home !== null && device.squattedKey !== null && random.chance(0.4);
      // At first it comes by the own proxy, which makes a link that is new.
      const isKnown = isSquat ? device.isSquatted : device.home !== null;
      const way = isKnown && random.chance(0.5) ? 'gate' : 'proxy';
      await this.fetches.fetch(device, this.servers.one(), way, isSquat);
    }
  }
}

/** Says for each answer what was wrong with it. */
function judge(run: Run): string[] {
  for (const { messages, shifts } of run.senders) {
    for (const message of messages) if (!message.isCancelled) age(message, shifts);
  }
  const { heard } = run.fetches;
  const model = new RideModel(run.messages, heard);
  // An answer during which hours pass read some times before and some after.
  const isOdd = ({ provider, startMs, endMs }: Heard) =>
    run.senders[provider]?.shifts.some((one) => one.startMs <= endMs && one.endMs >= startMs);
  return heard.flatMap((answer) =>
    isOdd(answer)
      ? []
      : model.problemsOf(answer).map((problem) => {
          const where = answer.isHome ? answer.way : `${answer.way}, another link`;
          return `${answer.hwid} of ${answer.provider} by ${where}: ${problem}`;
        }),
  );
}

/** Returns whether a stamp names the way of an answer that carried it. */
function isWordedFor(answers: readonly Heard[], words: string): boolean {
  if (!/^[^:]{1,20}: [^:]+$/.test(words)) return false;
  const way = words.startsWith('proxy: ') ? 'gate' : 'proxy';
  return answers.length === 0 || answers.some((answer) => answer.way === way);
}

/** Says what the ledger lacks, and what it has too much. */
function judgeLedger(run: Run) {
  const { fetches, messages, scene } = run;
  const carried = recount(fetches.heard, messages);
  const { open, stamped } = readLedger(scene.db);
  const isLost = (pair: string) =>
    (carried.get(pair) ?? []).every(
      ({ by, endMs }) => by.killedMs !== null && endMs > by.killedMs - STAMPS_LOST_MS,
    );
  const missing = [...carried.keys()].filter((pair) => open.has(pair));
  const extra = [...stamped.keys()].filter((pair) => !carried.has(pair));
  return {
    carried: carried.size,
    stamped: stamped.size,
    lost: missing.filter(isLost).length,
    missing: missing.filter((pair) => !isLost(pair)),
    wrong: [...stamped].filter(([pair, words]) => !isWordedFor(carried.get(pair) ?? [], words)),
    // The call of a killed server may have carried it.
    extra: extra.filter((pair) => !fetches.lost.has(pair.split(' ')[1] ?? '')),
  };
}

test(`${DEVICES} devices, kills for ${SECONDS} s, seed ${SEED}`, async () => {
  const scene = await openScene(DEVICES);
  const run = new Run(scene);
  for (const which of [0, 1]) await run.servers.start(which);
  await run.fetchAll(
    scene.devices.filter((_, n) => n % NEWCOMERS !== 0),
    'proxy',
  );
  await run.live();
  for (const sender of run.senders) await sender.finish();
  // No server is killed any more: devices that come again have their stamps written.
  await run.fetchAll(scene.devices, 'proxy');
  await run.fetchAll(scene.devices, 'gate');
  await run.servers.stop();

  const { fetches, senders, messages, servers } = run;
  const problems = [
    ...fetches.problems,
    ...senders.flatMap((sender) => sender.problems),
    ...judge(run),
    ...invariantProblems(await lookedAt(scene.dataDir)),
  ];
  const { missing, extra, wrong, ...ledger } = judgeLedger(run);
  if (isAskedFor('RIDES_SECONDS')) {
    const counts = { problems: problems.length, missing: missing.length, extra: extra.length };
    console.log({ ...figuresOf(run), ledger, ...counts });
  }
  const statusOf = scene.db.query<{ status: number }, [number]>(
    'SELECT status FROM distribution WHERE id = ?',
  );
  for (const { id, isCancelled } of messages) {
    if (isCancelled) expect([id, statusOf.get(id)?.status]).toEqual([id, 130]);
  }
  scene.stop();
  expect(problems.slice(0, 20)).toEqual([]);
  expect(missing.slice(0, 20)).toEqual([]);
  expect(extra.slice(0, 20)).toEqual([]);
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(servers.kills.length).toBeGreaterThan(0);
  expect(ledger.stamped).toBeGreaterThan(0);
  const { rode } = figuresOf(run);
  for (const part of SOAK_PARTS) {
    expect([part, (rode[part] ?? 0) > 0]).toEqual([part, true]);
  }
});

function figuresOf({ fetches, senders, servers }: Run) {
  const rode: Record<string, number> = {};
  for (const { carried } of fetches.heard) {
    for (const part of Object.keys(carried)) rode[part] = (rode[part] ?? 0) + 1;
  }
  const { heard, lostCount, cleared, notModified } = fetches;
  return {
    fetches: heard.length,
    lost: lostCount,
    cleared,
    notModified,
    rode,
    kills: servers.kills.length,
    sent: senders.map(({ counts, shifts }) => ({ ...counts, shifts: shifts.length })),
  };
}
