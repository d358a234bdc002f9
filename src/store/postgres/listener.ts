/**
 * Listens to what other nodes tell, on a connection of its own. Bun.SQL would connect again by
 * itself, in its own time and with lines of its own: so a connection that went is given up, and the
 * caller opens another.
 */

import type { SQL } from 'bun';
import { CHANNEL } from './signals.ts';

export interface ListenerHost {
  /** Opens a connection; `onLost` is called when it goes. */
  connect(onLost: () => void): SQL;
  /** From now on everything is heard. */
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

  /** True: it listens, or is about to. */
  get isOpen(): boolean {
    return this.#connection !== null;
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  /** Begins to listen. Never rejects. */
  async open(): Promise<void> {
    const connection = this.#host.connect(() => this.#giveUp(connection));
    this.#connection = connection;
    try {
      await connection.listen(
        CHANNEL,
        (payload) => this.#host.onPayload(payload),
        () => this.#begun(connection),
      );
    } catch {
      this.#giveUp(connection);
    }
  }

  /** Ends it; it may be opened again. */
  close(): void {
    if (this.#connection !== null) this.#giveUp(this.#connection);
  }

  #begun(connection: SQL): void {
    if (this.#connection !== connection) return;
    this.#isListening = true;
    this.#host.onListening();
  }

  #giveUp(connection: SQL): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#isListening = false;
    connection.close({ timeout: 0 }).catch(() => undefined);
  }
}
