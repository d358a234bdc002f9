/**
 * Credentials are planted everywhere they can be given, and searched for in everything that comes
 * out: each may appear only where it is meant to be shown once.
 */

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { formsOf, shownIn as shownOf } from '../support/planted.ts';
import { run, type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { Lane } from '../support/raw-http.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const KEYS = {
  current: 'PLANTED-current-key_PLANTED-curr',
  previous: 'PLANTED-previous-key_PLANTED-pre',
  wrong: 'PLANTED-wrong-key_PLANTED-wrong-',
  suspended: 'PLANTED-suspended-key_PLANTED-su',
};

/** The names of the keys that `text` shows. */
const shownIn = (text: string) => shownOf(text, KEYS);

test('the search finds what it is for', () => {
  for (const form of formsOf(KEYS.wrong)) expect(shownIn(`a ${form} b`)).toEqual(['wrong']);
  expect(shownIn('nothing')).toEqual([]);
});

test('keys appear where they are shown once, and nowhere else', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const provider = (...words: string[]) => run(['provider', ...words, '--data', dataDir]);

  // Where a key is meant to be shown: to the operator who has just made it.
  const made = await provider('add', '--name', 'n', '--code', 'Planted1', '--key', KEYS.previous);
  expect(shownIn(made.stdout + made.stderr)).toEqual(['previous']);
  const rotated = await provider(
    'rotate-key',
    'Planted1',
    '--key',
    KEYS.current,
    '--keep-old',
    '1h',
  );
  expect(shownIn(rotated.stdout + rotated.stderr)).toEqual(['current']);
  await provider('add', '--name', 'n', '--code', 'Planted2', '--key', KEYS.suspended);

  // Everything else that the command line says, its mistakes included.
  const said: string[] = [];
  for (const words of [
    ['suspend', 'Planted2'],
    ['list'],
    ['list', '--json'],
    ['show', 'Planted1'],
    ['show', 'Planted1', '--json'],
    ['set', 'Planted1', '--plan', 'pro'],
    ['add', '--name', 'n', '--code', 'Planted1', '--key', KEYS.wrong],
    ['add', '--name', 'n', '--key', `${KEYS.wrong}x`],
    ['add', '--key', KEYS.wrong],
    ['add', '--name', 'n', '--key', KEYS.wrong, '--plan', 'no'],
    ['rotate-key', 'Nobody00', '--key', KEYS.wrong],
    ['rotate-key', 'Planted1', '--key', `${KEYS.wrong},`],
    ['rotate-key', 'Planted1', '--key', KEYS.wrong, '--keep-old', 'long'],
  ]) {
    const { stdout, stderr } = await provider(...words);
    said.push(stdout, stderr);
  }
  expect(shownIn(said.join('\n'))).toEqual([]);

  for (const format of ['human', 'json']) {
    const env = { GATEPOST_LOG_FORMAT: format, GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '3' };
    const server = await startServe({ dataDir, env });
    const answers = await askEverything(server);
    expect(answers.length).toBeGreaterThan(1000);
    // The log line about the failures is among what was searched.
    await until('a delayed answer', () => server.stderr().includes('auth_failures_delayed'));
    expect(shownIn(answers)).toEqual([]);
    expect(await commandLineOf(server.pid)).not.toContain('PLANTED');
    await server.stop();
    expect(shownIn(server.stdout() + server.stderr())).toEqual([]);
  }

  // The data holds hashes, and never a key.
  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'));
  expect(Object.values(KEYS).filter((key) => files.join('').includes(key))).toEqual([]);
});

/** Every endpoint with every key in every place; returns all answers, heads included. */
async function askEverything(server: ServerProcess): Promise<string> {
  const everywhere = [
    ...endpoints.map(({ path }) => path),
    '/api/nothing',
    '/remote/list',
    '/nothing',
  ];
  const lane = new Lane(server.port);
  const others: string[] = [];
  const failing: string[] = [];
  for (const path of everywhere) {
    for (const key of Object.values(KEYS)) {
      const code = key === KEYS.suspended ? 'Planted2' : 'Planted1';
      const query = `provider_code=${code}&auth_key=${key}`;
      const queries = [
        `${query}&id=${key}&status=${key}&install_limit=${key}&domain_hash=${key}`,
        `${query}&install_limit=1&install_code=${key}&${key}=${key}`,
      ];
      others.push(...queries.map((text) => `GET ${path}?${text} HTTP/1.1\r\nHost: h\r\n`));
      others.push(`POST ${path}?${query} HTTP/1.1\r\nHost: h\r\n`);
      failing.push(`GET ${path}/${key}?auth_key=${key}&auth_key=${key} HTTP/1.1\r\nHost: h\r\n`);
    }
  }
  let received = '';
  for (const head of others.filter((text) => !text.includes(KEYS.wrong))) {
    const key = /auth_key=([-\w]{32})/.exec(head)?.[1] ?? '';
    const headers = `Authorization: Bearer ${key}\r\nCookie: k=${key}\r\nReferer: /?auth_key=${key}\r\n`;
    const [answer] = await lane.exchange(Buffer.from(`${head}${headers}\r\n`), 1, false);
    received += answer?.raw ?? '';
  }
  lane.drop();
  // Those that fail are late: all at once.
  const late = [...failing, ...others.filter((text) => text.includes(KEYS.wrong))];
  const texts = await Promise.all(
    late.map(async (head) => {
      const own = new Lane(server.port);
      const [answer] = await own.exchange(Buffer.from(`${head}\r\n`), 1, false);
      own.drop();
      return answer?.raw ?? '';
    }),
  );
  return received + texts.join('');
}

async function commandLineOf(pid: number): Promise<string> {
  return await Bun.file(`/proc/${pid}/cmdline`).text();
}
