/** `gatepost move-database` of many devices, there and back. */

import { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { blockAfter, NO_ANCHOR } from '../src/core/audit/chain.ts';
import type { Bench, Case } from './driver.ts';
import { seed } from './seed.ts';
import { providerCode } from './shape.ts';

const PROVIDER_COUNT = 5;
const ENTRY_COUNT = 100_000;
/** Shares of the rows at which a move is killed. */
const KILLS = [0.3, 0.7];

/** Distributions that were sent to every device, and a log with many entries. */
function seedLedger(dataDir: string, sendCount: number): void {
  const nowMs = Date.now();
  const db = new Database(join(dataDir, 'gatepost.db'), { strict: true });
  db.run('PRAGMA synchronous = OFF');
  const deviceCount = db
    .query<{ count: number }, []>('SELECT count(*) AS count FROM device')
    .get()?.count;
  for (let n = 1; n <= sendCount; n++) {
    db.run(
      `INSERT INTO distribution (id, provider_id, notification_type, status, target_os,
         target_hwid, created_at_ms, due_at_ms, reaches_unbound, expires_at_ms, payload)
       VALUES (?, 1, 10, 10, 'android', '', ?, ?, 0, ?, '{"title":"T","body":"\\\\ and \\t"}')`,
      [n, nowMs, nowMs, nowMs + 1e9],
    );
    for (const status of [20, 5, 40, 100]) {
      db.run('UPDATE distribution SET status = ? WHERE id = ?', [status, n]);
    }
    db.run(
      `INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms,
         sent_at_ms, received_at_ms)
       SELECT ?1, id, 2, 1, id % 3 = 0, ?2, ?2 + 1, iif(id % 3 = 0, NULL, ?2 + id % 1000)
       FROM device`,
      [n, nowMs],
    );
    db.run(
      'UPDATE distribution SET recipient_count = ?, sent_count = ?, finished_at_ms = ? WHERE id = ?',
      [deviceCount ?? 0, deviceCount ?? 0, nowMs, n],
    );
  }
  const head = db
    .query<{ number: number; hash: Uint8Array }, []>(
      'SELECT last_number AS number, hash FROM audit ORDER BY last_number DESC LIMIT 1',
    )
    .get();
  const add = db.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?)');
  db.run('BEGIN');
  let before: Pick<ReturnType<typeof blockAfter>, 'number' | 'hash'> = head ?? NO_ANCHOR;
  for (let n = 0; n < ENTRY_COUNT; n += 5) {
    const at = new Date(nowMs).toISOString();
    const entry = (id: number) =>
      `{"at":"${at}","who":"operator","name":"bench","from":"local","action":"install.add","provider":"${providerCode(1)}","object":{"id":${id}}}`;
    const texts = Array.from({ length: 5 }, (_, i) => ({ atMs: nowMs, text: entry(n + i) }));
    const block = blockAfter(before, texts);
    add.run(block.number, block.atMs, block.prevHash, block.hash, block.entries);
    before = block;
  }
  db.run('COMMIT');
  add.finalize();
  db.close(true);
}

/** The appliance, with the data of either side. */
class Moved {
  readonly #bench: Bench;
  readonly #url: string;
  readonly dataDir: string;

  constructor(bench: Bench, url: string) {
    this.#bench = bench;
    this.#url = url;
    this.dataDir = bench.place('data');
  }

  #spawn(words: readonly string[], isServer: boolean) {
    return Bun.spawn([this.#bench.executable, ...words, '--data', this.dataDir], {
      env: {
        PATH: process.env['PATH'] ?? '',
        GATEPOST_CONFIG: 'none',
        ...(isServer ? { GATEPOST_DATABASE_URL: this.#url } : {}),
      },
      stdout: 'pipe',
      stderr: 'pipe',
    });
  }

  /** SHA-256 of all that a side prints. The move itself is the last entry of the other's log. */
  prints(isServer: boolean): string[] {
    const env: Record<string, string> = isServer ? { GATEPOST_DATABASE_URL: this.#url } : {};
    const asked = [
      ...Array.from({ length: PROVIDER_COUNT }, (_, i) => `export ${providerCode(i + 1)}`),
      'provider list --json',
      'link list --all --json',
      'device list --limit 20000 --json',
      'distribution list --all --json',
      'distribution show 1 --json',
      'audit export',
    ];
    return asked.map((words) => {
      const command = [...words.split(' '), '--data', this.dataDir];
      const lines = this.#bench.command(command, env).split('\n');
      const text = lines.filter((line) => !line.includes('"action":"database.move"')).join('\n');
      return `${words} ${createHash('sha256').update(text).digest('hex')}`;
    });
  }

  /** Begins a move and kills it at that share of the rows; a short one says none, and has all. */
  async kill(to: string, isServer: boolean, share: number): Promise<string> {
    const child = this.#spawn(['move-database', '--to', to], isServer);
    let said = '';
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += piece;
      const [, done = '0', total = '1'] = /(\d+) of (\d+) rows[^\n]*\n$/.exec(said) ?? [];
      const isCopied = said.includes('creating indexes');
      if (!isCopied && Number(done) / Number(total) < share) continue;
      child.kill('SIGKILL');
      await child.exited;
      return `killed at ${isCopied ? 100 : Math.round((Number(done) / Number(total)) * 100)} %`;
    }
    throw new Error(`it ended before it was killed: ${said}`);
  }

  async move(to: string, isServer: boolean): Promise<string> {
    const beganMs = performance.now();
    const child = this.#spawn(['move-database', '--to', to, '--json'], isServer);
    const printed = await new Response(child.stdout).text();
    if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
    const tookS = (performance.now() - beganMs) / 1000;
    const ownS = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
    const counts = Object.values<number>(JSON.parse(printed).rows);
    const rows = counts.reduce((sum, count) => sum + count, 0);
    const rate = Math.round(rows / tookS);
    return `${rows} rows in ${tookS.toFixed(1)} s (${ownS.toFixed(1)} s of processor), ${rate} a second`;
  }
}

export const move: Case = {
  about:
    'how long a move takes; ends with 1 if one that is killed at 30 % or 70 % loses something, or exports, lists and the audit log of both sides differ in a byte',
  options: { devices: '1000000', sends: '3' },
  needs: ['initdb'],
  run: async (bench) => {
    const { url } = await bench.postgres();
    const moved = new Moved(bench, url);
    const deviceCount = bench.number('devices');
    await seed(bench, moved.dataDir, {
      providerCount: PROVIDER_COUNT,
      linkCount: deviceCount,
      deviceCount,
    });
    seedLedger(moved.dataDir, bench.number('sends'));
    const before = moved.prints(false);
    let isSame = true;
    const compare = (what: string, isServer: boolean) => {
      const now = moved.prints(isServer);
      const others = now.filter((line, at) => line !== before[at]);
      console.log(`${what}: ${others.length === 0 ? 'the same' : `OTHERS: ${others.join(', ')}`}`);
      if (others.length > 0) isSame = false;
    };
    for (const [to, isServer, from, other] of [
      [url, false, 'the file', 'PostgreSQL'],
      ['sqlite', true, 'PostgreSQL', 'the file'],
    ] as const) {
      for (const part of KILLS) {
        console.log(`to ${other}: ${await moved.kill(to, isServer, part)}`);
        compare(`${from} after the kill`, isServer);
      }
      console.log(`to ${other}: ${await moved.move(to, isServer)}`);
      compare(other, !isServer);
    }
    return isSame;
  },
};
