/** A worker in a process of its own, whose clock stands still. Ends with its stdin. */

import { deliverStep } from '../../src/core/message/deliver.ts';
import { FakeClock } from './clock.ts';
import { openCoreOn } from './delivery.ts';

const [place = '', nowMs = ''] = process.argv.slice(2);
const clock = new FakeClock();
clock.set(Number(nowMs));
const core = await openCoreOn(JSON.parse(place), clock);
let isOver = false;
process.stdin.on('end', () => {
  isOver = true;
});
process.stdin.resume();
process.stdout.write('ready\n');
while (!isOver) {
  const isBusy = await deliverStep(core, `worker ${process.pid}`, clock.nowMs());
  if (!isBusy) await Bun.sleep(1);
}
await core.store.close();
