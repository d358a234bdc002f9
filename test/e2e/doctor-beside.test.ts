/** The doctor beside a running server looks at that server, not at the shell that it runs in. */

import { expect, test } from 'bun:test';
import { run, startServe } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

interface Finding {
  check: string;
  level: string;
  what: string;
}

const testOnLinux = test.skipIf(process.platform !== 'linux');

testOnLinux('its port and its limit of open files are those of the server', async () => {
  const server = await startServe({ env: { GATEPOST_MONITOR_PORT: '0' } });
  const doctor = await run(['doctor', '--data', server.dataDir, '--json']);
  const { findings } = JSON.parse(doctor.stdout) as { findings: Finding[] };
  const of = (name: string) => findings.filter(({ check }) => check === name);
  const who = `the server (process ${server.pid})`;
  expect(of('address')).toEqual([
    expect.objectContaining({ level: 'ok', what: `${who} listens on port ${server.port}` }),
  ]);
  expect(of('open files')).toEqual([
    expect.objectContaining({ what: expect.stringContaining(`${who} may open `) }),
  ]);
  await server.stop();
  const alone = await run(['doctor', '--data', server.dataDir, '--json']);
  expect(alone.stdout).not.toContain(`process ${server.pid}`);
});

testOnLinux('a port that another program has is a problem that names the program', async () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const server = await startServe();
  await server.stop();
  const env = { GATEPOST_PORT: String(other.port) };
  const doctor = await run(['doctor', '--data', server.dataDir], { env });
  expect(doctor.stdout).toMatch(
    new RegExp(
      `^PROBLEM {3}address: 127.0.0.1:${other.port} is in use by \\S+ \\(process ${process.pid}\\)$`,
      'm',
    ),
  );
  other.stop(true);
});
