/** `gatepost device check` and apps that send what no app should: each case has a verdict. */

import { expect, test } from 'bun:test';
import { lineOf } from '../../src/cli/device-check.ts';
import { CASES, type CheckVerdict, checkDriver } from '../../src/device-check/check.ts';
import { Stage } from '../../src/device-check/stage.ts';
import { binary, plainEnv, residentMib } from '../support/process.ts';

const quoted = (lines: readonly string[]) => lines.map((line) => `'${line}'`).join(' ');

test('a driver may say anything, and the case that it fails says what it was', async () => {
  const lines = ['null', '7', '"text"', '{"said":"message","title":{"toString":1}}'];
  const odd = [...lines, '{"said":"headers","headers":null}', `x${'y'.repeat(1_000)}`];
  const found: CheckVerdict[] = [];
  const cases = CASES.filter(({ name }) => name === 'register');
  const command = `printf '%s\\n' ${quoted(odd)}`;
  await checkDriver(command, cases, { pace: 0.03 }, (verdict) => found.push(verdict));
  expect(found).toMatchObject([{ verdict: 'failed' }]);
  expect(found[0]?.did).toMatch(/^ended with code 0; the driver said: null$/);
});

test('a line has no control characters of the app', () => {
  const verdict = {
    case: 'ping',
    verdict: 'failed',
    should: 'ask',
    did: 'asked \u001b[2J',
  } as const;
  expect(lineOf(verdict)).not.toContain('\u001b');
});

test('acknowledgements that are none are noted as such, and a wait that is none ends at once', async () => {
  const stage = new Stage('127.0.0.1', 0, 0.03);
  try {
    const post = (path: string, body: unknown) =>
      fetch(`${stage.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    await post('/device/register', {});
    for (const items of [null, 7, {}, [null, 7, 'x', { id: 3, state: 'opened' }]]) {
      expect((await post('/device/ack', { items })).status).toBe(200);
    }
    expect(stage.acked().map(({ id, state }) => [id, state])).toEqual([
      ...[0, 0, 0].map((id) => [id, '']),
      [3, 'opened'],
    ]);
    const headers = { authorization: `Bearer ${stage.token}` };
    const inbox = await fetch(`${stage.url}/device/inbox?wait=soon`, { headers });
    expect(await inbox.json()).toEqual({ rc: 1, msg: 'Ok', data: [] });
  } finally {
    stage.stop();
  }
});

test('6,000 registrations of 60 KB each take less than 300 MB', async () => {
  const child = Bun.spawn([binary(), 'device', 'check', '--listen', '0'], {
    env: plainEnv(),
    stdout: 'ignore',
    stderr: 'pipe',
  });
  try {
    const { value } = await child.stderr.getReader().read();
    const url = /http:\/\/\S+(?=,)/.exec(new TextDecoder().decode(value))?.[0];
    const long = 'x'.repeat(60_000);
    const bodies = [{ hwid: 'a'.repeat(16), note: long }, { hwid: long }];
    const texts = bodies.map((body) => JSON.stringify(body));
    let rest = 6_000;
    const post = async () => {
      for (; rest > 0; rest -= 1) {
        const body = texts[rest % 2];
        expect((await fetch(`${url}/device/register`, { method: 'POST', body })).status).toBe(200);
      }
    };
    await Promise.all(Array.from({ length: 8 }, post));
    expect(await residentMib(child.pid)).toBeLessThan(300);
  } finally {
    child.kill('SIGKILL');
    await child.exited;
  }
});

test('what an app sends is kept up to a bound, and only what the cases read', async () => {
  const stage = new Stage('127.0.0.1', 0, 0.03);
  try {
    const post = async (path: string, body: unknown) => {
      const text = JSON.stringify(body);
      expect((await fetch(`${stage.url}${path}`, { method: 'POST', body: text })).status).toBe(200);
    };
    await post('/device/register', { hwid: 'h', os: 'x'.repeat(9_000), note: 'x'.repeat(9_000) });
    expect(stage.of('register')[0]?.body).toEqual({ hwid: 'h', os: '9002 characters' });
    const items = Array.from({ length: 20 }, () => ({ id: 1, state: 'x'.repeat(3_000) }));
    for (let n = 0; n < 400; n++) await post('/device/ack', { items });
    const { length } = stage.of('ack');
    expect(length).toBeGreaterThan(200);
    expect(length).toBeLessThan(300);
  } finally {
    stage.stop();
  }
});
