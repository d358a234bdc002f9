/** A port that a program of another user has: the system shows its user, not the program. */

import { expect, test } from 'bun:test';
import { checkAddress } from '../../src/doctor/address.ts';
import { startServe } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const NOBODY = 65_534;

test.skipIf(process.getuid?.() !== 0)('the finding says how to find the program out', async () => {
  const other = await startServe();
  const address = { host: '127.0.0.1', port: other.port };
  process.seteuid?.(NOBODY);
  const [hidden] = checkAddress('absent', address, true);
  process.seteuid?.(0);
  expect(hidden).toMatchObject({
    name: 'port_in_use',
    what: `127.0.0.1:${other.port} is in use by a program of user 0, which this user may not see`,
    todo: expect.stringContaining(`sudo ss -ltnp 'sport = :${other.port}'`),
  });
  const [shown] = checkAddress('absent', address, true);
  expect(shown?.what).toMatch(/ is in use by \S+ \(process \d+\)$/);
  await other.stop();
});
