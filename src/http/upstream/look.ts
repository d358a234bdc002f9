/** Asks a panel whether it answers, for the doctor and for an operator who adds an upstream. */

import { signs, strangersToken } from '../../core/panel/token.ts';
import { UpstreamClient } from './ask.ts';
import { Failure } from './exchange.ts';
import type { Upstream } from './settings.ts';

/** The time limit of an answer of a panel, ms. */
const PROBE_MAX_MS = 3_000;
const SILENCE = 'no answer in time';
/** The panel accepted the connection and closed it without a byte. */
const DROPPED = 'dropped';

/** The reaction of a panel, with the error or the template of the path. */
export interface PanelLook {
  state: 'answers' | 'own_address' | 'drops' | 'not_trusted' | 'silent' | 'answers_any_key';
  detail: string;
}

/** Asks a panel at most three questions in turn; the last one asks all templates at once. */
export async function lookAtPanel(
  upstream: Upstream,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<PanelLook> {
  if (isOwnAddress(upstream, host, port)) return { state: 'own_address', detail: '' };
  const answer = await probe(upstream);
  if (answer === DROPPED) return { state: 'drops', detail: '' };
  if (typeof answer === 'string') {
    return { state: OF_CERTIFICATE.test(answer) ? 'not_trusted' : 'silent', detail: answer };
  }
  const statuses = await Promise.all(
    upstream.keyPaths.map(async ({ text }) => ({
      text,
      status: await ask('GET', text.replace('{key}', keyOfNobody(upstream)), upstream),
    })),
  );
  const any = statuses.find(({ status }) => Number(status) >= 200 && Number(status) < 300);
  if (any === undefined) return { state: 'answers', detail: '' };
  return { state: 'answers_any_key', detail: `${any.status} for a random key at ${any.text}` };
}

function keyOfNobody({ key }: Upstream): string {
  return signs(key) ? strangersToken(key) : crypto.randomUUID();
}

/** Faults of a certificate, as OpenSSL and Node call them. */
const OF_CERTIFICATE = /CERT|SIGNATURE|ISSUER|CRL/;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

function isOwnAddress({ url }: Upstream, host: string, port: number): boolean {
  const { hostname, port: panelPort, protocol } = new URL(url);
  const isPort = Number(panelPort || (protocol === 'https:' ? 443 : 80)) === port;
  return isPort && (hostname === host || LOOPBACK.test(hostname));
}

/**
 * Sends a request that a panel answers with any status. Some, such as the page of Remnawave, close
 * the connection for every path without a known key, but answer a preflight.
 */
async function probe(upstream: Upstream): Promise<number | string> {
  const answer = await ask('HEAD', '/', upstream);
  return answer === DROPPED ? ask('OPTIONS', '/', upstream) : answer;
}

/** Sends a request as the proxy does. Returns the status, or the error without an answer. */
async function ask(
  method: 'GET' | 'HEAD' | 'OPTIONS',
  path: string,
  upstream: Upstream,
): Promise<number | string> {
  const { host, hostHeader, url } = upstream;
  const client = new UpstreamClient(url);
  const headers = {
    host: hostHeader === 'original' ? host : client.host,
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': host,
    'x-forwarded-proto': 'https',
    'x-real-ip': '127.0.0.1',
    ...(method === 'OPTIONS' && {
      origin: `https://${host}`,
      'access-control-request-method': 'GET',
    }),
  };
  const { signal } = new AbortController();
  const question = { method, path, headers, signal, onEnd: () => {} };
  const answer = await client.ask({ ...upstream, timeoutMs: PROBE_MAX_MS }, question);
  client.close();
  if (!(answer instanceof Failure)) {
    answer.cancel();
    return answer.status;
  }
  if (answer.isDropped) return DROPPED;
  return answer.kind === 'upstream_slow' ? SILENCE : answer.code;
}
