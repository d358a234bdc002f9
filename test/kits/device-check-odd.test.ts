/** `gatepost device check` and apps that send what no app should: each case has a verdict. */

import { expect, test } from 'bun:test';
import { lineOf } from '../../src/cli/device-check.ts';
import { CASES, checkDriver, type Verdict } from '../../src/device-check/check.ts';
import { Stage } from '../../src/device-check/stage.ts';

const quoted = (lines: readonly string[]) => lines.map((line) => `'${line}'`).join(' ');

test('a driver may say anything, and the case that it fails says what it was', async () => {
  const lines = ['null', '7', '"text"', '{"said":"message","title":{"toString":1}}'];
  const odd = [...lines, '{"said":"headers","headers":null}', `x${'y'.repeat(1_000)}`];
  const found: Verdict[] = [];
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
