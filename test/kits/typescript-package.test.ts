/**
 * The package of the kit for TypeScript, as `make kits` packs it, in a folder of its own as npm
 * would unpack it: its files, the README's examples under a default configuration of the compiler,
 * and a message in Node, in Bun and in a browser.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closePages, sharedShell, testChromium } from '../support/chromium.ts';
import { ROOT } from '../support/process.ts';
import { HASH, LINK } from '../support/shop.ts';
import { installKit, KIT, NODE } from '../support/typescript-kit.ts';
import { until } from '../support/until.ts';
import { appliance, closers, useKits } from './driven.ts';

const { folder, package: installed, archive } = installKit();
const README = readFileSync(join(KIT, 'README.md'), 'utf8');
const examples = [...README.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);

const DENO = Bun.which('deno');
if (DENO === null) console.warn('The kit for TypeScript is not tried in Deno: there is no deno.');

useKits();
afterAll(closePages);

test('it has code, types, licence, changelog and version, and the same bytes each time', () => {
  const again = installKit();
  expect(readFileSync(again.archive).equals(readFileSync(archive))).toBe(true);
  expect(readdirSync(installed).sort()).toEqual(
    ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'package.json'].sort(),
  );
  const names = readdirSync(join(KIT, 'src')).map((file) => file.replace(/\.ts$/, ''));
  expect(readdirSync(join(installed, 'dist')).sort()).toEqual(
    names.flatMap((file) => [`${file}.d.ts`, `${file}.js`]).sort(),
  );
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(version).toBe(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version);
  expect(README).toContain(`gatepost-device-${version}.tgz`);
});

describe('under the configuration that the compiler makes', () => {
  const tsc = [process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc')];
  const checked = (given: readonly string[]) => Bun.$`${tsc} ${given}`.cwd(folder).nothrow().text();

  beforeAll(async () => {
    await checked(['--init']);
    for (const [n, code] of examples.entries()) writeFileSync(join(folder, `${n}.mts`), code);
  });

  test('the examples of the README fit', async () => {
    expect(examples).toHaveLength(2);
    expect(await checked(['--noEmit'])).toBe('');
    expect(await checked(['--noEmit', '--skipLibCheck', 'false'])).toBe('');
  });

  test('handlers may return nothing, wait, or say a state, and nothing else', async () => {
    const handlers = ['() => {}', 'async () => {}', "() => 'opened'", "async () => 'kept'"];
    const code = (handler: string) =>
      `import type { DeviceOptions } from 'gatepost-device';\n` +
      `export const handler: DeviceOptions['onMessage'] = ${handler};\n`;
    for (const [n, handler] of handlers.entries()) {
      writeFileSync(join(folder, `handler-${n}.mts`), code(handler));
    }
    expect(await checked(['--noEmit'])).toBe('');
    writeFileSync(join(folder, 'wrong.mts'), code("() => 'seen'"));
    expect(await checked(['--noEmit'])).toContain('wrong.mts(2,');
    writeFileSync(join(folder, 'wrong.mts'), '');
  });
});

describe("the README's first example", () => {
  const programs: Readonly<Record<string, readonly (string | null)[]>> = {
    node: [NODE],
    bun: [process.execPath],
    deno: [DENO, 'run', '--allow-all'],
  };
  for (const [name, command] of Object.entries(programs)) {
    test.skipIf(command[0] === null)(`gets a message in ${name}`, async () => {
      const { app, send } = await appliance();
      const code = (examples[0] ?? '')
        .replace('https://push.example.com', app.url)
        .replace('ANNA00000001', LINK)
        .replace("'HASH'", `'${HASH}'`)
        .replace('locale:', "hwid: 'phone',\n  locale:");
      const place = join(folder, name);
      mkdirSync(place);
      writeFileSync(join(place, 'phone.mjs'), code);
      const options = { cwd: place, stdout: 'pipe', stderr: 'inherit' } as const;
      const phone = Bun.spawn([...command.map(String), 'phone.mjs'], options);
      closers.push(() => phone.kill());
      let said = '';
      const reading = (async () => {
        for await (const chunk of phone.stdout) said += new TextDecoder().decode(chunk);
      })();
      await until('it is open', () => said.includes('open'));
      await send('Hello from the README');
      await until('it said it', () => said.includes('Hello from the README'));
      phone.kill();
      await reading;
    });
  }
});

testChromium('a page of another origin gets a message, and stops by a signal', async () => {
  const { app, send } = await appliance();
  const files = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname !== '/') return new Response(Bun.file(join(installed, 'dist', pathname)));
      return new Response('<title>App</title>', { headers: { 'content-type': 'text/html' } });
    },
  });
  closers.push(() => files.stop(true));
  const context = await (await sharedShell()).newContext();
  const page = await context.newPage();
  const troubles: unknown[] = [];
  page.on('pageerror', (fault) => troubles.push(fault));
  await page.goto(files.url.href);
  await page.evaluate(
    async ([source, url, link, hash]) => {
      const kit = await import(source ?? '');
      const said: string[] = [];
      const stop = new AbortController();
      const device = new kit.Device({
        url,
        hwid: 'phone',
        registration: { os: 'android', install_code: link, domain_hash: hash },
        store: kit.browserStore('device'),
        onMessage: ({ texts }: { texts: { plain: string } }) => void said.push(texts.plain),
        onState: (state: string) => void said.push(state),
      });
      Object.assign(globalThis, { said, stop, ended: device.run({ signal: stop.signal }) });
    },
    [`${files.url.origin}/index.js`, app.url, LINK, HASH],
  );
  const said = (): Promise<string[]> => page.evaluate(() => Reflect.get(globalThis, 'said'));
  await until('it is open', async () => (await said()).includes('open'));
  await send('Hello, page');
  await until('it said it', async () => (await said()).includes('Hello, page'));
  const ended = await page.evaluate(() => {
    Reflect.get(globalThis, 'stop').abort();
    return Reflect.get(globalThis, 'ended');
  });
  expect(ended).toBe('closed');
  await until('its stream is closed', () => app.server.streamCount() === 0);
  expect(troubles).toEqual([]);
});
