/** Asks a panel whether it answers, for the doctor and for an operator who adds an upstream. */

import { panelOf } from '../../core/panel/kind.ts';
import { signs, strangersToken } from '../../core/panel/token.ts';
import { UpstreamClient } from './ask.ts';
import { type Answer, Failure } from './exchange.ts';
import { proofIn } from './proof.ts';
import type { Upstream } from './settings.ts';

/** The time limit of an answer of a panel, ms. */
const PROBE_MAX_MS = 3_000;
const SILENCE = 'no answer in time';
/** The panel accepted the connection and closed it without a byte. */
const DROPPED = 'dropped';

/** The reaction of a panel. */
export interface PanelLook {
  state:
    | 'answers'
    | 'fails'
    | 'own_address'
    | 'drops'
    | 'not_trusted'
    | 'silent'
    | 'answers_any_key';
  /** The statuses with their paths, or the error. */
  detail: string;
}

/** Asks a panel two questions in turn, and then with made-up keys at all templates at once. */
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
  const asked = await askAsStranger(upstream);
  const served = asked.find(({ isServed }) => isServed);
  if (served !== undefined) {
    return {
      state: 'answers_any_key',
      detail: `${served.said} for a random key at ${served.text}`,
    };
  }
  const said = [`${answer} at /`, ...asked.map(({ said, text }) => `${said} at ${text}`)];
  const isFailing = answer >= 500 && asked.every(({ said }) => !(Number(said) < 500));
  return { state: isFailing ? 'fails' : 'answers', detail: [...new Set(said)].join(', ') };
}

/** Returns true if the panel serves a made-up key: then each guess would make a link. */
export async function servesStrangers(upstream: Upstream): Promise<boolean> {
  return (await askAsStranger(upstream)).some(({ isServed }) => isServed);
}

/** Asks at each template with made-up keys; `said` is the status, or the error. */
async function askAsStranger(
  upstream: Upstream,
): Promise<{ text: string; said: number | string; isServed: boolean }[]> {
  const questions = upstream.keyPaths.flatMap(({ text }) =>
    madeUpKeys(upstream).map((key) => ({ text, path: text.replace('{key}', key) })),
  );
  return Promise.all(
    questions.map(async ({ text, path }) => {
      let isServed = false;
      const said = await ask('GET', path, upstream, async (answer) => {
        const proof = await proofIn(answer, true);
        const believesOther = panelOf(upstream) === null;
        isServed = proof === 'subscription' || (believesOther && proof === 'other');
      });
      return { text, said, isServed };
    }),
  );
}

/** Returns a key of the panel's form that no customer has. */
export const madeUpKey = ({ key }: Pick<Upstream, 'key'>): string =>
  signs(key) ? strangersToken(key) : crypto.randomUUID();

/** Returns made-up keys: of a panel that signs, a token and a plain key. */
function madeUpKeys(upstream: Upstream): string[] {
  return [madeUpKey(upstream), ...(signs(upstream.key) ? [crypto.randomUUID()] : [])];
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
  read: (answer: Answer) => Promise<void> = async () => {},
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
  if (!(answer instanceof Failure)) {
    await read(answer);
    answer.cancel();
    client.close();
    return answer.status;
  }
  client.close();
  if (answer.isDropped) return DROPPED;
  return answer.kind === 'upstream_slow' ? SILENCE : answer.code;
}
