/** The first hour, and the pages for afterwards, do what they show, with the package installed. */

import { afterAll, expect } from 'bun:test';
import { freePort } from '../support/free-port.ts';
import { install } from '../support/installed.ts';
import { testWith } from '../support/needs.ts';
import { IS_LONG } from '../support/scale.ts';
import { runPages } from '../support/transcript.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** The Bot API of Telegram, as far as the guide goes. */
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
afterAll(() => telegram.stop(true));

// In `make test-long` from the package itself, which takes some seconds to build.
const PLACES = IS_LONG ? (['tree', 'deb'] as const) : (['tree'] as const);
const PAGES = ['first-hour', 'trouble', 'telegram', 'bots', 'device-protocol'].map(
  (name) => `docs/${name}.md`,
);

testWith('bash', 'curl', 'dpkg-deb', 'sha256sum').each(PLACES)('from the %s', async (from) => {
  const port = freePort();
  const place = await install(from, '');
  const api = `http://127.0.0.1:${telegram.port}`;
  const instead: [string, string][] = [
    ...place.instead,
    ['127.0.0.1:8080', `127.0.0.1:${port}`],
    ['https://api.telegram.org', api],
  ];
  const env = {
    ...place.env,
    GATEPOST_PORT: String(port),
    GATEPOST_WEBHOOK_TELEGRAM_ENDPOINT: api,
  };
  try {
    expect(await runPages(PAGES, { env, instead, cwd: place.root })).toEqual([]);
  } finally {
    place.stop();
  }
});
