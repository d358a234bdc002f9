/** `gatepost demo`: a world that lives in a temporary directory, and leaves nothing behind. */

import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { ConsoleBrowser } from '../support/console.ts';
import { binary, run, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

interface Shown {
  url: string;
  link: string;
  providers: { provider_code: string; auth_key: string }[];
}

/** Starts a demonstration, and waits until it says where it is. */
async function start(folder: string, environment: Record<string, string> = {}) {
  const child = Bun.spawn([binary(), 'demo', '--port', '0', '--json'], {
    env: { ...process.env, TMPDIR: folder, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let text = '';
  const reading = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) text += part;
  })();
  await until('the demonstration begins', () => text.includes('\n') || child.exitCode !== null);
  return { child, reading, shown: JSON.parse(text) as Shown };
}

test('it lives, is marked on each page, and leaves nothing behind', async () => {
  const folder = temporaryFolder();
  const { child, reading, shown } = await start(folder);
  expect(readdirSync(folder)).toHaveLength(1);
  const [first] = shown.providers;
  const of = new URLSearchParams({ ...first });
  const api = async (path: string) => {
    const url = new URL(path, shown.url);
    for (const [name, value] of of) url.searchParams.set(name, value);
    return (await fetch(url)).json();
  };
  const { data } = (await api('/api/list-install')) as { data: { install_count: number }[] };
  // Two hundred of its own, and those of the panel behind the gate.
  expect(data.length).toBeGreaterThan(220);
  expect(data.filter((link) => link.install_count > 0).length).toBeGreaterThan(100);
  const sent = (await api('/remote/list')) as { data: { id: number }[] };
  await until('a message is opened', async () => {
    const path = `/remote/receipts?id=${sent.data[0]?.id}`;
    const receipts = (await api(path)) as { data: { opened_at: number | null }[] };
    return receipts.data.some((one) => one.opened_at !== null);
  });
  const page = await (await fetch(`${shown.url}/console`)).text();
  expect(page).toContain('<p class="banner">A demonstration');
  expect(shown.link).toStartWith(`${shown.url}/console#entry=`);
  child.kill('SIGINT');
  await reading;
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stderr).text()).toBe('');
  expect(readdirSync(folder)).toEqual([]);
});

test('it has its own directory and configuration', async () => {
  const { code, stderr } = await run(['demo', '--data', temporaryFolder()]);
  expect(code).toBe(2);
  expect(stderr).toContain('neither --data nor --config');
});

test('neither proxies nor settings of the environment reach it or its checks', async () => {
  const asked: string[] = [];
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      asked.push(url);
      return new Response('', { status: 502 });
    },
  });
  const folder = temporaryFolder();
  const { child, reading, shown } = await start(folder, {
    HTTP_PROXY: proxy.url.href,
    http_proxy: proxy.url.href,
    GATEPOST_DATABASE_URL: 'postgres://127.0.0.1:9/real',
  });
  const operator = new ConsoleBrowser(shown.url);
  await operator.get('session.entry', { secret: shown.link.split('entry=')[1] ?? '' });
  const { findings } = await operator.get('health.examine', {});
  expect(findings.length).toBeGreaterThan(0);
  expect(await operator.get('backups.make', {})).toEqual({ problem: null });
  child.kill('SIGTERM');
  await reading;
  await child.exited;
  await proxy.stop(true);
  expect(asked).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});
