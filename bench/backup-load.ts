/** A steady stream of add-install calls over some connections, each call remembered. */

import { createHash } from 'node:crypto';

export interface Call {
  code: string;
  /** When it was due; a stall also delays the calls behind. */
  dueMs: number;
  sentMs: number;
  ackMs: number;
}

export interface LoadOptions {
  /** Calls a second. */
  rate: number;
  connections: number;
}

/** A code of a link that looks as random as those of real ones. */
export function codeOf(seed: string): string {
  return createHash('sha256').update(seed).digest('hex').slice(0, 12);
}

const wallMs = () => performance.timeOrigin + performance.now();

interface Line {
  socket: Bun.Socket<undefined> | null;
  call: Call | null;
  seen: string;
}

export class BackupLoad {
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
