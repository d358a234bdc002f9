/** The server of the tests themselves: nothing of it stays, whatever ended those who started it. */

import { expect } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { testPostgres } from '../support/needs.ts';
import { until } from '../support/until.ts';

const START = `
  const { startPostgres } = await import('${join(import.meta.dir, '../support/postgres.ts')}');
  const { folder, port } = await startPostgres();
  console.log(JSON.stringify({ folder, port }));
  setInterval(() => undefined, 1_000);`;

testPostgres('ends with its process, also by SIGKILL', async () => {
  const child = Bun.spawn([process.execPath, '-e', START], { stdin: 'ignore', stdout: 'pipe' });
  const { value } = await child.stdout.getReader().read();
  const { folder, port } = JSON.parse(new TextDecoder().decode(value));
  expect(existsSync(folder)).toBe(true);
  child.kill('SIGKILL');
  await until('the folder is removed', () => !existsSync(folder));
  Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop();
});
