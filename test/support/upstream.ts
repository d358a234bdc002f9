/** An appliance in front of a panel, and the devices that come to it. */

import { afterEach } from 'bun:test';
import { connect } from 'node:net';
import type { Core } from '../../src/core/core.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { readKeyPath } from '../../src/core/key-path.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { Credentials } from '../../src/core/provider.ts';
import type { Upstream } from '../../src/http/upstream/settings.ts';
import { call, seedProvider, startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { type Panel, type PanelCall, startPanel } from './panel.ts';
import { bind } from './shop.ts';

export const HOST = 'sub.example.org';
export const KEY = 'a1b2c3d4e5f6g7h8';

export function keyPath(template: string) {
  const read = readKeyPath(template);
  if (isRefused(read)) throw new Error(read.detail);
  return read;
}

/** An upstream as the configuration gives it. */
export function upstreamTo(url: string, provider: string, more: Partial<Upstream> = {}): Upstream {
  return {
    host: HOST,
    url,
    provider,
    keyPaths: [keyPath('/sub/{key}')],
    key: 'plain',
    codesAsKeys: false,
    keySecretFile: '',
    passPaths: [],
    limits: 'own',
    read: 'proxy',
    cutOff: false,
    panelAdmin: '',
    unlimitedAs: 100,
    panel: '',
    panelUrl: '',
    panelTokenFile: '',
    panelAccountFile: '',
    panelHeadersFile: '',
    followMs: 0,
    panelFile: '',
    followGone: 'tell',
    followNotes: false,
    defaultLimit: 3,
    enforce: true,
    browsers: 'refuse',
    otherPaths: 'refuse',
    refusedAs: 'own',
    refusedStatus: 404,
    placeholder: false,
    timeoutMs: 20_000,
    answerBytesMax: 10_000_000,
    requestsMax: 256,
    hostHeader: 'original',
    ride: 'notifications',
    announce: 'message',
    providerIdFile: '',
    updateIntervalHours: 0,
    ...more,
  };
}

/** What a client got, header names in lower case; the body in Latin-1, without its framing. */
export interface Got {
  status: number;
  headers: ReadonlyMap<string, string>;
  body: string;
  /** False if it broke off. */
  isWhole: boolean;
}

export interface Fronted {
  app: TestApp;
  panel: Panel;
  own: Credentials;
  /** Asks as a device does; without a HWID when it is null. */
  get(path: string, hwid: string | null, headers?: Record<string, string>): Promise<Got>;
  /** Links with their counts, as the provider lists them. */
  links(): Promise<{ count: number; limit: number; note: string }[]>;
  stop(): Promise<void>;
}

/**
 * Starts a panel and an appliance in front of it, with a provider that has bound the host. `wrap`
 * may put something around the store.
 */
export async function startFronted(
  behave?: (call: PanelCall) => Promise<void> | void,
  more: Partial<Upstream> = {},
  options: TestAppOptions = {},
  wrap?: (core: Core) => Core,
): Promise<Fronted> {
  const panel = await startPanel(behave);
  const app = await startTestApp(options, wrap);
  const own = await seedProvider(app);
  await bind(app, own, hostHash(HOST));
  app.settings.gateUpstreams = [upstreamTo(panel.url, own.code, more)];
  const port = Number(new URL(app.url).port);
  return {
    app,
    panel,
    own,
    get: (path, hwid, headers = {}) =>
      exchange(port, 'GET', path, { ...(hwid !== null && { 'x-hwid': hwid }), ...headers }),
    links: async () => {
      const { json } = await call(app, '/api/list-install', own);
      return json.data.map((link: Record<string, unknown>) => ({
        count: link['install_count'],
        limit: link['install_limit'],
        note: link['note'],
      }));
    },
    stop: async () => {
      await app.close();
      await panel.stop();
    },
  };
}

/** Returns what starts one, or more, for a test of this file; they stop after the test. */
export function useFronted(): typeof startFronted {
  const started: Fronted[] = [];
  afterEach(async () => {
    for (const fronted of started.splice(0)) await fronted.stop();
  });
  return async (...from) => {
    const fronted = await startFronted(...from);
    started.push(fronted);
    return fronted;
  };
}

/** Sends a request as it is, with `Host` unless `headers` has its own; reads to the end. */
export function exchange(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Got> {
  const all = { Host: HOST, Connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return sendRaw(port, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, method === 'HEAD');
}

/** Sends bytes, and reads the one answer until the connection closes; `onPart` gets its parts. */
export async function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  isHead = false,
  onPart: (part: Buffer) => void = () => {},
): Promise<Got> {
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      onPart(chunk);
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve());
  });
  return parse(Buffer.concat(chunks).toString('latin1'), isHead);
}

function parse(raw: string, isHead: boolean): Got {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) return { status: 0, headers: new Map(), body: '', isWhole: false };
  const [first = '', ...lines] = raw.slice(0, end).split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [name = '', ...value] = line.split(':');
    const key = name.toLowerCase();
    const before = headers.get(key);
    const text = value.join(':').trim();
    headers.set(key, before === undefined ? text : `${before}, ${text}`);
  }
  const status = Number(first.split(' ')[1]);
  const rest = raw.slice(end + 4);
  if (isHead) return { status, headers, body: rest, isWhole: true };
  if (headers.get('transfer-encoding') !== 'chunked') {
    const length = Number(headers.get('content-length') ?? 0);
    return { status, headers, body: rest, isWhole: rest.length === length };
  }
  return { status, headers, ...unchunked(rest) };
}

function unchunked(text: string): { body: string; isWhole: boolean } {
  const parts: string[] = [];
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return { body: parts.join(''), isWhole: false };
    const length = Number.parseInt(text.slice(at, lineEnd), 16);
    if (length === 0) return { body: parts.join(''), isWhole: true };
    parts.push(text.slice(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}
