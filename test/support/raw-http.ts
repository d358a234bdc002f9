/**
 * HTTP/1.1 spoken byte by byte, so that requests can be wrong and answers are seen as they came.
 */

import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** Null: the connection was closed without an answer. */
  status: number | null;
  /** Lower-case names. */
  headers: ReadonlyMap<string, string>;
  body: string;
  /** Everything as it came, Latin-1. */
  raw: string;
}

const NO_ANSWER: RawAnswer = { status: null, headers: new Map(), body: '', raw: '' };

/** A connection that is made when it is needed and again when it is gone. */
export class Lane {
  readonly #port: number;
  #socket: Socket | null = null;
  #received = '';
  #wake: () => void = () => {};

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends `bytes` and reads `count` answers, or fewer if the connection is closed before. */
  async exchange(bytes: Uint8Array, count: number, isHead: boolean): Promise<RawAnswer[]> {
    const socket = await this.#connection();
    socket.write(bytes);
    const answers: RawAnswer[] = [];
    while (answers.length < count) {
      const answer = this.#take(isHead);
      if (answer) {
        if (answer.status !== 100) answers.push(answer);
      } else if (this.#socket === null) {
        if (answers.length === 0) answers.push(NO_ANSWER);
        break;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
    return answers;
  }

  /**
   * Sends more, at the speed at which the other side takes it; a connection that is gone takes all.
   */
  push(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket === null || this.#socket.write(bytes)) return resolve();
      this.#wake = resolve;
      this.#socket.once('drain', resolve);
    });
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  /** Drops the connection: after a wrong request nobody knows where the next one begins. */
  drop(): void {
    this.#socket?.destroy();
    this.#socket = null;
    this.#received = '';
  }

  #connection(): Promise<Socket> {
    if (this.#socket) return Promise.resolve(this.#socket);
    this.#received = '';
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.#port, host: '127.0.0.1' });
      const gone = () => {
        if (this.#socket === socket) this.#socket = null;
        this.#wake();
      };
      socket.on('connect', () => {
        this.#socket = socket;
        resolve(socket);
      });
      socket.on('data', (chunk: Buffer) => {
        if (this.#socket !== socket) return;
        this.#received += chunk.toString('latin1');
        this.#wake();
      });
      socket.on('error', (error) => {
        gone();
        reject(error);
      });
      socket.on('close', gone);
    });
  }

  /** The next whole answer, if it is there. */
  #take(isHead: boolean): RawAnswer | null {
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return null;
    const [statusLine = '', ...lines] = this.#received.slice(0, headEnd).split('\r\n');
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(statusLine.split(' ')[1]);
    const bodyLength = isHead || status === 100 ? 0 : Number(headers.get('content-length') ?? 0);
    const end = headEnd + 4 + bodyLength;
    if (this.#received.length < end) return null;
    const raw = this.#received.slice(0, end);
    this.#received = this.#received.slice(end);
    return { status, headers, body: raw.slice(headEnd + 4), raw };
  }
}
