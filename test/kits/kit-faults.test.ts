/** The kits in C and Java say what is wrong with an address, in a word and a sentence. */

import { expect } from 'bun:test';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { KitApp } from '../support/kit-driver.ts';
import { buildKit, classesIn, JAVA } from '../support/kits.ts';
import { testWith } from '../support/needs.ts';
import { until } from '../support/until.ts';
import { closers, useKits } from './driven.ts';

useKits();

const KITS: Record<string, { needs: string[]; build: () => string[] }> = {
  c: { needs: ['gcc'], build: () => [join(buildKit('c'), 'driver-checked')] },
  java: {
    needs: ['javac', 'jar', 'java'],
    build: () => [...JAVA, classesIn(buildKit('java')), 'org.gatepost.device.Driver'],
  },
};

/** Serves this to all that is asked; returns the address. */
function serves(fetch: () => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch });
  closers.push(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

const PAGE = '<html><h1>It works!</h1></html>';
const FAULTS: [string, () => string][] = [
  ['refused_port', () => `http://127.0.0.1:${freePort()}`],
  ['name', () => 'http://no-such-host.example'],
  ['not_json', () => serves(() => new Response(PAGE))],
  ['wrong_path', () => serves(() => new Response(PAGE, { status: 404 }))],
  ['timeout', () => serves(() => new Promise<Response>(() => {}))],
  ['no_answer', () => serves(() => new Response('', { status: 503 }))],
];

for (const [name, { needs, build }] of Object.entries(KITS)) {
  const testKit = testWith(...needs);

  testKit.each(FAULTS)(`${name}: %s`, async (word, address) => {
    const url = address();
    const phone = new KitApp(build(), url, { pace: 0.05 });
    closers.push(() => phone.remove());
    phone.start();
    const told = await until('it says so', () => phone.all('state')[0]);
    expect(told).toMatchObject({ state: 'closed', reason: word });
    expect(told.detail).toStartWith(`${url}/device`);
    // It comes back by itself.
    await until('it says so again', () => phone.all('state').length > 1);
  });

  testKit(`${name}: an address without a scheme is refused at once`, async () => {
    const { stdin, stderr, exited } = Bun.spawn(build(), {
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const terms = { do: 'start', url: 'push.example.com', folder: '/nowhere', pace: 1 };
    stdin.write(`${JSON.stringify(terms)}\n`);
    await stdin.end();
    expect(await exited).not.toBe(0);
    expect(await new Response(stderr).text()).toContain('begins with https:// or http://');
  });
}
