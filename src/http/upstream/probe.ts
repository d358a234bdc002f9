/** Asks a panel one request of ours, as the proxy asks those of apps. */

import { wordsOfErrno } from '../../base/errno.ts';
import { UpstreamClient } from './client.ts';
import { Failure, type UpstreamResponse } from './exchange.ts';
import type { Upstream } from './settings.ts';

/** The time limit of a response of a panel without another one, ms. */
const PROBE_MAX_MS = 3_000;

export interface Probe {
  method: 'GET' | 'HEAD' | 'OPTIONS';
  path: string;
  /** The time limit of the response, ms; default: three seconds. */
  timeoutMs?: number | undefined;
  /** Headers beside those of each request of the proxy. */
  headers?: Readonly<Record<string, string>>;
}

/** Asks on a connection of its own; `read` takes what it needs of the response. */
export async function probe<T>(
  upstream: Upstream,
  { method, path, timeoutMs = PROBE_MAX_MS, headers: more = {} }: Probe,
  read: (response: UpstreamResponse) => Promise<T>,
): Promise<T | Failure> {
  const { host, hostHeader, url } = upstream;
  const client = new UpstreamClient(url);
  const headers = {
    host: hostHeader === 'original' ? host : client.host,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': host,
    'x-forwarded-proto': 'https',
    'x-real-ip': '127.0.0.1',
    ...more,
  };
  const { signal } = new AbortController();
  const request = { method, path, headers, signal, onEnd: () => {} };
  const response = await client.send({ ...upstream, timeoutMs }, request);
  try {
    if (response instanceof Failure) return response;
    const found = await read(response);
    response.cancel();
    return found;
  } finally {
    client.close();
  }
}

/** Says what a failure was. */
export function told({ isDropped, kind, code }: Failure): string {
  if (isDropped) return 'a closed connection';
  return kind === 'upstream_slow' ? 'no answer in time' : wordsOfErrno(code);
}
