/** The cost of a stranger: one request at each door that needs no credentials. */

import { type Bench, type Case, forAll } from './driver.ts';
import type { Server } from './process.ts';
import { domainHash } from './shape.ts';

const CPU_MAX_MS = 1;
const UNDER_WAY = 4;
/** More than a table of addresses holds. */
const NETWORKS = 15_000;

/** A request; `chunks`: a body without a declared length. */
type Sent = Omit<RequestInit, 'headers'> & { headers?: Record<string, string>; chunks?: string };
type Door = readonly [what: string, path: string, sent?: Sent];

const inChunks = (chunks: string): Sent => ({ method: 'POST', chunks });
const post = (body?: string): Sent => ({ method: 'POST', ...(body !== undefined && { body }) });
const call = (name: string, given: unknown): Door => [
  `the console's ${name}`,
  `/console/call/${name}`,
  post(JSON.stringify(given)),
];
const form = (body: string): Sent => ({
  ...post(body),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
const KNOCK = { headers: { 'x-hwid': 'phone-1', 'x-device-os': 'Android' } };
const WRONG = 'provider_code=Provide1&auth_key=wrong-key-of-a-stranger-0000';
const HASH = domainHash(1);

/** The baseline first. */
const DOORS: readonly Door[] = [
  ['a path that does not exist', '/nothing'],
  ['the root', '/'],
  ['the document', '/openapi.json'],
  ['the page of documents', '/docs'],
  ['the console', '/console'],
  ['the page of users', '/my'],
  ['the page of a link that is not there', '/my?link=AnnaLink0001'],
  ['the form of that page, empty', '/my', post()],
  ['the form of that page, a guess', '/my', form('link=AnnaLink0001')],
  ['the form of that page, 4 KiB', '/my', form(`link=${'x'.repeat(4_000)}`)],
  ['a call with a wrong key', `/api/list-install?${WRONG}`],
  ['a message with a wrong key', `/remote/notification?${WRONG}`, post('{}')],
  ['an unknown provider', '/provider?id=Provide1&hwid=phone-1'],
  ['an unknown link', `/install?id=${HASH}&installid=AnnaLink0001`, KNOCK],
  ['the gate', '/gate', { headers: { 'x-original-uri': '/sub/key', 'x-hwid': 'phone-1' } }],
  ['a registration, empty', '/device/register', post()],
  ['a registration, an empty text', '/device/register', post('')],
  ['a registration, no field', '/device/register', post('{}')],
  ['a registration, brackets', '/device/register', post('['.repeat(8_000))],
  ['a registration, unknown link', '/device/register', post(registration('AnnaLink0001'))],
  ['a registration of a new HWID', '/device/register', post('{"hwid":"phone-NUMBER"}')],
  ['a registration, in chunks', '/device/register', inChunks('{}')],
  ['a registration, empty in chunks', '/device/register', inChunks('')],
  ['an inbox without a token', '/device/inbox'],
  ['acknowledgements without a token', '/device/ack', post('{"items":[]}')],
  ['a stream without a token', '/device/stream'],
  ['a preflight', '/device/register', { method: 'OPTIONS', headers: preflight() }],
  call('session.me', {}),
  call('session.key', { code: 'Provide1', key: 'wrong-key-of-a-stranger-0000' }),
  call('session.entry', { secret: 'x'.repeat(43) }),
  call('session.invited', { secret: 'x'.repeat(43), name: 'anna' }),
  call('session.passkey-challenge', {}),
  call('links.list', {}),
  ["the console's calls, empty", '/console/call/session.key', post()],
  ["the console's calls, brackets", '/console/call/session.key', post('['.repeat(8_000))],
];

function registration(installCode: string): string {
  return JSON.stringify({ hwid: 'phone-1', install_code: installCode, domain_hash: HASH });
}

function preflight(): Record<string, string> {
  return { origin: 'https://app.example.com', 'access-control-request-method': 'POST' };
}

let networks = 0;

/** Makes a request from another network, as a proxy with TLS passes it on. */
function initOf({ url }: Server, { chunks, ...sent }: Sent = {}): RequestInit {
  networks += 1;
  const network = `2001:db8:${(networks >> 16).toString(16)}:${(networks & 0xffff).toString(16)}::1`;
  const origin = url.replace('http:', 'https:');
  const proxied = { origin, 'x-forwarded-for': network, 'x-forwarded-proto': 'https' };
  const text = typeof sent.body === 'string' ? sent.body.replace('NUMBER', `${networks}`) : null;
  const body = chunks === undefined ? text : new Blob([chunks]).stream();
  return { ...sent, headers: { ...proxied, ...sent.headers }, ...(body !== null && { body }) };
}

/** Sends a request again and again, some at a time. Returns the start of the last answer. */
async function sendMany(server: Server, [, path, init]: Door, count: number): Promise<string> {
  let answer = '';
  await forAll(0, count, UNDER_WAY, async () => {
    const response = await fetch(server.url + path, initOf(server, init));
    answer = `${response.status} ${(await response.text()).slice(0, 60)}`;
  });
  return answer.split('\n')[0] ?? '';
}

/**
 * Each request comes from a network of its own, after those of more networks than any table
 * remembers. The limits of tries are off, so that each request is answered at once.
 * `session.password` is no row: a guess costs a hash on purpose, on a thread of its own, and is
 * limited.
 */
export const doors: Case = {
  about:
    'processor time of a request from a stranger at each door without credentials, beside a path that does not exist; ends with 1 over 1 ms',
  options: { only: '', requests: '1000', networks: String(NETWORKS) },
  run: async (bench: Bench) => {
    const count = bench.number('requests');
    const trusted = { GATEPOST_TRUSTED_PROXIES: '127.0.0.1' };
    const server = await bench.serve(bench.place('data'), trusted);
    for (const door of DOORS.filter(([what]) => /a wrong key|unknown link|a guess/.test(what))) {
      await sendMany(server, door, bench.number('networks'));
    }
    let baselineMs = 0;
    const over: string[] = [];
    for (const door of DOORS) {
      const [what] = door;
      if (baselineMs > 0 && !bench.takes(what)) continue;
      // The first requests compile and fill caches.
      await sendMany(server, door, 20);
      const startSeconds = server.cpuSeconds();
      const answer = await sendMany(server, door, count);
      const cpuMs = ((server.cpuSeconds() - startSeconds) * 1000) / count;
      baselineMs ||= cpuMs;
      if (cpuMs > CPU_MAX_MS) over.push(what);
      const ratio = (cpuMs / baselineMs).toFixed(1);
      console.log(`${what.padEnd(42)} ${cpuMs.toFixed(3)} ms  x${ratio.padEnd(6)} ${answer}`);
    }
    await server.stop();
    console.log(
      over.length === 0 ? 'each door costs at most 1 ms' : `over 1 ms: ${over.join('; ')}`,
    );
    return over.length === 0;
  },
};
