/**
 * A backup while links are being added at a steady rate: how long each call took before, during and
 * after it, and whether the restored copy holds exactly what was acknowledged.
 */

import { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, type Case, share, wallMs, who } from './driver.ts';

/** A code of a link that looks as random as those of real ones. */
const codeOf = (of: string) => createHash('sha256').update(of).digest('hex').slice(0, 12);

interface Call {
  code: string;
  /** When it was due; a stall also delays the calls behind. */
  dueMs: number;
  sentMs: number;
  ackMs: number;
}

interface LoadOptions {
  /** Calls a second. */
  rate: number;
  connections: number;
}

interface Line {
  socket: Bun.Socket<undefined> | null;
  call: Call | null;
  seen: string;
}

class Load {
  readonly #calls: Call[] = [];
  readonly #lines: Line[] = [];
  readonly #free: Line[] = [];
  #isEnding = false;
  #next = 0;
  #startMs = 0;
  failed = 0;
  /** Calls that found no free connection when they were due. */
  late = 0;

  constructor(
    readonly url: string,
    readonly path: string,
    readonly options: LoadOptions,
  ) {}

  async run(): Promise<void> {
    const { hostname, port } = new URL(this.url);
    for (let n = 0; n < this.options.connections; n++) {
      const line: Line = { socket: null, call: null, seen: '' };
      line.socket = await Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          data: (_, bytes) => this.#take(line, bytes),
          error: () => {
            this.failed += 1;
          },
        },
      });
      this.#lines.push(line);
      this.#free.push(line);
    }
    this.#startMs = wallMs();
    while (!this.#isEnding) {
      this.#send();
      await Bun.sleep(1);
    }
  }

  /** Sends what is due and has a connection. */
  #send(): void {
    const due = ((wallMs() - this.#startMs) * this.options.rate) / 1000;
    while (this.#next < due && this.#free.length > 0 && !this.#isEnding) {
      const line = this.#free.pop() as Line;
      const code = codeOf(`call${this.#next}`);
      const dueMs = this.#startMs + (this.#next * 1000) / this.options.rate;
      this.#next += 1;
      const sentMs = wallMs();
      if (sentMs - dueMs > 50) this.late += 1;
      line.call = { code, dueMs, sentMs, ackMs: 0 };
      line.socket?.write(`GET ${this.path}&install_code=${code} HTTP/1.1\r\nhost: bench\r\n\r\n`);
    }
  }

  #take(line: Line, bytes: Uint8Array): void {
    line.seen += Buffer.from(bytes).toString('latin1');
    const head = line.seen.indexOf('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(line.seen)?.[1];
    if (head < 0 || length === undefined) return;
    if (line.seen.length < head + 4 + Number(length)) return;
    const { call } = line;
    if (call !== null && line.seen.includes('"rc":1')) {
      call.ackMs = wallMs();
      this.#calls.push(call);
    } else {
      this.failed += 1;
    }
    line.call = null;
    line.seen = '';
    this.#free.push(line);
    this.#send();
  }

  /** Waits for the answers that are out and gives every acknowledged call, in order of sending. */
  async end(): Promise<Call[]> {
    this.#isEnding = true;
    while (this.#lines.some(({ call }) => call !== null)) await Bun.sleep(5);
    for (const { socket } of this.#lines) socket?.end();
    return this.#calls.sort((a, b) => a.sentMs - b.sentMs);
  }
}

function fill(bench: Bench, dataDir: string): void {
  bench.addProvider(dataDir);
  const db = new Database(join(dataDir, 'gatepost.db'));
  const add = db.prepare(`INSERT INTO install
    (provider_id, install_code, install_limit, status, created_at_ms) VALUES (1, ?, 3, 10, 0)`);
  db.transaction(() => {
    for (let n = 0; n < bench.number('links'); n++) add.run(codeOf(`seed${n}`));
  })();
  add.finalize();
  db.close();
}

function figures(name: string, calls: readonly Call[]): void {
  const took = calls.map(({ sentMs, ackMs }) => ackMs - sentMs);
  const queued = calls.map(({ dueMs, ackMs }) => ackMs - dueMs);
  const first = calls[0]?.sentMs ?? 0;
  const rate = Math.round((took.length * 1000) / ((calls.at(-1)?.sentMs ?? first) - first));
  const late = (ms: number) => `over ${ms} ms: ${took.filter((value) => value > ms).length}`;
  const [p50, p99, most] = [0.5, 0.99, 1].map((part) => share(took, part).toFixed(1));
  console.log(
    `${name}: ${took.length} calls, ${rate}/s, p50 ${p50} ms, p99 ${p99} ms, max ${most} ms, ` +
      `${late(50)}, ${late(100)}; from when due: p99 ${share(queued, 0.99).toFixed(0)} ms, ` +
      `max ${share(queued, 1).toFixed(0)} ms`,
  );
}

interface Span {
  beganMs: number;
  endedMs: number;
  file: string;
}

/** Whether the copy holds what it must and nothing else; says so. */
function compare(
  bench: Bench,
  { file, beganMs, endedMs }: Span,
  calls: readonly Call[],
  secret: readonly string[],
): boolean {
  const copy = join(bench.folder, 'copy');
  rmSync(copy, { recursive: true, force: true });
  bench.command(['restore', file, '--data', copy, ...secret]);
  const db = new Database(join(copy, 'gatepost.db'), { readonly: true });
  const rows = db.query<{ code: string }, []>('SELECT install_code AS code FROM install').all();
  db.close();
  const codes = new Set(rows.map(({ code }) => code));
  const missing = calls.filter(({ code, ackMs }) => ackMs < beganMs && !codes.has(code)).length;
  const tooNew = calls.filter(({ code, sentMs }) => sentMs > endedMs && codes.has(code)).length;
  const held = calls.filter(({ code }) => codes.has(code));
  // Ids are given out in the order of commits: a copy of one moment has no gap.
  const unknown = rows.length - bench.number('links') - held.length;
  console.log(
    `restored: ${rows.length} links; acknowledged before and missing ${missing}, ` +
      `sent after and there ${tooNew}, there and never acknowledged ${unknown}`,
  );
  return missing + tooNew + unknown === 0;
}

export const backup: Case = {
  isSpread: true,
  about:
    'calls that add links at a steady rate before, during and after backups; ends with 1 if a restored copy does not hold exactly what was acknowledged',
  options: {
    rate: '10000',
    links: '300000',
    connections: '64',
    quiet: '10',
    backups: '3',
    encrypt: false,
  },
  run: async (bench) => {
    const quietMs = bench.number('quiet') * 1000;
    const passphraseFile = join(bench.folder, 'passphrase');
    writeFileSync(passphraseFile, 'a passphrase for the bench\n', { mode: 0o600 });
    const secret = bench.is('encrypt') ? ['--passphrase-file', passphraseFile] : [];
    const dataDir = bench.place('data');
    fill(bench, dataDir);
    const { url } = await bench.serve(dataDir);
    const load = new Load(url, `/api/add-install?${who()}&install_limit=3&note=bench`, {
      rate: bench.number('rate'),
      connections: bench.number('connections'),
    });
    void load.run();
    await Bun.sleep(quietMs);
    const spans: Span[] = [];
    for (let n = 0; n < bench.number('backups'); n++) {
      const file = join(bench.folder, `${n}.backup`);
      const beganMs = wallMs();
      const words = [bench.executable, 'backup', file, '--data', dataDir, ...secret];
      const env = { PATH: process.env['PATH'] ?? '', GATEPOST_CONFIG: 'none' };
      if ((await Bun.spawn(words, { env, stdout: 'ignore' }).exited) !== 0) {
        throw new Error('the backup failed');
      }
      const endedMs = wallMs();
      const mib = (path: string) => (statSync(path).size / 1024 / 1024).toFixed(0);
      const database = join(dataDir, 'gatepost.db');
      console.log(
        `backup ${n + 1}: ${((endedMs - beganMs) / 1000).toFixed(1)} s, database ` +
          `${mib(database)} MiB, file ${mib(file)} MiB, WAL ${mib(`${database}-wal`)} MiB`,
      );
      spans.push({ beganMs, endedMs, file });
      await Bun.sleep(quietMs / 2);
    }
    const calls = await load.end();
    const within = (from: number, to: number) =>
      calls.filter(({ sentMs, ackMs }) => ackMs >= from && sentMs < to);
    const firstMs = spans[0]?.beganMs ?? 0;
    figures('before', within(firstMs - quietMs + 2000, firstMs));
    for (const [n, { beganMs, endedMs }] of spans.entries()) {
      figures(`during backup ${n + 1} and 1 s after`, within(beganMs, endedMs + 1000));
      figures(`later, after backup ${n + 1}`, within(endedMs + 1000, endedMs + quietMs / 2));
    }
    console.log(`calls that failed: ${load.failed}; sent late by more than 50 ms: ${load.late}`);
    return spans.map((span) => compare(bench, span, calls, secret)).every(Boolean);
  },
};
