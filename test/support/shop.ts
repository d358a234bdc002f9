/** A provider with a domain, links and devices on them: by HTTP, in a test's process or another. */

import type { Credentials } from '../../src/core/provider.ts';
import { call, type Reply, seedProvider, type TestApp } from './app.ts';
import { addProviderByCommand, type ServerProcess, startServe } from './process.ts';

export const HASH = 'a'.repeat(64);
export const LINK = 'LinkCode0001';

interface Address {
  url: string;
}

export interface Link {
  id: number;
  code: string;
  limit: number;
}

export async function expectOk(call: Promise<Reply>): Promise<Reply> {
  const reply = await call;
  if (reply.json.rc !== 1) throw new Error(`not ok: ${reply.text}`);
  return reply;
}

/** Binds a domain, or makes its binding active again. */
export async function bind(at: Address, by: Credentials, hash = HASH): Promise<void> {
  const { json, text } = await call(at, '/api/add-domain', by, { domain_hash: hash });
  if (json.id === undefined) throw new Error(`not bound: ${text}`);
}

/** Adds a link; with `code` null the server chooses one. */
export async function addLink(
  at: Address,
  by: Credentials,
  code: string | null = LINK,
  limit = 5,
): Promise<Link> {
  const query = { install_limit: limit, ...(code !== null && { install_code: code }) };
  const { json } = await expectOk(call(at, '/api/add-install', by, query));
  return { id: json.id, code: json.install_code, limit };
}

/** Knocks as an app does when its user opens a link. */
export async function enter(at: Address, hwid: string, code = LINK, hash = HASH): Promise<void> {
  const knock = { id: hash, installid: code, hwid, os_name: 'android' };
  await expectOk(call(at, '/install', null, knock));
}

/** An enterprise provider with a binding. */
export async function seedShop(app: TestApp, hash = HASH): Promise<Credentials> {
  const own = await seedProvider(app);
  await bind(app, own, hash);
  return own;
}

export interface Shop {
  dataDir: string;
  own: Credentials;
  server: ServerProcess;
  /** All servers, on one data directory; the first is `server`. */
  servers: ServerProcess[];
  links: Link[];
}

/** Starts servers, and makes a provider with a binding and links that have these `limits`. */
export async function openShop(
  order: {
    serverCount?: number;
    env?: Record<string, string>;
    plan?: 'pro' | 'enterprise';
    limits?: readonly number[];
  } = {},
): Promise<Shop> {
  const { serverCount = 1, env = {}, plan = 'enterprise', limits = [] } = order;
  const server = await startServe({ env });
  const { dataDir } = server;
  const own = await addProviderByCommand(dataDir, '--plan', plan);
  await bind(server, own);
  const servers = [server];
  while (servers.length < serverCount) servers.push(await startServe({ dataDir, env }));
  const links: Link[] = [];
  for (const limit of limits) links.push(await addLink(server, own, null, limit));
  return { dataDir, own, server, servers, links };
}
