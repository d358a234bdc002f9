/**
 * `gatepost device check`: the kit for TypeScript passes it, and each fault that is planted in a
 * copy of the kit is found by a case of its own.
 */

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { binary, ROOT, run } from '../support/process.ts';
import { faultsOf } from './driven.ts';
import { type Fault, findsFault } from './planted.ts';

const KIT = join(ROOT, 'sdk/typescript');
/** A busy machine hides faults of time: a case that does not find its fault is played again. */
const PACES = [0.03, 0.3, 2];

/** Cases in which pauses of some 20 ms would have to be seen at the first pace. */
const UNHURRIED = ['acknowledgement-later', 'close-1001'];

const driverIn = (folder: string) => `${process.execPath} ${join(folder, 'driver.ts')}`;

test('the kit for TypeScript passes every case', async () => {
  expect(await faultsOf(driverIn(KIT), 0.03)).toEqual([]);
});

const DEVICE = 'src/device.ts';
const INBOX = 'src/inbox.ts';
const LINE = 'src/line.ts';
const MESSAGE = 'src/message.ts';
const STATE = 'src/state.ts';

const FAULTS: readonly Fault[] = [
  ['register', /without domain_hash/, 'driver.ts', ', domain_hash: order.domain_hash }', ' }'],
  [
    'hwid',
    /as another install/,
    STATE,
    'crypto.getRandomValues(new Uint8Array(16))',
    'Buffer.alloc(16)',
  ],
  [
    'restart',
    /without its token/,
    STATE,
    "token: typeof token === 'string' ? token : null",
    'token: null',
  ],
  ['restart-twice', /handled message 1 twice/, STATE, ', seen, acks };', ', seen: [], acks };'],
  ['token-dies', /did not register again/, DEVICE, '({ ...state, token: null })', 'state'],
  [
    'token-dies-away',
    /did not register/,
    DEVICE,
    'if (answer.msg === TOKEN_ERROR) await this.#dropToken(token, answer);',
    'if (false) {}',
  ],
  [
    'token-dies-twice',
    /did not tell/,
    DEVICE,
    "this.#end('refused', text, { reason: 'other_device', text });",
    '',
  ],
  ['replaced', /came back/, DEVICE, "this.#end('replaced');", ''],
  ['refused', /did not tell/, DEVICE, "this.#end('refused', msg, whyOf(answer));", ''],
  [
    'push-address',
    /did not register the new/,
    DEVICE,
    'if (this.#running !== null) await',
    'if (false) await',
  ],
  [
    'lost-registration',
    /took its own registration/,
    DEVICE,
    'if (token === this.#doubted) return;',
    '',
  ],
  ['headers', /says x-hwid: phone/, STATE, "'x-hwid': hwid", "'x-hwid': 'phone'"],
  ['ping', /asked for ping=null/, LINE, "ping === undefined ? '' :", "true ? '' :"],
  [
    'message',
    /message 2 as executed/,
    INBOX,
    "? 'executed' : 'received'",
    "? 'received' : 'received'",
  ],
  ['twice', /handled message 1 twice/, INBOX, 'if (before !== null) {', 'if (false) {'],
  [
    'order',
    /handled 11, 12/,
    INBOX,
    'messages.map((one)',
    'messages.toSorted((a, b) => a.id - b.id).map((one)',
  ],
  [
    'many',
    /250 messages in one|in one request/,
    INBOX,
    'const ACKS_EACH = 100;',
    'const ACKS_EACH = 1000;',
  ],
  ['unknown-action', /1 as failed/, MESSAGE, 'ACTIONS.has(action) ? null', 'true ? null'],
  [
    'unknown-type',
    /1 as failed/,
    MESSAGE,
    'if (type === NOTIFICATION) return null;',
    'if (type !== COMMAND) return null;',
  ],
  [
    'expiry',
    /1 as received/,
    INBOX,
    'const state = await this.keeper.read();',
    'if (Date.parse(given.expires_at) < Date.now()) return true; const state = await this.keeper.read();',
  ],
  ['texts', /showed "<b>/, MESSAGE, ".replace(/<[^<>]*>/g, '')", ''],
  [
    'push-first',
    /handled message 1|acknowledge/,
    DEVICE,
    "seenIn(state, id) === null ? knowing(state, { id, state: 'received' }) : state",
    'state',
  ],
  ['push-test', /acknowledged the id 0/, DEVICE, '|| id <= 0) return', ') return'],
  ['push-inside', /1 as received/, DEVICE, 'await this.#inbox.take([message]);', ''],
  ['opened', /1 as opened/, DEVICE, "owing(state, { id, state: 'opened' })", 'state'],
  [
    'close-1001',
    /before 500 ms were over/,
    DEVICE,
    'await pause(pauseMs * (0.5 + Math.random()), this.#stop.signal);',
    '',
  ],
  ['pauses', /before attempt/, DEVICE, 'Math.min(2 * pauseMs, pauseLastMs)', 'pauseMs'],
  [
    'silence',
    /went on waiting/,
    LINE,
    "wasGivenUp = !Number.isFinite(openedAtMs);\n            this.cut('silence');",
    '',
  ],
  [
    'cut-answer',
    /did not register after/,
    LINE,
    '  } catch {\n    return null;',
    "  } catch {\n    return { rc: 0, msg: 'cut' };",
  ],
  [
    'cut-frame',
    /ended with code 1/,
    LINE,
    'if (answer === null) return socket.end();',
    'if (answer === null) process.exit(1);',
  ],
  [
    'lost-acknowledgement',
    /1 as received/,
    INBOX,
    'line.acknowledge(some);',
    'line.acknowledge(some); await this.confirmed(some);',
  ],
  [
    'confirmed',
    /message 1 again/,
    LINE,
    'if (answer.rc === 1) on.confirmed(sent.acks);',
    'if (answer.rc === 1) {}',
  ],
  ['malformed', /more than three times/, LINE, 'else on.malformed(sent.acks);', ''],
  [
    'acknowledgement-later',
    /without a pause|again/,
    INBOX,
    'if (answer.rc !== 1) {',
    'if (false) {',
  ],
  [
    'too-many-requests',
    /did not register after/,
    DEVICE,
    "new Set(['Too many requests', 'Unknown error'])",
    'new Set([])',
  ],
  ['poll', /no poll that waits/, DEVICE, '`?wait=', '`?w='],
  ['stop', /left its stream open|asked again/, DEVICE, '    this.#stop.abort();\n', ''],
];

describe('a fault is found', () => {
  test.concurrent.each(FAULTS)('%s', async (name, did, ...fault) => {
    const [file, text, instead] = fault;
    const paces = UNHURRIED.includes(name) ? PACES.slice(-1) : PACES;
    await findsFault(KIT, driverIn, [name, did, file, text, instead], paces);
  });
});

test('the executable says line by line what a driver did', async () => {
  const words = ['device', 'check', '--against', driverIn(KIT), '--pace', '0.05'];
  const { code, stdout } = await run([...words, '--only', 'message', 'twice']);
  expect(stdout.split('\n').sort()).toEqual([
    '',
    '2 passed, 0 failed, 0 skipped',
    expect.stringMatching(/^ok {4}message +handle a message once/),
    expect.stringMatching(/^ok {4}twice +drop a message whose id/),
  ]);
  expect(code).toBe(0);
  const dead = ['device', 'check', '--against', 'false', '--pace', '0.01', '--only', 'refused'];
  const failed = await run([...dead, '--json']);
  expect(JSON.parse(failed.stdout)).toMatchObject({ case: 'refused', verdict: 'failed' });
  expect(failed.code).toBe(1);
  const unknown = await run(['device', 'check', '--against', 'true', '--only', 'sleep']);
  expect(unknown.stderr).toContain('there is no case sleep; the cases: register, ');
  expect(unknown.code).toBe(2);
  expect(binary()).toContain('gatepost');
});
