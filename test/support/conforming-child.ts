/** Plays the cases of its arguments to a server in this process, and prints their verdicts. */

import { startConforming } from './conforming.ts';

const server = await startConforming();
for (const verdict of await server.play(process.argv.slice(2))) {
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
}
// What a planted fault makes the server log is no concern here.
await server.close().catch(() => {});
process.exit(0);
