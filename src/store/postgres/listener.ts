/**
 * LISTEN on a connection of its own. Bun.SQL would reconnect by itself, at its own pace and with
 * log lines of its own: so a lost connection is dropped, and the caller opens another.
 */

import type { SQL } from 'bun';
import { CHANNEL } from './signals.ts';

export interface ListenerHost {
  /** Opens a connection; `onLost` is called when it is lost. */
  connect(onLost: () => void): SQL;
  /** Called when no later signal is missed. */
  onListening(): void;
  onPayload(payload: string): void;
}

export class Listener {
  #connection: SQL | null = null;
  #isListening = false;
  readonly #host: ListenerHost;

  constructor(host: ListenerHost) {
    this.#host = host;
  }

  /** True if it listens, or is about to. */
  get isOpen(): boolean {
    return this.#connection !== null;
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  /** Begins to listen. Never rejects. */
  async open(): Promise<void> {
    const connection = this.#host.connect(() => this.#drop(connection));
    this.#connection = connection;
    try {
      await connection.listen(
        CHANNEL,
        (payload) => this.#host.onPayload(payload),
        () => this.#begun(connection),
      );
    } catch {
      this.#drop(connection);
    }
  }

  /** Stops listening; it may be opened again. */
  close(): void {
    if (this.#connection !== null) this.#drop(this.#connection);
  }

  #begun(connection: SQL): void {
    if (this.#connection !== connection) return;
    this.#isListening = true;
    this.#host.onListening();
  }

  #drop(connection: SQL): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#isListening = false;
    connection.close({ timeout: 0 }).catch(() => undefined);
  }
}
