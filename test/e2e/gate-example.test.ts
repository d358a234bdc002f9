/** docs/gate/gatepost.toml as it stands, but for addresses and files of its machine. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { filesIn, selfSigned, writePair } from '../support/certificate.ts';
import {
  addProviderByCommand,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { readText } from '../support/tree.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const HOST = 'sub.example.com';
const KEY = 'a1b2c3d4e5f6g7h8';
const SUBSCRIPTION = 'vless://somebody@node.example.com:443#one\n';

const panel = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url, headers }) => {
    if (new URL(url).pathname !== `/sub/${KEY}`) return new Response('nobody', { status: 404 });
    if (headers.get('accept')?.includes('text/html')) {
      return new Response('<p>Your subscription</p>', { headers: { 'content-type': 'text/html' } });
    }
    return new Response(SUBSCRIPTION, { headers: { 'profile-title': 'Panel' } });
  },
});
afterAll(() => panel.stop(true));

/** The file, with each of the texts replaced, which must be there. */
function adapted(replacements: readonly [string, string][]): string {
  return replacements.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, readText('docs/gate/gatepost.toml'));
}

let server: ServerProcess;
let file: string;

beforeAll(async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  writePair(folder, await selfSigned(HOST, { names: [HOST, '127.0.0.1'] }));
  const { certificate, key } = filesIn(folder);
  file = join(folder, 'gatepost.toml');
  const text = adapted([
    ['host = "0.0.0.0"', 'host = "127.0.0.1"'],
    ['port = 443', 'port = 0'],
    ['/etc/ssl/certs/sub.example.com.pem', certificate],
    ['/etc/ssl/private/sub.example.com.key', key],
    ['127.0.0.1:8000', `127.0.0.1:${panel.port}`],
  ]);
  writeFileSync(file, text, { mode: 0o600 });
  await addProviderByCommand(dataDir, '--code', 'EXAMPLE1', '--key', 'k'.repeat(32));
  server = await startServe({ dataDir, args: ['--config', file] });
});

interface Got {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

function get(path: string, headers: Record<string, string>): Promise<Got> {
  return new Promise((settle, fail) => {
    const asked = request(
      { host: '127.0.0.1', port: server.port, path, rejectUnauthorized: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('error', fail);
        answer.on('end', () =>
          settle({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
        );
      },
    );
    for (const [name, value] of Object.entries({ host: HOST, ...headers })) {
      asked.setHeader(name, value);
    }
    asked.on('error', fail).end();
  });
}

const device = (hwid: string) => get(`/sub/${KEY}`, { 'x-hwid': hwid });

test('two devices get the subscription, the third one the text of the file', async () => {
  for (const hwid of ['phone', 'tablet', 'phone']) {
    const { status, text, headers } = await device(hwid);
    expect([status, text, headers['profile-title']]).toEqual([200, SUBSCRIPTION, 'Panel']);
  }
  const { status, text, headers } = await device('third');
  const words = 'Two devices are connected already. Write to @example_support.';
  expect(status).toBe(404);
  expect(text).toContain(words);
  expect(headers).toMatchObject({
    'x-hwid-active': 'true',
    'x-hwid-max-devices-reached': 'true',
    announce: `base64:${Buffer.from(words).toString('base64')}`,
  });
  const browser = await get(`/sub/${KEY}`, { accept: 'text/html,*/*' });
  expect([browser.status, browser.text.includes('subscription')]).toEqual([404, false]);
  expect(browser.headers['x-hwid-not-supported']).toBe('true');
  const none = await get('/sub/unknown1', { 'x-hwid': 'phone' });
  // A stranger gets nothing of the panel's either.
  expect([none.status, none.text]).toEqual([404, '']);
});

test('the link is one of the provider, and doctor is content', async () => {
  const credentials = `provider_code=EXAMPLE1&auth_key=${'k'.repeat(32)}`;
  const listed = await get(`/api/list-install?${credentials}`, { host: 'bot.example.com' });
  const { data } = JSON.parse(listed.text);
  expect(data).toMatchObject([{ install_limit: 2, install_count: 2 }]);
  const { stdout } = await run(['doctor', '--config', file, '--data', server.dataDir]);
  expect(stdout).toContain(`ok        gate: ${HOST} is bound at provider EXAMPLE1`);
  expect(stdout).toContain(`ok        gate: the panel of ${HOST} answers`);
});
