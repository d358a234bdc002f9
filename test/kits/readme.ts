/** The example of a kit's README, as it is printed but for the address, the link and the hash. */

import { expect, type test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { notify } from '../support/messaging.ts';
import { ROOT, temporaryFolder } from '../support/process.ts';
import { HASH, LINK } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { appliance, closers } from './driven.ts';

const PRINTED = {
  'https://push.example.com': (url: string) => url,
  ANNA00000001: () => LINK,
  '"HASH"': () => `"${HASH}"`,
};

/** Returns the first block of a language in a README, with the server of the test. */
function exampleIn(kit: string, language: string, url: string): string {
  const text = readFileSync(join(ROOT, 'sdk', kit, 'README.md'), 'utf8');
  let code = new RegExp(`^\`\`\`${language}\\n([^\`]*)\`\`\``, 'm').exec(text)?.[1] ?? '';
  for (const [printed, instead] of Object.entries(PRINTED)) {
    expect(code).toContain(printed);
    code = code.replace(printed, instead(url));
  }
  return code;
}

/**
 * Declares the test of a README: its example in `file` of a new folder is run by a command, and
 * writes the message that it gets; it keeps its state in `device.json`. `prepare` makes the rest of
 * the folder.
 */
export function readmeKit(
  testKit: ReturnType<typeof test.skipIf>,
  kit: string,
  {
    language,
    file,
    command,
    env = {},
    prepare = () => {},
  }: {
    language: string;
    file: string;
    command: readonly string[];
    env?: Readonly<Record<string, string>>;
    prepare?(folder: string): void;
  },
): void {
  testKit('the example of its README gets a message', async () => {
    const { app, shop } = await appliance();
    const folder = temporaryFolder();
    prepare(folder);
    writeFileSync(join(folder, file), exampleIn(kit, language, app.url));
    const example = Bun.spawn([...command], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdout: 'pipe',
      stderr: 'inherit',
      // What it starts ends with it.
      detached: true,
    });
    closers.push(async () => {
      process.kill(-example.pid);
      await example.exited;
    });
    let said = '';
    void (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of example.stdout) said += decoder.decode(chunk, { stream: true });
    })();
    await until('it is open', () => app.server.streamCount() === 1);
    const { hwid } = JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8'));
    await notify(app, shop, 'Hello, <b>reader</b>', { hwid });
    await until('it wrote the message', () => said.includes('Hello, reader'));
  });
}
