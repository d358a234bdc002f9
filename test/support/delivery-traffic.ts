/**
 * Providers and devices that keep a server busy with messages, and what they were promised. A call
 * whose answer got lost may or may not have happened; what was answered must hold.
 */

import type { Credentials } from '../../src/core/provider.ts';
import { call, type Reply } from './app.ts';
import type { Random } from './random.ts';

export const DOMAIN_HASH = 'd'.repeat(64);

export interface Sent {
  provider: number;
  /** The payload that devices must get, and nothing else under this id. */
  marker: string;
  /** Devices by HWID; null: all of the provider's. */
  hwids: string[] | null;
  isScheduled: boolean;
}

/** A device that fetches and acknowledges. */
export class LiveDevice {
  token = '';
  /** The copies of each message, and their payload. */
  readonly got = new Map<number, { times: number; marker: string }>();
  readonly acknowledged = new Set<number>();

  constructor(
    readonly hwid: string,
    readonly provider: number,
  ) {}
}

export class Traffic {
  readonly sent = new Map<number, Sent>();
  readonly cancelled = new Set<number>();
  /** Asked for, but the answer got lost. */
  readonly maybeCancelled = new Set<number>();
  readonly problems: string[] = [];
  answers = 0;
  lost = 0;
  #serial = 0;

  constructor(
    readonly credentials: readonly Credentials[],
    readonly devices: readonly LiveDevice[],
    readonly random: Random,
    /** Whether an answer leaves open what came of the call. */
    private readonly isUnknown: (reply: Reply) => boolean = () => false,
  ) {}

  /** Runs everybody against a server until `isOver`. */
  async run(url: string, isOver: () => boolean): Promise<void> {
    const loop = async (act: () => Promise<unknown>) => {
      while (!isOver()) await act();
    };
    await Promise.all([
      ...this.credentials.map((_, provider) => loop(() => this.#send(url, provider))),
      ...this.credentials.map((_, provider) => loop(() => this.#cancel(url, provider))),
      ...this.devices.map((device) => loop(() => this.fetch(url, device, 1))),
    ]);
  }

  /** Null: the server did not answer. */
  async #call(...parameters: Parameters<typeof call>): Promise<Reply | null> {
    try {
      const reply = await call(...parameters);
      if (this.isUnknown(reply)) throw new Error(reply.text);
      this.answers += 1;
      return reply;
    } catch {
      this.lost += 1;
      // A dead server or database refuses at once: without a pause this would be a busy loop.
      await Bun.sleep(this.random.int(1, 10));
      return null;
    }
  }

  async #send(url: string, provider: number): Promise<void> {
    this.#serial += 1;
    const marker = `message ${this.#serial}`;
    const isGeneral = this.random.chance(0.15);
    const isScheduled = this.random.chance(0.4);
    const own = this.devices.filter((device) => device.provider === provider);
    const hwids = isGeneral ? null : [this.random.pick(own).hwid];
    const body = {
      action_type: 'import-data',
      import_data: marker,
      ...(hwids ? { hwid: hwids.join(',') } : { os: ['android'] }),
      // Far enough ahead that it may be cancelled.
      ...(isScheduled && scheduleAhead(this.random.int(12, 60))),
    };
    const init = { method: 'POST', body: JSON.stringify(body) };
    const credentials = this.credentials[provider] ?? null;
    const reply = await this.#call({ url }, '/remote/command', credentials, {}, init);
    if (reply === null) return;
    if (reply.json?.rc !== 1) this.problems.push(`send: ${reply.text}`);
    else this.sent.set(reply.json.id, { provider, marker, hwids, isScheduled });
  }

  async #cancel(url: string, provider: number): Promise<void> {
    const open = [...this.sent].filter(
      ([id, sent]) =>
        sent.provider === provider && sent.isScheduled && !this.cancelled.has(id) && id % 2 === 0,
    );
    const chosen = open.at(-1);
    if (chosen === undefined) {
      await Bun.sleep(this.random.int(1, 10));
      return;
    }
    const [id] = chosen;
    const reply = await this.#call({ url }, '/remote/cancel', this.credentials[provider] ?? null, {
      id,
    });
    if (reply === null) this.maybeCancelled.add(id);
    else if (reply.json?.rc === 1 || this.maybeCancelled.has(id)) this.cancelled.add(id);
    else this.problems.push(`cancel ${id}: ${reply.text}`);
  }

  /** One poll of a device, and the acknowledgement of most of what came. */
  async fetch(url: string, device: LiveDevice, waitSeconds: number): Promise<number> {
    const headers = { authorization: `Bearer ${device.token}` };
    const query = { wait: waitSeconds };
    const inbox = await this.#call({ url }, '/device/inbox', null, query, { headers });
    if (inbox === null) return 0;
    if (inbox.json?.rc !== 1) {
      this.problems.push(`inbox: ${inbox.text}`);
      return 0;
    }
    const items = [];
    for (const { id, payload } of inbox.json.data) {
      const marker = Buffer.from(payload['input-data'] ?? '', 'base64').toString();
      const before = device.got.get(id);
      if (before && before.marker !== marker) this.problems.push(`${id}: another message`);
      device.got.set(id, { times: (before?.times ?? 0) + 1, marker });
      if (this.random.chance(0.7)) items.push({ id, state: 'executed' });
    }
    if (items.length > 0) await this.#acknowledge(url, device, items);
    return inbox.json.data.length;
  }

  async #acknowledge(url: string, device: LiveDevice, items: { id: number }[]): Promise<void> {
    const headers = { authorization: `Bearer ${device.token}` };
    const init = { method: 'POST', headers, body: JSON.stringify({ items }) };
    const reply = await this.#call({ url }, '/device/ack', null, {}, init);
    if (reply?.json?.rc === 1) for (const { id } of items) device.acknowledged.add(id);
    else if (reply) this.problems.push(`ack: ${reply.text}`);
  }
}

/** `send_date` and `send_time`, which are in UTC+3. */
function scheduleAhead(minutes: number) {
  const at = new Date(Date.now() + (minutes + 180) * 60_000).toISOString();
  return { send_date: at.slice(0, 10), send_time: at.slice(11, 16) };
}
