/** What a commit tells other nodes, by NOTIFY. Commits that notify wait for each other. */

import { sql } from 'drizzle-orm';
import { prepare, type Runner, value } from './statement.ts';

/** Channel that nodes listen on. A payload is ids of devices, comma-separated. */
export const CHANNEL = 'gatepost';

/** Devices in one payload, which may have 8,000 bytes. */
const DEVICES_MAX = 450;

export class Signals {
  readonly #notify = prepare(sql`SELECT pg_notify(${value('channel')}, ${value('payload')})`);

  /** Tells other nodes, with the commit, to look for these devices. */
  async notify(on: Runner, deviceIds: readonly number[]): Promise<void> {
    for (let n = 0; n < deviceIds.length; n += DEVICES_MAX) {
      const payload = deviceIds.slice(n, n + DEVICES_MAX).join(',');
      await this.#notify.run(on, { channel: CHANNEL, payload });
    }
  }
}
