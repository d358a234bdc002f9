/**
 * The tour of an operator who is the only provider: every task is one or two commands, and none
 * needs the provider's key.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hostHash } from '../../src/core/host-name.ts';
import { byLink, post, register } from '../support/messaging.ts';
import {
  addProviderByCommand,
  cleanUp,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { startSmallPanel } from '../support/small-panel.ts';
import { until } from '../support/until.ts';
import { exchange, HOST } from '../support/upstream.ts';

const HASH = hostHash(HOST);
const COMMANDS_MAX = 2;

const panel = startSmallPanel();
/** The Bot API, as far as a message goes. */
const chat: { text: string }[] = [];
const telegram = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    chat.push((await request.json()) as { text: string });
    return Response.json({ ok: true, result: { message_id: chat.length } });
  },
});

let server: ServerProcess;
let folder: string;
/** The settings of the server and of each command. */
let env: Record<string, string>;
beforeAll(async () => {
  folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  const { code: provider } = await addProviderByCommand(dataDir);
  const upstream = { host: HOST, url: `http://127.0.0.1:${panel.port}`, provider };
  env = {
    GATEPOST_GATE_UPSTREAM: JSON.stringify([{ ...upstream, default_limit: 1 }]),
    GATEPOST_WEBHOOK_TELEGRAM_ENDPOINT: `http://127.0.0.1:${telegram.port}`,
  };
  server = await startServe({ dataDir, env });
});
afterAll(async () => {
  await cleanUp();
  await Promise.all([panel.stop(), telegram.stop(true)]);
});

/** The commands of the present task. */
let commands: string[][] = [];

async function gatepost(...words: string[]): Promise<string> {
  commands.push(words);
  const { code, stdout, stderr } = await run([...words, '--data', server.dataDir], { env });
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  return stdout;
}

/** A task of the tour: fails if it takes more commands. */
const task = (name: string, steps: () => Promise<void>) =>
  test(name, async () => {
    commands = [];
    await steps();
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.length).toBeLessThanOrEqual(COMMANDS_MAX);
  });

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};

/** What an app sends when its user opens a link. */
async function openLink(code: string, hwid: string): Promise<number> {
  const facts = { hwid, os_name: 'Android', device_model: 'Pixel 9' };
  const query = new URLSearchParams({ id: HASH, installid: code, ...facts });
  const reply = await fetch(`${server.url}/install?${query}`);
  return ((await reply.json()) as { rc: number }).rc;
}

describe('every task in at most two commands, without a key', () => {
  const anna = 'ANNA00000001';
  let token: string;

  task('add a customer', async () => {
    await gatepost('link', 'add', '--code', anna, '--limit', '2', '--note', 'anna');
    expect(await openLink(anna, 'phone-0')).toBe(1);
    expect(await openLink(anna, 'phone-1')).toBe(1);
    token = await register(server, byLink('phone-1', anna, HASH));
  });

  task('50 links with notes and QR files', async () => {
    const made = await gatepost('link', 'add', '--count', '50', '--note', 'shop', '--json');
    expect(JSON.parse(made)).toHaveLength(50);
    const out = join(folder, 'qr');
    const url = `https://${HOST}/sub`;
    await gatepost('link', 'qr', '--search', 'shop', '--url', url, '--out', out);
    const files = readdirSync(out);
    expect(files.filter((name) => name.endsWith('.svg'))).toHaveLength(50);
    expect(files.filter((name) => name.endsWith('.png'))).toHaveLength(50);
  });

  task('why a phone was refused', async () => {
    expect(await openLink(anna, 'phone-2')).toBe(0);
    // Its HWID is not known: the link has it, with the model, once it is saved with the figures.
    const shown = await until('the refusal', async () => {
      commands = [];
      const text = await gatepost('link', 'show', 'anna');
      return text.includes('phone-2') && text;
    });
    expect(shown).toContain('Pixel 9');
    const why = await gatepost('link', 'why', 'anna', 'phone-2', '--domain', HOST);
    expect(why).toContain('phone-2 would be refused: the link is full');
  });

  task('free a slot', async () => {
    await gatepost('link', 'free', 'anna', 'phone-0', '--yes');
    expect(await openLink(anna, 'phone-2')).toBe(1);
    expect(await openLink(anna, 'phone-0')).toBe(0);
  });

  task('send to all', async () => {
    const words = ['notify', '--all', '--title', 'Maintenance', '--body', 'Tonight, 23:00'];
    expect(await gatepost(...words, '--dry-run')).toMatch(/Recipients: 2\n(?:.*\n)by inbox +1 /);
    expect(await gatepost(...words)).toStartWith('notification 1 accepted\n');
    const inbox = await until('the message', async () => {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await fetch(`${server.url}/device/inbox?wait=1`, { headers });
      const { data } = (await reply.json()) as { data: { id: number; payload: object }[] };
      return data[0];
    });
    expect(inbox).toMatchObject({ id: 1, payload: { title: 'Maintenance' } });
    await post(server, '/device/ack', { items: [{ id: 1, state: 'received' }] }, token);
  });

  task('who received it', async () => {
    const shown = JSON.parse(await gatepost('distribution', 'show', '1', '--json'));
    expect(shown).toMatchObject({ recipients: 2, reachable: 1, ledger: { received: 1 } });
    expect(shown.missing).toMatchObject([{ hwid: 'phone-2', state: 'sent' }]);
  });

  task('Telegram', async () => {
    const bot = file('bot.token', '123456:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc');
    await gatepost('webhook', 'add', '--telegram', '-1001234567890', '--token-file', bot);
    await gatepost('webhook', 'test', '1');
    expect(chat.map(({ text }) => text).join()).toContain('Test message');
  });

  task('a limit for the users of a panel', async () => {
    const csv = file('users.csv', 'key,limit,note\nboris-key,2,boris\nclara-key,,clara\n');
    await gatepost('link', 'import', csv, '--limit', '1');
    const statusOf = async (key: string, hwid: string) =>
      (await exchange(server.port, 'GET', `/sub/${key}`, { 'x-hwid': hwid })).status;
    expect(await statusOf('boris-key', 'b1')).toBe(200);
    expect(await statusOf('boris-key', 'b2')).toBe(200);
    expect(await statusOf('boris-key', 'b3')).toBeGreaterThanOrEqual(400);
    expect(await statusOf('clara-key', 'c1')).toBe(200);
    expect(await statusOf('clara-key', 'c2')).toBeGreaterThanOrEqual(400);
  });
});
