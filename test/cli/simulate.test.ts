/** `gatepost device simulate`: from the provider's call to the device's hand, between processes. */

import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { call } from '../support/app.ts';
import { notify, order } from '../support/messaging.ts';
import { binary, cleanUp, plainEnv, run, startServe } from '../support/process.ts';
import { HASH, openShop } from '../support/shop.ts';
import { until } from '../support/until.ts';

interface Event {
  hwid?: string;
  message?: { id: number; notification_type: number; payload: Record<string, unknown> };
  open?: number;
  messages?: number;
  refused?: number;
  last_refusal?: string | null;
}

const children: Bun.Subprocess<'ignore', 'pipe', 'pipe'>[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await child.exited;
  }
});
afterAll(cleanUp);

test('a server under a path is asked under that path', async () => {
  const paths: string[] = [];
  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      paths.push(new URL(request.url).pathname);
      return new Response('', { status: 502 });
    },
  });
  simulate({ url: `http://127.0.0.1:${proxy.port}/gate/` });
  await until('a call', () => paths.length > 0);
  expect(paths[0]).toBe('/gate/device/register');
  await proxy.stop(true);
});

function simulate(server: { url: string }, ...words: string[]) {
  const argv = [binary(), 'device', 'simulate', '--json', '--url', server.url, ...words];
  const child = Bun.spawn(argv, {
    env: plainEnv(),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  children.push(child);
  const events: Event[] = [];
  const read = (async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) events.push(JSON.parse(line));
    }
  })();
  return {
    events,
    messages: () => events.flatMap(({ hwid, message }) => (message ? [{ hwid, message }] : [])),
    stop: async () => {
      child.kill('SIGINT');
      await read;
      return child.exited;
    },
  };
}

describe('device simulate', () => {
  test('three devices print a notification that is sent to them, and it is all accounted for', async () => {
    const { server, own } = await openShop();
    const words = ['--count', '3', '--provider', own.code, '--domain-hash', HASH];
    const devices = simulate(server, ...words, '--os', 'android');
    await until('three open streams', () => devices.events.some(({ open }) => open === 3));

    const id = await notify(server, own, 'hello', { os: ['android'] });
    await until('three messages', () => devices.messages().length === 3);
    const names = devices.messages().map(({ hwid }) => hwid);
    expect(names.toSorted()).toEqual(['simulated-1', 'simulated-2', 'simulated-3']);
    for (const { message } of devices.messages()) {
      expect(message).toMatchObject({ id, notification_type: 10, payload: { body: 'hello' } });
    }

    const listed = await call(server, '/remote/list', own, { id });
    expect(listed.json.data).toEqual([
      expect.objectContaining({ id, status: 100, target_os: 'android', target_hwid: '' }),
    ]);
    const show = async (of: number) => {
      const words = ['distribution', 'show', String(of), '--json', '--data', server.dataDir];
      return JSON.parse((await run(words)).stdout);
    };
    await until('three acknowledgements', async () => (await show(id)).ledger.received === 3);

    const to = { hwid: 'simulated-1,simulated-3' };
    const command = await order(server, own, { action_type: 'update-subscription', ...to });
    await until('both executed', async () => (await show(command)).ledger.executed === 2);
    expect(await devices.stop()).toBe(0);
    expect(devices.events.at(-1)).toMatchObject({ messages: 5, refused: 0, last_refusal: null });
  });

  test('says why its devices are refused, and ends by itself', async () => {
    const { server } = await openShop();
    const words = ['--count', '2', '--link', 'LinkCode0001', '--domain-hash', HASH];
    const devices = simulate(server, ...words, '--duration', '2');
    await until('two refusals', () => devices.events.some(({ refused }) => refused === 2));
    expect(devices.events.at(-1)).toMatchObject({ open: 0, last_refusal: 'Install not found' });
    expect(await children[0]?.exited).toBe(0);
  });

  test('its devices come back when the server was away', async () => {
    const { server, own } = await openShop();
    const words = ['--count', '2', '--provider', own.code, '--domain-hash', HASH];
    const devices = simulate(server, ...words);
    const opens = () => devices.events.filter(({ open }) => open === 2).length;
    await until('two open streams', () => opens() === 1);
    await server.stop();
    await until('both noticed', () => devices.events.at(-1)?.open === 0);
    const { port, dataDir } = server;
    const again = await startServe({ dataDir, args: ['--port', String(port)] });
    expect(again.port).toBe(port);
    await until('both came back', () => devices.events.at(-1)?.open === 2);
    await notify(again, own, 'hello again', { os: ['android'] });
    await until('two messages', () => devices.messages().length === 2);
    expect(await devices.stop()).toBe(0);
  });
});
