/** A compiled appliance that reaches out to the strict servers. */

import { expect } from 'bun:test';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { reachEnv } from '../servers/reach-env.ts';
import type { StrictServers } from '../servers/strict-servers.ts';
import { call } from './app.ts';
import {
  addProviderByCommand,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from './process.ts';
import { parseMetrics } from './prometheus.ts';
import { bind, expectOk } from './shop.ts';
import { until } from './until.ts';

/** An enterprise provider with a binding, at a server of its own that calls the strict ones. */
export async function openReaching(servers: StrictServers, more: Record<string, string> = {}) {
  const dataDir = join(temporaryFolder(), 'data');
  const by = await addProviderByCommand(dataDir, '--plan', 'enterprise');
  const server = await startServe({ dataDir, env: { ...reachEnv(servers), ...more } });
  await bind(server, by);
  return { server, by };
}

/** A distribution as `/remote/list` shows it. */
export async function statusOf(
  server: { url: string },
  by: Credentials,
  id: number,
): Promise<number> {
  const { json } = await expectOk(call(server, '/remote/list', by, { id }));
  return json.data[0].status;
}

/** Waits until a distribution has ended; returns its status. */
export function ended(
  server: { url: string },
  by: Credentials,
  id: number,
  patienceMs?: number,
): Promise<number> {
  const look = async () => {
    const status = await statusOf(server, by, id);
    return status >= 100 && status;
  };
  return until(`the end of distribution ${id}`, look, patienceMs);
}

/** The metrics of a server as `name{labels}` lines with a value each. */
export async function metricsOf(server: ServerProcess): Promise<Map<string, number>> {
  const text = await (await fetch(`${server.monitorUrl}/metrics`)).text();
  const found = new Map<string, number>();
  for (const { samples } of parseMetrics(text).values()) {
    for (const { name, labels, value } of samples) {
      const inside = Object.entries(labels).map(([label, of]) => `${label}="${of}"`);
      found.set(inside.length === 0 ? name : `${name}{${inside.join(',')}}`, value);
    }
  }
  return found;
}

/** No server saw a breach of its protocol. */
export async function expectNoViolations(servers: StrictServers): Promise<void> {
  for (const name of [
    'fcm',
    'apns',
    'webpush',
    'webpush2',
    'webhook',
    'webhook2',
    'telegram',
  ] as const) {
    const { violations } = await servers.totals(name);
    expect({ name, violations }).toEqual({ name, violations: [] });
  }
}

/** Adds a webhook of a provider's, or its Telegram chat, as a bot does. */
export async function addWebhook(
  server: { url: string },
  by: Credentials,
  query: Record<string, string>,
): Promise<{ id: number; secret: string; public_key: string }> {
  return (await expectOk(call(server, '/api/webhook-add', by, query))).json;
}
