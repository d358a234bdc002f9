/**
 * The executable under a machine's clock that goes ten years ahead and comes back, and one that is
 * ten years behind at a start: nothing is lost, and who looks is told.
 */

import { expect, test } from 'bun:test';
import { call } from '../support/app.ts';
import { notify } from '../support/messaging.ts';
import { addProviderByCommand, run, type ServerProcess, startServe } from '../support/process.ts';
import { parseMetrics, seriesValue } from '../support/prometheus.ts';
import { CLOCKS_MOVE, movedClock } from '../support/set-back.ts';
import { addLink, bind, enter } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const DAY_MS = 86_400_000;
const TEN_YEARS_MS = 3_653 * DAY_MS;

const logged = (server: ServerProcess, event: string) =>
  until(`the log says ${event}`, () => server.stderr().includes(` ${event}`));

const words = async (dataDir: string, ...argv: string[]) => {
  const { stdout, stderr } = await run([...argv, '--data', dataDir]);
  return stdout + stderr;
};

async function metric(server: ServerProcess, name: string): Promise<number> {
  return seriesValue(
    parseMetrics(await (await fetch(`${server.monitorUrl}/metrics`)).text()),
    name,
  );
}

test.skipIf(!CLOCKS_MOVE)('ten years ahead, back, and behind at a start', async () => {
  const clock = movedClock();
  const env = { ...clock.env, GATEPOST_MONITOR_PORT: '0' };
  let server = await startServe({ env });
  const { dataDir } = server;
  const own = await addProviderByCommand(dataDir, '--plan', 'enterprise');
  await bind(server, own);
  await addLink(server, own);
  await enter(server, 'phone');
  const [day] = new Date(Date.now() + 2 * DAY_MS).toISOString().split('T');
  const at = { send_date: day, send_time: '12:00' };
  const id = await notify(server, own, 'in two days', { hwid: 'phone' }, at);
  const state = async () =>
    (await call(server, '/remote/list', own)).json.data.find((one: { id: number }) => one.id === id)
      ?.status;
  const shows = (text: string) =>
    until(`the store says ${text}`, async () =>
      (await words(dataDir, 'clock', 'show')).includes(text),
    );
  const scheduled = await until('the send waits', async () => (await state()) === 30 && 30);
  clock.setBack(-TEN_YEARS_MS);
  await logged(server, 'clock_leapt');
  await shows('3653 days ahead');
  const told = await words(dataDir, 'doctor');
  expect(told).toMatch(/the clock(?: of \S+)? leapt: it is 3653 days ahead/);
  expect(await metric(server, 'gatepost_deletion_suspended')).toBe(1);
  // Some seconds in which a worker would have begun it.
  await notify(server, own, 'meanwhile', { hwid: 'phone' });
  expect(await state()).toBe(scheduled);

  clock.setBack(TEN_YEARS_MS);
  await logged(server, 'clock_back');
  expect(await metric(server, 'gatepost_deletion_suspended')).toBe(0);
  expect(await state()).toBe(scheduled);
  expect((await run(['audit', 'verify', '--data', dataDir])).code).toBe(0);

  await server.stop();
  clock.setBack(TEN_YEARS_MS);
  server = await startServe({ env, dataDir });
  await logged(server, 'clock_leapt');
  await shows('3653 days behind');
  expect(await words(dataDir, 'clock', 'trust')).toContain('taken for right');
  await logged(server, 'clock_trusted');
  expect(await state()).toBe(scheduled);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});
