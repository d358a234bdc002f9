/**
 * Drives the kit by lines of JSON on standard input, for `gatepost device check --against` and
 * tests.
 */

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Device,
  type DeviceOptions,
  discover,
  type Handling,
  type PushAddress,
} from './src/index.ts';

interface Start {
  url: string;
  folder: string;
  link: string;
  domain_hash: string;
  subscription?: { url: string; headers: Record<string, string> } | null;
  frame_max?: number | null;
  os: string;
  locale: string;
  hwid: string | null;
  pace: number;
  ping: number | null;
  mode: 'stream' | 'poll';
  push: PushAddress | null;
  transaction: boolean;
}

/** The file of the store: the state of the kit, and the app's effects. */
interface Kept {
  state: string | null;
  effects: number[];
}

class File {
  readonly #path: string;
  kept: Kept = { state: null, effects: [] };

  constructor(folder: string) {
    this.#path = join(folder, 'device.json');
    if (existsSync(this.#path)) this.kept = JSON.parse(readFileSync(this.#path, 'utf8'));
  }

  write(change: Partial<Kept>): void {
    this.kept = { ...this.kept, ...change };
    writeFileSync(`${this.#path}.new`, JSON.stringify(this.kept));
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function say(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

let device: Device | null = null;
let file: File | null = null;

function start(order: Start): void {
  const kept = new File(order.folder);
  file = kept;
  const about = { os: order.os, os_version: '15', device_name: 'Driver', app_version: '1.0' };
  const link = { install_code: order.link, domain_hash: order.domain_hash };
  const { subscription } = order;
  const server = subscription
    ? discover(subscription.url, subscription.headers, about)
    : { url: order.url, registration: { ...about, ...link } };
  if (server === null) {
    say({ said: 'nothing' });
    return;
  }
  const options: DeviceOptions = {
    ...server,
    store: { read: () => kept.kept.state, write: (state) => kept.write({ state }) },
    hwid: order.hwid ?? undefined,
    ping: order.ping ?? undefined,
    push: order.push ?? undefined,
    frameMax: order.frame_max ?? undefined,
    locale: order.locale,
    mode: order.mode,
    pace: order.pace,
    onMessage({ message: { id, notification_type: type }, texts, action, state }: Handling) {
      say({ said: 'message', id, type, title: texts.title, text: texts.plain, action });
      const effects = [...kept.kept.effects, id];
      kept.write(order.transaction ? { state, effects } : { effects });
      return order.transaction ? 'kept' : undefined;
    },
    onState(state, detail, why) {
      const { freeUrl, ...rest } = why ?? {};
      say({ said: 'state', state, detail, ...rest, ...(freeUrl && { free_url: freeUrl }) });
    },
  };
  device = new Device(options);
  void device.run();
  say({ said: 'started' });
}

async function obey(order: Record<string, unknown>): Promise<void> {
  if (order['do'] === 'start') start(order as unknown as Start);
  if (order['do'] === 'push') {
    await device?.push(order['data'] as Record<string, unknown>, order['shown'] === true);
  }
  if (order['do'] === 'push_token') {
    const { gateway, token } = order as unknown as PushAddress;
    await device?.setPush({ gateway, token });
  }
  if (order['do'] === 'opened') await device?.opened(Number(order['id']));
  if (order['do'] === 'headers') say({ said: 'headers', headers: await device?.headers() });
  if (order['do'] === 'effects') say({ said: 'effects', ids: file?.kept.effects ?? [] });
  if (order['do'] === 'stop') {
    device?.close();
    say({ said: 'stopped' });
  }
}

for await (const line of createInterface({ input: process.stdin })) void obey(JSON.parse(line));
process.exit(0);
