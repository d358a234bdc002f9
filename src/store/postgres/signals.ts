/** Signals between nodes, by NOTIFY. Commits that notify wait for each other. */

import { sql } from '../statement-text.ts';
import { prepare, type Runner } from './statement.ts';

/** Channel that nodes listen on. A payload is the sender and ids of devices. */
export const CHANNEL = 'gatepost';

/** The payload after a migration. */
export const SCHEMA_CHANGED = 'schema';

/** Most devices in one payload, which may have 8,000 bytes. */
const DEVICES_MAX = 450;

const notify = prepare(sql`
    SELECT pg_notify(${CHANNEL}, payload) FROM unnest(:payloads::text[]) payload`);

export class Signals {
  /** Marks payloads of this store. */
  readonly #sender = crypto.randomUUID();

  /** Signals these devices to other nodes, with the commit. */
  async notify(on: Runner, deviceIds: readonly number[]): Promise<void> {
    const payloads: string[] = [];
    for (let n = 0; n < deviceIds.length; n += DEVICES_MAX) {
      payloads.push(`${this.#sender} ${deviceIds.slice(n, n + DEVICES_MAX).join(',')}`);
    }
    if (payloads.length > 0) await notify.run(on, { payloads });
  }

  /** Sends a payload to this store itself, to check that it still listens. */
  async ping(on: Runner): Promise<void> {
    await notify.run(on, { payloads: [`${this.#sender} `] });
  }

  /** Returns the devices of a payload; null: this store sent it. */
  devicesOf(payload: string): number[] | null {
    const [sender, ids = ''] = payload.split(' ');
    if (sender === this.#sender) return null;
    return ids.split(',').filter(Boolean).map(Number);
  }
}
