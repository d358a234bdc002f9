/**
 * `gatepost device check` and faults that are planted in a copy of the kit for Python: the end of a
 * slot, stubs, discovery, and the bounds of waiting.
 */

import { afterAll, describe, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PYTHON } from '../support/kits.ts';
import { cleanUp, ROOT } from '../support/process.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { type Fault, findsFault } from './planted.ts';

setDefaultTimeout(4 * PATIENCE_MS);
afterAll(cleanUp);

const KIT = join(ROOT, 'sdk/python');
const PACES = [0.1, 0.5, 1.5];
/** An interpreter starts slowly where others run beside it, ms. */
const START_MS = 5_000;
const DEVICE = 'gatepost_device/__init__.py';
const LINE = 'gatepost_device/line.py';

const driverIn = (folder: string) => `${PYTHON} ${join(folder, 'driver.py')}`;

const FAULTS: readonly Fault[] = [
  ['slot-freed', /did not tell its user/, DEVICE, 'if answer.get("reason"):', 'if False:'],
  [
    'slot-freed',
    /registered again for a new push address/,
    'driver.py',
    'later(device.set_push({"gateway": order["gateway"], "token": order["token"]}))',
    'later(device.set_push({})); later(device._register(None))',
  ],
  [
    'slot-freed',
    /did not register when its user started/,
    DEVICE,
    'await self._change(lambda s: replace(s, token=None))',
    'pass',
  ],
  [
    'slot-freed-away',
    /did not notice|registered again/,
    DEVICE,
    'elif code in (_CLOSE_ENDED, 401):',
    'elif code == 401:\n            await self._forget(token, {})\n        elif False:',
  ],
  [
    'slot-freed-poll',
    /did not tell its user/,
    DEVICE,
    'await self._hear(answer, token)\n        if answer["rc"]',
    'if answer["rc"]',
  ],
  [
    'close-4004',
    /did not tell its user/,
    DEVICE,
    'elif code in (_CLOSE_ENDED, 401):',
    'elif False:',
  ],
  ['ended', /did not tell its user that it is ended/, DEVICE, 'answer.get("ended") or []', '[]'],
  ['ended', /did not hand over "Your place/, DEVICE, 'said.get("text") or ""', '""'],
  [
    'ended-poll',
    /did not tell its user that it is ended/,
    DEVICE,
    'for place in answer.get("ended") or []:',
    'for place in (answer.get("ended") or []) * (not self.polls):',
  ],
  ['limit', /did not hand over "link_limit_reached"/, DEVICE, 'said.get("reason") or ""', '""'],
  ['limit', /did not hand over "17"/, DEVICE, 'said.get("limit")', 'None'],
  ['limit', /did not hand over "https/, DEVICE, 'said.get("free_url") or ""', '""'],
  ['limit', /not in its language/, LINE, '"Accept-Language": locale', '"X-Language": locale'],
  [
    'discovery',
    /without subscription_url/,
    'gatepost_device/subscription.py',
    '{"subscription_url": url}',
    '{}',
  ],
  [
    'discovery',
    /took a server of another host/,
    'gatepost_device/subscription.py',
    'not _PATH.fullmatch(path):',
    `not path:
        return None
    if path.startswith("//"):
        host, _, name = path.rpartition("/")
        return Server(f"{at.scheme}:{host}", f"/{name}", {"subscription_url": url})
    if False:`,
  ],
  [
    'discovery',
    /x-device-protocol: undefined/,
    'gatepost_device/subscription.py',
    ', "x-device-protocol": "1"',
    '',
  ],
  ['large', /1 as executed/, LINE, '16 * 2**20', '32 * 1024'],
  ['stub', /asked for frames of null/, LINE, '"x-frame-max": ', '"x-frames": '],
  [
    'stub',
    /acknowledged a stub|did not fetch/,
    DEVICE,
    'if message.is_stub and self._read().state_of(message.id) is None:',
    'if False:',
  ],
  [
    'stub-gone',
    /handled message 1/,
    DEVICE,
    'await self._fetch(f"?id={message.id}")\n                continue',
    'await self._fetch(f"?id={message.id}")',
  ],
  ['jitter', /without any chance/, DEVICE, 'wait * random.uniform(0.5, 1.5)', 'wait'],
  ['jitter', /without any chance/, DEVICE, 'random.uniform(0.5, 1.5)', '0.75'],
  [
    'pauses-reset',
    /as if the failures went on/,
    DEVICE,
    'first if self._line.held else wait',
    'wait',
  ],
  [
    'unanswered',
    /without a bound for the answer/,
    LINE,
    'ends += [(late_at, "no answer")',
    'ends += [(float("inf"), "no answer")',
  ],
  [
    'unanswered-call',
    /without a bound for the answer/,
    LINE,
    'asyncio.timeout(_ANSWER_SECONDS * self._pace + wait)',
    'asyncio.timeout(None)',
  ],
  ['ping-interval', /went on waiting/, LINE, '2 * int(named) + 10 if', '1_210 if'],
  [
    'wait-max',
    /asked for 60 s/,
    LINE,
    'headers.get("x-wait-max", "")',
    'headers.get("x-none", "")',
  ],
  ['poll-opens', /let its first poll wait/, DEVICE, 'wait = 0\n', 'wait = 60\n'],
  ['stale-attempt', /took its own late attempt/, DEVICE, 'if not line.gave_up:', 'if True:'],
  [
    'stale-attempt',
    /replaced|came back and took/,
    DEVICE,
    'line.gave_up = False',
    'line.gave_up = True',
  ],
];

describe('a fault is found', () => {
  test.concurrent.skipIf(!existsSync(PYTHON)).each([...FAULTS])(
    '%s: %p',
    async (name, did, ...fault) => {
      const [file, text, instead] = fault;
      await findsFault(KIT, driverIn, [name, did, file, text, instead], PACES, START_MS);
    },
  );
});
