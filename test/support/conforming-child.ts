/**
 * Plays cases to servers in this process, one after another, and prints their verdicts. Arguments
 * are pairs: a folder with the sources of the server, and the name of a case. What all of them
 * depend on is loaded once.
 */

import { join } from 'node:path';

const words = process.argv.slice(2);
for (let n = 0; n < words.length; n += 2) {
  const [folder = '', name = ''] = words.slice(n);
  const sources = await import(join(folder, 'test/support/conforming.ts'));
  const { startConforming } = sources as typeof import('./conforming.ts');
  const server = await startConforming();
  for (const verdict of await server.play([name])) {
    process.stdout.write(`${JSON.stringify(verdict)}\n`);
  }
  // What a planted fault makes the server log is no concern here.
  await server.close().catch(() => {});
}
process.exit(0);
