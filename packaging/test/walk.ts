/**
 * Walks the printed ways of `ways.ts` on a booted machine: as root, standing in /root. Runs in the
 * network of that machine, where it plays Telegram and an authority for certificates.
 *
 *   bun packaging/test/walk.ts first|second PID-OF-INIT ROOT
 */

import { join } from 'node:path';
import { startAcmeServer } from '../../test/support/acme-server.ts';
import { runPages } from '../../test/support/transcript.ts';
import { FIRST, SECOND } from './ways.ts';

const [, , which = '', init = '', root = ''] = process.argv;

const telegram = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) =>
    Response.json({
      ok: true,
      result: url.endsWith('/getUpdates')
        ? [{ update_id: 1, message: { message_id: 1, chat: { id: -1001234567890 } } }]
        : { message_id: 2 },
    }),
});
const telegramUrl = `http://127.0.0.1:${telegram.port}`;
const acme = await startAcmeServer({ httpPort: () => 80 });

const folder = { here: join(root, 'walk'), there: '/walk' };
await Bun.write(
  join(folder.here, 'walk.toml'),
  `[webhook]\ntelegram_endpoint = "${telegramUrl}"\n[acme]\ndirectory = "${acme.directory}"\n`,
);

const PASSWORD = 'the password of the role';
const ENVIRONMENT = [
  ...['HOME=/root', 'LC_ALL=C.UTF-8', 'TERM=dumb', 'USER=root'],
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
];

const startMs = performance.now();
const wrong = await runPages(which === 'first' ? FIRST : SECOND, {
  env: {},
  cwd: '/',
  instead: [['https://api.telegram.org', telegramUrl]],
  // Without a terminal: what asks on one takes the answers from stdin.
  shell: {
    argv: [
      ...['nsenter', '--target', init, '--all', 'env', '--ignore-environment', '--chdir=/root'],
      ...[...ENVIRONMENT, 'setsid', 'bash', '--noprofile', '--norc'],
    ],
    folder,
  },
  answers: [
    [/\bapt (?:install|remove|purge)\b/, 'y\n'],
    [/--pwprompt/, `${PASSWORD}\n${PASSWORD}\n`],
  ],
  mustSucceed: true,
  onStep: (step) => console.log(`ok  ${step.split('\n')[0]}`),
});
for (const one of wrong) console.error(`\nFAILED: ${one}`);
console.log(
  `The ${which} machine took ${((performance.now() - startMs) / 60_000).toFixed(1)} minutes.`,
);
await Promise.all([telegram.stop(true), acme.stop()]);
process.exit(wrong.length === 0 ? 0 : 1);
