/**
 * What the operator meets first: one file that runs, says how to use it, and stops when told to.
 */

import { describe, expect, test } from 'bun:test';
import { copyFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { read } from '../support/app.ts';
import {
  binary,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { open } from '../support/socket.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** Less than the 8 s after which `serve` gives up on what still runs. */
const STOP_MAX_MS = 7_800;

const KEY_LINE = /^ {2}auth_key {7}([-_A-Za-z0-9]{32})$/m;

async function answerOf(url: string) {
  return (await read(await fetch(url))).json;
}

/** Runs one printed line: with bash and curl as it stands, else by fetching what it says. */
async function paste(line: string): Promise<unknown> {
  if (Bun.which('bash') && Bun.which('curl')) {
    const shell = Bun.spawnSync(['bash', '-c', line.replace(/^curl /, 'curl --silent ')]);
    return JSON.parse(shell.stdout.toString());
  }
  const headers = [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  );
  const url = /'(http[^']+)'$/.exec(line)?.[1] ?? '';
  return (await fetch(url, { headers })).json();
}

/** Signs in by the printed link, as the page does with its fragment. */
async function enter(text: string): Promise<unknown> {
  const [, site = '', secret = ''] = /(http:\S+)\/console#entry=(\S+)/.exec(text) ?? [];
  const headers = { origin: site, 'content-type': 'application/json' };
  const body = JSON.stringify({ secret });
  return (
    await fetch(`${site}/console/call/session.entry`, { method: 'POST', headers, body })
  ).json();
}

describe('first start', () => {
  test('the executable alone in an empty folder serves', async () => {
    const folder = temporaryFolder();
    const executable = join(folder, 'gatepost');
    copyFileSync(binary(), executable);
    const server = await startServe({ executable, cwd: folder, dataDir: join(folder, 'data') });
    expect(await answerOf(`${server.url}/api/list-install`)).toEqual({ rc: 0, msg: 'Auth error' });
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(server.stdout()).toBe(`gatepost is listening on ${server.url}\n`);
    expect(server.troubles()).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual(['data', 'gatepost']);
    expect(readdirSync(join(folder, 'data')).sort()).toEqual([
      'gatepost-1.lock',
      'gatepost-settings.lock',
      'gatepost.db',
      'gatepost.lock',
      'gatepost.settings',
    ]);
  });

  test('the same words run from source', async () => {
    const server = await startServe({ from: 'source', args: ['--json'] });
    expect(JSON.parse(server.stdout())).toEqual({
      message: `listening on ${server.url}`,
      url: server.url,
      monitor_url: null,
    });
    expect(await answerOf(`${server.url}/provider`)).toMatchObject({ rc: 0 });
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  test('the printed lines work as they stand, and the key is shown once', async () => {
    const first = await startServe({ args: ['--first-provider'] });
    const text = await until(
      'the last line of a first start',
      () => first.stdout().includes('Ctrl-C') && first.stdout(),
    );
    const key = KEY_LINE.exec(text)?.[1] ?? '';
    expect(key).toHaveLength(32);
    const [docs = ''] = text.match(/http:\S+\/docs$/m) ?? [];
    expect((await fetch(docs)).headers.get('content-type')).toStartWith('text/html');
    expect(await (await fetch(first.url)).text()).toContain('<a href="/docs">');
    const lines = text.split('\n').filter((line) => line.startsWith("curl -w '\\n' "));
    const answers: unknown[] = [];
    for (const line of lines) answers.push(await paste(line));
    expect(answers).toEqual([
      { rc: 1, msg: 'Ok', id: 1 },
      { rc: 1, msg: 'Ok', install_code: 'FIRSTLINK001', id: 1 },
      expect.objectContaining({ rc: 1, msg: 'Ok', install_limit: 2, install_count: 1 }),
      {
        rc: 1,
        msg: 'Ok',
        data: [
          {
            hwid: 'my-first-phone',
            date: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
            device_name: 'Pixel 9',
          },
        ],
      },
    ]);
    expect(await enter(text)).toMatchObject({ ok: {} });
    expect(await enter(text)).toMatchObject({ refused: 'sign_in_wrong' });
    await first.stop();
    expect(first.troubles()).toEqual([]);

    const second = await startServe({ dataDir: first.dataDir, args: ['--first-provider'] });
    const again = await until(
      'the hint of a second start',
      () => second.stdout().includes('rotate-key') && second.stdout(),
    );
    expect(again).not.toContain(key);
    expect(again).not.toMatch(KEY_LINE);
    expect(again).not.toContain('curl ');
    expect(await enter(again)).toMatchObject({ ok: {} });
    await second.stop();
  });

  test('the data belongs to the operator alone', async () => {
    const server = await startServe();
    await fetch(`${server.url}/provider?id=AAAAAAAA&hwid=a`);
    const modes = Object.fromEntries(
      readdirSync(server.dataDir).map((name) => [name, modeOf(join(server.dataDir, name))]),
    );
    expect(modeOf(server.dataDir)).toBe('700');
    expect(modes).toEqual({
      'gatepost-1.lock': '600',
      'gatepost-settings.lock': '600',
      'gatepost.db': '600',
      'gatepost.db-shm': '600',
      'gatepost.db-wal': '600',
      'gatepost.lock': '600',
      'gatepost.settings': '600',
    });
    await server.stop();
  });

  test('a .env and a bunfig.toml in the working directory are nobody’s business', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, '.env'), 'GATEPOST_HOST=not-an-address\nGATEPOST_NONSENSE=1\n');
    writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./preload.ts"]\n');
    writeFileSync(join(cwd, 'preload.ts'), 'console.log("preloaded"); process.exit(3);\n');
    const server = await startServe({ cwd });
    expect(server.stdout()).toBe(`gatepost is listening on ${server.url}\n`);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('stop', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`${signal} finishes the request under way and waits for nobody idle`, async () => {
      const server = await startServe({ env: { GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX: '0' } });
      const idle = await open(server.port, 'GET /provider HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const silent = await open(server.port);
      const halfHead = await open(server.port, 'GET /prov');
      await until('an answer', () => idle.received().includes('"rc":0'));
      const underWay = await beginDelayedRequest(server);

      const startedMs = performance.now();
      const [exit, answer] = await Promise.all([server.stop(signal), underWay.answer]);
      expect(exit).toEqual({ code: 0, signal: null });
      expect(answer).toEqual({ rc: 0, msg: 'Auth error' });
      expect(performance.now() - startedMs).toBeLessThan(STOP_MAX_MS);
      await Promise.all([idle.closed, halfHead.closed]);
      silent.socket.destroy();
    });
  }

  test('what was acknowledged before the stop is there after it', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const added = await run(['provider', 'add', '--name', 'n', '--json', '--data', dataDir]);
    const { provider_code: code, auth_key: key } = JSON.parse(added.stdout);
    const credentials = `provider_code=${code}&auth_key=${key}`;
    const server = await startServe({ dataDir });
    const adds = Array.from({ length: 100 }, () =>
      answerOf(`${server.url}/api/add-install?${credentials}&install_limit=1`).catch(() => null),
    );
    await Promise.race(adds);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    const ids = (await Promise.all(adds)).flatMap((answer) => (answer?.rc === 1 ? answer.id : []));
    expect(ids.length).toBeGreaterThan(0);

    const next = await startServe({ dataDir });
    const list = await answerOf(`${next.url}/api/list-install?${credentials}`);
    const kept = new Set(list.data.map((install: { id: number }) => install.id));
    expect(ids.filter((id) => !kept.has(id))).toEqual([]);
    await next.stop();
  });
});

