/** The player of the cases against servers that answer what no server should. */

import { expect, test } from 'bun:test';
import { type Case, casesOf } from '../../src/conformance/case.ts';
import type { CaseFile } from '../../src/conformance/format.ts';
import { type CaseVerdict, runCases } from '../../src/conformance/run.ts';

const KEY = 'k'.repeat(32);
const TOKEN = 'T'.repeat(43);
const CALLER = { provider_code: 'Provide1', auth_key: KEY };

interface Hostile {
  answer?: () => Response;
  /** Frames that it sends to each stream. */
  frames?: string[];
}

/** Plays one case to a server. */
async function verdictOn(
  { answer, frames = [] }: Hostile,
  own: Partial<CaseFile['cases'][number]>,
  nowMs = () => 0,
): Promise<CaseVerdict> {
  using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, own) {
      if (answer !== undefined) return answer();
      return own.upgrade(request) ? undefined : Response.json({});
    },
    websocket: {
      backpressureLimit: 2 ** 30,
      open: (socket) => {
        for (const frame of frames) socket.send(frame);
      },
      message() {},
    },
  });
  const one = { name: 'a-case', rule: 'a rule that holds', ...own };
  const [played] = casesOf({ about: '', as: 'own', cases: [one] }, { about: '', cases: [] });
  const found: CaseVerdict[] = [];
  const options = {
    url: `http://127.0.0.1:${server.port}`,
    callers: { own: CALLER },
    writes: true,
    nowMs,
    sleep: Bun.sleep,
  };
  await runCases([played as Case], options, (verdict) => found.push(verdict));
  return found[0] as CaseVerdict;
}

/** An answer with these bytes as JSON, and `Ok` in front. */
const ok = (member: string) => () =>
  new Response(`{"rc":1,"msg":"Ok",${member}}`, {
    headers: { 'content-type': 'application/json' },
  });
const CALL = { call: 'GET /api/list-install', answer: 'Ok' };

test.each(['toString', 'constructor', 'hasOwnProperty', '__proto__'])(
  'a field that every object has is one too many: %s',
  async (name) => {
    const verdict = await verdictOn({ answer: ok(`"${name}":{}`) }, CALL);
    expect(verdict).toMatchObject({
      verdict: 'failed',
      difference: { path: `body.${name}`, expected: 'no such field' },
    });
  },
);

test.each<[string, unknown, unknown?]>([
  ['a token after a line break', `\n${TOKEN}`, '\n***'],
  ['letters after a line break that look like a token', `\n${'a'.repeat(42)}`],
  ['letters after a control character', `\u0001${'a'.repeat(38)}`],
  ['in a list, and as a name', [{ [TOKEN]: [KEY] }], [{ '***': ['***'] }]],
])('the contents of an answer are reported without secrets: %s', async (_, value, told = value) => {
  const verdict = await verdictOn({ answer: ok(`"more":${JSON.stringify(value)}`) }, CALL);
  expect(verdict.difference).toEqual({ path: 'body.more', expected: 'no such field', got: told });
});

test('the name of a field is reported in plain letters, without secrets, and cut', async () => {
  const name = JSON.stringify(`\u001b]0;x\u0007\u009b ${KEY}${'y'.repeat(1_000)}`);
  const verdict = await verdictOn({ answer: ok(`${name}:1`) }, CALL);
  expect(verdict.difference?.path).toMatch(/^body\.\?\]0;x\?\? \*{3}y{50,200}…$/);
});

test('the beginning of a long value is reported', async () => {
  const answer = ok(`"more":["${'x'.repeat(1_000_000)}"]`);
  const { difference } = await verdictOn({ answer }, CALL);
  expect(difference?.got).toMatch(/^\["x{3000,5000}…$/);
});

test('a stream that sends too much is ended', async () => {
  const frames = Array.from({ length: 4 }, () => 'x'.repeat(16 * 1024 ** 2));
  const verdict = await verdictOn(
    { frames },
    { steps: [{ open: '/device/stream' }, { frame: { rc: 1 } }] },
  );
  expect(verdict.verdict).toBe('failed');
  const closed = await verdictOn(
    { frames },
    { steps: [{ open: '/device/stream' }, { closed: 1006 }] },
  );
  expect(closed).toMatchObject({ verdict: 'passed' });
});

test('a step that may be repeated for a second ends although each answer is late', async () => {
  let asked = 0;
  const answer = () => {
    asked += 1;
    return Response.json({ rc: 0, msg: 'no' });
  };
  const verdict = await verdictOn({ answer }, { ...CALL, until: 1 }, () => asked * 600);
  expect(verdict.verdict).toBe('failed');
  expect(asked).toBe(2);
});
