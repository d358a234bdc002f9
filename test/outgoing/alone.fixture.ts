/** Makes calls in a process of its own; prints how they ended, and the hosts without a proxy. */

import { systemClock } from '../../src/base/clock.ts';
import { OutgoingFailure } from '../../src/outgoing/call.ts';
import { Outgoing } from '../../src/outgoing/outgoing.ts';
import { callTo, PATIENT, SETTINGS } from './stranger.ts';

const [caFile = '', ...urls] = process.argv.slice(2);
const outgoing = new Outgoing({
  settings: SETTINGS,
  clock: systemClock,
  files: { ca: await Bun.file(caFile).text(), logins: new Map() },
});
const ends = urls.map(async (url) => {
  const kinds: string[] = [];
  for (const way of [{ http2: { pool: 'alone' } }, {}]) {
    const call = callTo(url, { trust: 'operator', ...way, timeoutMs: 4_000 });
    const outcome = await outgoing.send(call, PATIENT);
    kinds.push(outcome instanceof OutgoingFailure ? outcome.kind : String(outcome.status));
  }
  return kinds;
});
const lines = [(await Promise.all(ends)).flat().join(' '), process.env['no_proxy'] ?? ''];
process.stdout.write(lines.join('\n'));
