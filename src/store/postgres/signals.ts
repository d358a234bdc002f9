/** What nodes tell each other by NOTIFY. Commits that notify wait for each other. */

import { sql } from 'drizzle-orm';
import { prepare, type Runner, value } from './statement.ts';

/** Channel that nodes listen on. A payload is the sender and ids of devices. */
export const CHANNEL = 'gatepost';

/** What is told in place of a payload when a schema was changed. */
export const SCHEMA_CHANGED = 'schema';

/** Devices in one payload, which may have 8,000 bytes. */
const DEVICES_MAX = 450;

const notify = prepare(sql`
    SELECT pg_notify(${CHANNEL}, payload) FROM unnest(${value('payloads')}::text[]) payload`);

export class Signals {
  /** Tells payloads of this store from those of others. */
  readonly #sender = crypto.randomUUID();

  /** Tells other nodes, with the commit, to look for these devices. */
  async notify(on: Runner, deviceIds: readonly number[]): Promise<void> {
    const payloads: string[] = [];
    for (let n = 0; n < deviceIds.length; n += DEVICES_MAX) {
      payloads.push(`${this.#sender} ${deviceIds.slice(n, n + DEVICES_MAX).join(',')}`);
    }
    if (payloads.length > 0) await notify.run(on, { payloads });
  }

  /** Sends what this store hears itself, if it hears anything. */
  async ping(on: Runner): Promise<void> {
    await notify.run(on, { payloads: [`${this.#sender} `] });
  }

  /** The devices of a payload; null: it is of this store. */
  devicesOf(payload: string): number[] | null {
    const [sender, ids = ''] = payload.split(' ');
    if (sender === this.#sender) return null;
    return ids.split(',').filter(Boolean).map(Number);
  }
}
