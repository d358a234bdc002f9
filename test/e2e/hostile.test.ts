/**
 * Hostile requests by the ten thousand: whatever comes, an answer under /api/ and /remote/ is HTTP
 * 200 JSON with an integer `rc` and a string `msg`, except what Bun's HTTP parser refuses before
 * any handler runs. Those classes (but the last three, from `REFUSED` in
 * support/hostile-words.ts):
 *
 * | class                                        | answer                 |
 * |----------------------------------------------|------------------------|
 * | control character or blank in the target     | 505                    |
 * | version other than HTTP/1.0 and HTTP/1.1     | 505                    |
 * | lines that do not end in CR LF               | 505                    |
 * | no Host in HTTP/1.1                          | 400                    |
 * | target that is no path                       | 400                    |
 * | request that begins with something else      | 400                    |
 * | malformed header                             | 400                    |
 * | control character in a header                | 400                    |
 * | malformed Content-Length                     | 400                    |
 * | contradictory lengths                        | 400                    |
 * | Transfer-Encoding but chunked                | 400                    |
 * | head beyond 16 KiB                           | 431                    |
 * | more than 100 headers                        | 431                    |
 * | unknown method                               | closed without answer  |
 * | malformed chunk, come before the answer      | 400                    |
 * | pipelined before the answer to another       | closed without answer  |
 *
 * HOSTILE_REQUESTS=100000 bun test test/e2e/hostile.test.ts runs it longer, HOSTILE_SEED=n
 * otherwise.
 */

import { beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import { type HostileRequest, Hostility } from '../support/hostile.ts';
import {
  addProviderByCommand,
  residentMib,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { Random } from '../support/random.ts';
import { Lane, type RawAnswer } from '../support/raw-http.ts';
import { isAskedFor, scaleOf } from '../support/scale.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

const REQUESTS = scaleOf('HOSTILE_REQUESTS', { short: 10_000, long: 50_000 });
const SEED = Number(process.env['HOSTILE_SEED'] ?? 3);
const LANES = 8;
/** After so many of the requests, everything that grows once has grown. */
const WARM_UP_SHARE = 0.3;
/** Growth of resident memory allowed after that, MiB; SQLite's page cache alone may take 32. */
const GROWTH_MAX_MIB = 48;
/** A body far larger than the memory that the server may take for it, MiB. */
const BODY_MIB = 300;

useProcesses(2 * PATIENCE_MS + REQUESTS * 5);

let server: ServerProcess;
let credentials: Credentials;
/** The key, and what could stand for it. */
let secrets: string[];

beforeAll(async () => {
  const dataDir = join(temporaryFolder(), 'data');
  credentials = await addProviderByCommand(dataDir);
  const hash = createHash('sha256').update(credentials.authKey).digest();
  secrets = [
    credentials.authKey,
    hash.toString('hex'),
    hash.toString('base64'),
    Buffer.from(credentials.authKey).toString('base64'),
  ];
  // No failing answer is delayed, or most of them would be.
  const env = { GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '1000000000' };
  server = await startServe({ dataDir, env });
});

test(`${REQUESTS} hostile requests: the envelope or a known refusal, flat memory, no key`, async () => {
  const hostility = new Hostility(new Random(SEED), credentials);
  const problems: string[] = [];
  const seen = new Map<string, Set<string>>();
  let left = REQUESTS;
  let warmMib = 0;
  let peakMib = 0;
  const startedMs = performance.now();
  const talk = async () => {
    const lane = new Lane(server.port);
    while (left > 0 && problems.length < 10) {
      const request = hostility.next();
      left -= request.count;
      const answers = await lane.exchange(request.bytes, request.count, request.isHead);
      if (!request.isClean) lane.drop();
      for (const answer of answers) {
        if (answer.status === null && request.count > 1) continue;
        const problem = judge(request, answer);
        if (problem) problems.push(`${problem}: ${shown(request)} got ${answer.raw.slice(0, 300)}`);
        const statuses = seen.get(request.kind) ?? new Set();
        seen.set(request.kind, statuses.add(String(answer.status ?? 'closed')));
      }
      if (left % 500 === 0) peakMib = Math.max(peakMib, await residentMib(server.pid));
      if (warmMib === 0 && left < REQUESTS * (1 - WARM_UP_SHARE)) {
        warmMib = await residentMib(server.pid);
      }
    }
    lane.drop();
  };
  await Promise.all(Array.from({ length: LANES }, talk));
  const seconds = (performance.now() - startedMs) / 1000;

  if (problems.length > 0) problems.push(server.stderr());
  expect(problems).toEqual([]);
  expect(seen.size).toBeGreaterThan(20);
  const endMib = await residentMib(server.pid);
  if (isAskedFor('HOSTILE_REQUESTS')) {
    console.log({ requests: REQUESTS, seconds, warmMib, peakMib, endMib });
    for (const [kind, statuses] of [...seen].sort()) console.log(kind, [...statuses].join(' '));
  }
  expect(endMib - warmMib).toBeLessThan(GROWTH_MAX_MIB);
  // Not one of them was a fault of ours, and nothing was worth a line in the log.
  expect(server.troubles()).toEqual([]);
  expect(holdsSecret(server.stdout())).toBe(false);
  expect((await call(server, '/api/list-install', credentials)).json.rc).toBe(1);
});

test('bodies and methods that fetch can send', async () => {
  const random = new Random(SEED + 1);
  for (let i = 0; i < 300; i++) {
    const form = new FormData();
    form.append('auth_key', credentials.authKey);
    const init = {
      method: random.pick(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
      body: random.pick([form, '{"a":', '\u0000', new Blob(['x'.repeat(random.int(0, 200_000))])]),
    };
    const path = random.pick(['/api/add-install', '/remote/command', '/api/', '/install']);
    const reply = await call(server, path, credentials, { install_limit: 1 }, init);
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({ rc: 0, msg: expect.any(String) });
    expect(reply.json.msg).toMatch(/^(Unknown error|This feature requires .*)$/);
    expect(holdsSecret(JSON.stringify([...reply.headers]))).toBe(false);
  }
});

test(`a body of ${BODY_MIB} MiB is neither kept nor in the way`, async () => {
  const beforeMib = await residentMib(server.pid);
  let peakMib = beforeMib;
  const block = new Uint8Array(1024 * 1024).fill(0x61);
  for (const framing of [
    `Content-Length: ${BODY_MIB * block.length}`,
    'Transfer-Encoding: chunked',
  ]) {
    const isChunked = framing.startsWith('Transfer');
    const lane = new Lane(server.port);
    const head = `POST /api/add-install HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`;
    const [answer] = await lane.exchange(Buffer.from(head), 1, false);
    expect(answer?.body).toBe('{"rc":0,"msg":"Unknown error"}');
    for (let sent = 0; sent < BODY_MIB; sent++) {
      const chunk = isChunked ? [Buffer.from('100000\r\n'), block, Buffer.from('\r\n')] : [block];
      for (const part of chunk) await lane.push(part);
      if (sent % 10 === 0) peakMib = Math.max(peakMib, await residentMib(server.pid));
    }
    // It took them all.
    expect(lane.isOpen).toBe(true);
    lane.drop();
  }
  peakMib = Math.max(peakMib, await residentMib(server.pid));
  expect(peakMib - beforeMib).toBeLessThan(BODY_MIB / 5);
  expect((await call(server, '/api/list-install', credentials)).json.rc).toBe(1);
});

/** What is wrong with an answer, or nothing. */
function judge({ verdict, isHead }: HostileRequest, answer: RawAnswer): string | null {
  if (holdsSecret(answer.raw)) return 'a secret in the answer';
  switch (verdict) {
    case 'closed':
      return answer.status === null ? null : 'expected no answer';
    case 'plain':
      return answer.status === 404 ? null : 'expected 404';
    case 'page':
      return answer.status === 200 && isPage(answer) ? null : 'expected the page';
    case 'json':
      return envelopeProblem(answer, isHead);
    case 'either':
      if (answer.status === 404 || isPage(answer)) return null;
      return envelopeProblem(answer, isHead);
    case 'race':
      // What follows is refused, as no request or as a head that is too long, before the answer.
      if (answer.status === 400 || answer.status === 431) return null;
      return envelopeProblem(answer, isHead);
    default:
      if (answer.status !== verdict) return `expected ${verdict}`;
      return answer.body === '' ? null : 'a refusal of the parser says nothing';
  }
}

function isPage({ headers }: RawAnswer): boolean {
  return headers.get('content-type') === 'text/html; charset=utf-8';
}

function envelopeProblem({ status, headers, body }: RawAnswer, isHead: boolean): string | null {
  if (status !== 200) return 'expected 200';
  if (headers.get('content-type') !== 'application/json') return 'not application/json';
  if (headers.get('cache-control') !== 'no-store') return 'may be cached';
  if (!/^[\x20-\x7e]*$/.test(headers.get('x-error-detail') ?? '')) return 'detail is not ASCII';
  if (headers.get('x-error-detail')?.includes('internal fault')) return 'a fault of ours';
  if (isHead) return null;
  try {
    const { rc, msg } = JSON.parse(body) as { rc: unknown; msg: unknown };
    return Number.isInteger(rc) && typeof msg === 'string' ? null : 'not the envelope';
  } catch {
    return 'not JSON';
  }
}

function holdsSecret(text: string): boolean {
  return secrets.some((secret) => text.includes(secret));
}

function shown({ kind, bytes }: HostileRequest): string {
  return `${kind} ${JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 600))}`;
}