describe('an address that cannot be had is one sentence and exit 1', () => {
  test('a taken port', async () => {
    const server = await startServe();
    const port = String(server.port);
    const second = await run(['serve', '--port', port, '--data', join(temporaryFolder(), 'data')]);
    const reason = `the port is taken by gatepost (process ${server.pid})`;
    const todo = 'stop it, or choose another (--port, GATEPOST_PORT)';
    const sentence = `gatepost: cannot listen on 127.0.0.1:${port}: ${reason}: ${todo}\n`;
    expect(second).toEqual({ code: 1, stdout: '', stderr: sentence });
    expect(await answerOf(`${server.url}/provider`)).toMatchObject({ rc: 0 });
    await server.stop();
  });

  test('an address of another machine', async () => {
    // TEST-NET-1 of RFC 5737: nobody has it.
    const dataDir = join(temporaryFolder(), 'data');
    const result = await run(['serve', '--host', '192.0.2.1', '--port', '0', '--data', dataDir]);
    const reason = 'this machine does not have that address';
    const sentence = `gatepost: cannot listen on 192.0.2.1:0: ${reason}\n`;
    expect(result).toEqual({ code: 1, stdout: '', stderr: sentence });
  });

  test('no address at all', async () => {
    const dataDir = join(temporaryFolder(), 'data');
    const result = await run(['serve', '--host', 'no address', '--port', '0', '--data', dataDir]);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toMatch(/^gatepost: cannot listen on no address:0: [^\n]+\n$/);
  });
});

/** A request that takes a second; settles when the server has it, with the answer to come. */
async function beginDelayedRequest(server: ServerProcess): Promise<{ answer: Promise<unknown> }> {
  const answer = answerOf(`${server.url}/api/list-install`);
  await until('a delayed answer', () => server.stderr().includes('auth_failures_delayed'));
  return { answer };
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
