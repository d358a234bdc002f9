/**
 * Statements on a test's data from outside, past the store: on either store, in the same words, and
 * answered at once. `?` stands for each value in turn. A database of PostgreSQL is asked by a
 * thread, for whose answer this one waits.
 */

import type { Database } from 'bun:sqlite';
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import { openBeside } from './database.ts';
import { superuserOf } from './postgres.ts';
import type { TestDatabase } from './postgres-data.ts';
import { PATIENCE_MS } from './until.ts';

type Value = string | number | null | Uint8Array;

/** What tests use of a database. Of a statement: `all`, `get`, `run` and `values`. */
export type Beside = Pick<Database, 'query' | 'prepare' | 'run' | 'transaction' | 'close'>;

/** What is looked into: a file in the folder, unless there is a database. */
export interface Looked {
  dataDir: string;
  database: TestDatabase | null;
}

/** The caller closes it, before the data go. */
export function besideOf({ dataDir, database }: Looked): Beside {
  return database === null ? openBeside(dataDir) : (new Thread(database) as unknown as Beside);
}

interface Answer {
  rows: Record<string, unknown>[];
  count: number;
}

type Answered = Answer & { problem?: string };

class Thread {
  readonly #port: MessagePort;
  readonly #flag = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;
  /** A transaction is open: its first statements are lost with it. */
  #isInside = false;

  constructor({ name, port }: TestDatabase) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = new Worker(new URL('./beside-worker.ts', import.meta.url), {
      workerData: { port: port2, flag: this.#flag, options: superuserOf(port, name) },
      transferList: [port2],
    });
    this.#worker.unref();
  }

  query(sql: string) {
    const rows = (values: Value[]) => this.#ask(sql, values).rows.map(withNumbers);
    return {
      all: (...values: Value[]) => rows(values),
      get: (...values: Value[]) => rows(values)[0] ?? null,
      values: (...values: Value[]) => rows(values).map(Object.values),
      run: (...values: Value[]) => this.run(sql, values),
      finalize: () => undefined,
    };
  }

  prepare(sql: string) {
    return this.query(sql);
  }

  run(sql: string, values: Value[] = []): { changes: number } {
    return { changes: this.#ask(sql, values).count };
  }

  transaction<T>(work: () => T): () => T {
    return () => {
      this.run('BEGIN');
      this.#isInside = true;
      try {
        const made = work();
        this.run('COMMIT');
        return made;
      } catch (fault) {
        this.run('ROLLBACK');
        throw fault;
      } finally {
        this.#isInside = false;
      }
    };
  }

  close(): void {
    void this.#worker.terminate();
  }

  /** Bun's port is empty once in 150,000 times although the thread has posted its answer. */
  #receive(): Answered {
    const giveUpMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received !== undefined) return received.message;
      if (performance.now() > giveUpMs) throw new Error('the thread has posted no answer');
      Bun.sleepSync(0.1);
    }
  }

  /** Asks again when the server of the test and the statement waited for each other. */
  #ask(sql: string, values: readonly Value[]): Answer {
    for (;;) {
      const answer = this.#askOnce(sql, values);
      if (answer.problem === undefined) return answer;
      const isVictim = answer.problem.startsWith('deadlock detected') && !this.#isInside;
      if (!isVictim) throw new Error(`${answer.problem}: ${sql}`);
    }
  }

  #askOnce(sql: string, values: readonly Value[]): Answered {
    let count = 0;
    const numbered = sql.replaceAll('?', () => {
      count += 1;
      return `$${count}`;
    });
    Atomics.store(this.#flag, 0, 0);
    this.#port.postMessage({ sql: numbered, values });
    if (Atomics.wait(this.#flag, 0, 0, PATIENCE_MS) === 'timed-out') {
      throw new Error(`no answer to ${numbered}`);
    }
    return this.#receive();
  }
}

/** A row with numbers where the driver has bigints: ids and times are far below 2^53. */
export function withNumbers(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === 'bigint' ? Number(value) : value,
    ]),
  );
}
