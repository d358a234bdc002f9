/** The cases are played to a server of ours; and what the player says of one that is wrong. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { casesOf } from '../../src/conformance/case.ts';
import { allCases } from '../../src/conformance/cases.ts';
import type { CaseFile } from '../../src/conformance/format.ts';
import { type CaseVerdict, runCases } from '../../src/conformance/run.ts';
import { type Conforming, startConforming } from '../support/conforming.ts';

let server: Conforming;
beforeAll(async () => {
  server = await startConforming();
});
afterAll(() => server.close());

test('every case passes', async () => {
  const verdicts = await server.play();
  expect(verdicts.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
  expect(verdicts.map((verdict) => verdict.case)).toEqual(allCases().map(({ name }) => name));
});

test('without --write nothing is played that writes; without a caller, nothing that it says', async () => {
  const read = await server.play(undefined, { writes: false });
  const played = read.filter(({ verdict }) => verdict === 'passed').map((one) => one.case);
  expect(played).toEqual(
    allCases()
      .filter(({ reads }) => reads)
      .map(({ name }) => name),
  );
  const bare = await server.play(undefined, { callers: {} });
  const [, ...needs] =
    /'(\w+)'/.exec(bare.find((one) => one.case === 'add-install')?.at ?? '') ?? [];
  expect(needs).toEqual(['own']);
});

const KEY = 'k'.repeat(32);
const CALLER = { provider_code: 'Provide1', auth_key: KEY };

type Answer = (request: Request) => Response;

/** Plays cases to a server that answers everything so. */
async function verdictsOn(answer: Answer, all: CaseFile['cases']): Promise<CaseVerdict[]> {
  const wrong = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
  const found: CaseVerdict[] = [];
  const played = casesOf({ about: '', as: 'own', cases: all }, { about: '', cases: [] });
  const options = {
    url: `http://127.0.0.1:${wrong.port}`,
    callers: { own: CALLER },
    writes: true,
    nowMs: () => 0,
    sleep: async () => {},
  };
  await runCases(played, options, (verdict) => found.push(verdict));
  await wrong.stop(true);
  return found;
}

async function verdictOn(answer: Answer, one: CaseFile['cases'][number]): Promise<CaseVerdict> {
  return (await verdictsOn(answer, [one]))[0] as CaseVerdict;
}

const CASE = { name: 'a-case', rule: 'a rule that holds', call: 'GET /api/list-install' };
const json =
  (body: unknown, init: ResponseInit = {}) =>
  () =>
    Response.json(body, init);

test.each([
  ['a field too many', json({ rc: 1, msg: 'Ok', more: 1 }), 'body.more', 'no such field', 1],
  ['a field too few', json({ rc: 1 }), 'body.msg', 'Ok', 'no such field'],
  ['a text for a number', json({ rc: '1', msg: 'Ok' }), 'body.rc', 1, '1'],
  ['another status', json({ rc: 1, msg: 'Ok' }, { status: 404 }), 'status', 200, 404],
  ['a page', () => new Response('<p>'), 'headers.content-type', '<json>', expect.any(String)],
  [
    'no JSON',
    () => new Response('', { headers: { 'content-type': 'application/json' } }),
    'body',
    'an object',
    null,
  ],
] as const)('a difference is named: %s', async (_, answer, path, expected, got) => {
  const verdict = await verdictOn(answer, { ...CASE, answer: 'Ok' });
  expect(verdict).toMatchObject({ verdict: 'failed', difference: { path, expected, got } });
});

test('no key and no token is in the report', async () => {
  const token = 'T'.repeat(43);
  const answer = json({ rc: 0, msg: `${KEY} ${token}` });
  const verdict = await verdictOn(answer, {
    ...CASE,
    answer: 'Ok',
    query: { a: '{own.auth_key}' },
  });
  expect(verdict.difference).toMatchObject({ path: 'body.rc' });
  const told = await verdictOn(answer, { ...CASE, answer: 'Auth error' });
  expect(told.difference).toEqual({ path: 'body.msg', expected: 'Auth error', got: '*** ***' });
});

test('a redirect is not followed: the address has the key', async () => {
  const asked: string[] = [];
  const answer = ({ url }: Request) => {
    asked.push(new URL(url).pathname);
    return new Response(null, { status: 302, headers: { location: '/elsewhere' } });
  };
  const verdict = await verdictOn(answer, { ...CASE, answer: 'Ok' });
  expect(verdict.difference).toMatchObject({ path: 'status', got: 302 });
  expect(asked).toEqual(['/api/list-install']);
});

test('a parameter that is null is not sent', async () => {
  const asked: string[] = [];
  const answer = ({ url }: Request) => {
    asked.push(new URL(url).search);
    return Response.json({ rc: 1, msg: 'Ok' });
  };
  const query = { auth_key: null, provider_code: null, a: null, b: '1' };
  const verdict = await verdictOn(answer, { ...CASE, as: 'none', answer: 'Ok', query });
  expect(verdict.verdict).toBe('passed');
  expect(asked).toEqual(['?b=1']);
});

test('a step that may be repeated for a second is tried six times, also if no clock goes', async () => {
  let count = 0;
  const answer = () => {
    count += 1;
    return Response.json({ rc: 0, msg: 'Unknown error' });
  };
  const verdict = await verdictOn(answer, { ...CASE, answer: 'Ok', until: 1 });
  expect([verdict.verdict, count]).toEqual(['failed', 6]);
});

test('a server that misses an answer now and then is asked on', async () => {
  const cut = () => new Response('no gzip', { headers: { 'content-encoding': 'gzip' } });
  const answer = ({ url }: Request) =>
    url.includes('/cut') ? cut() : Response.json({ rc: 1, msg: 'Ok' });
  const calls = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? 'GET /cut' : 'GET /whole'));
  const all = calls.map((call, n) => ({ ...CASE, name: `case-${n}`, call, answer: 'Ok' }));
  const verdicts = (await verdictsOn(answer, all)).map(({ verdict }) => verdict);
  expect(verdicts).toEqual(calls.map((call) => (call === 'GET /cut' ? 'failed' : 'passed')));
});

test('a server that is not there, and one that answers too much, is a difference', async () => {
  const much = () =>
    new Response(new Uint8Array(25 * 1024 ** 2), {
      headers: { 'content-type': 'application/json' },
    });
  const verdict = await verdictOn(much, { ...CASE, answer: 'Ok' });
  expect(verdict.difference?.got).toMatch(/^more than \d+ bytes$/);
  const all = await server.play(undefined, { url: 'http://127.0.0.1:1' });
  const [gone] = all;
  expect(gone?.difference).toMatchObject({
    path: 'answer',
    got: expect.stringMatching(/^no answer/),
  });
  expect(all.findIndex(({ at }) => at === 'the server does not answer')).toBe(3);
});
