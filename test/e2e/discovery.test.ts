/**
 * An app finds the server of messages through real proxies, with the files of the documents, and
 * gets a message there: by a poll and by a stream.
 */

import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import { testWith } from '../support/needs.ts';
import { addProviderByCommand, type ServerProcess, startServe } from '../support/process.ts';
import { FRONT_PROXIES, type FrontProxy, SUB_HOST } from '../support/proxies.ts';
import { bind, expectOk } from '../support/shop.ts';
import { type SmallPanel, startSmallPanel } from '../support/small-panel.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const ENV = {
  GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
  GATEPOST_STRANGERS: 'quiet',
  GATEPOST_HOSTS: '127.0.0.1',
};
const KEY = 'key-of-a-customer';

let panel: SmallPanel;
let server: ServerProcess;
let own: Credentials;

beforeAll(async () => {
  panel = startSmallPanel();
  server = await startServe({ env: ENV });
  own = await addProviderByCommand(server.dataDir);
  await bind(server, own, hostHash(SUB_HOST));
  await expectOk(
    call(server, '/api/add-install', own, { install_limit: 9, subscription_key: KEY }),
  );
  await expectOk(call(server, '/api/policy', own, { discovery: 1 }));
});

afterAll(() => panel.stop());

describe.each(FRONT_PROXIES)('%s', (name, start) => {
  const testHere = testWith(name);
  let proxy: FrontProxy;

  beforeAll(async () => {
    if (Bun.which(name) === null) return;
    proxy = await start({ gateposts: [server.port], panel: panel.port });
  });
  afterAll(() => proxy?.stop());

  const ask = (path: string, headers: Record<string, string>, body?: object) =>
    fetch(`${proxy.url}${path}`, {
      headers: { host: SUB_HOST, ...headers },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      tls: { rejectUnauthorized: false },
    });

  testHere('an app that asks finds the server, registers, polls and opens a stream', async () => {
    const hwid = `phone-of-${name}`;
    const fetched = (more: Record<string, string>) =>
      ask(`/sub/${KEY}`, { 'x-hwid': hwid, ...more });
    const told = async (more: Record<string, string>) =>
      (await fetched(more)).headers.get('x-device-server');
    expect(await told({})).toBeNull();
    const base = (await told({ 'x-device-protocol': '1' })) ?? '';
    expect(base).toBe('/.well-known/device-messages');

    const subscription_url = `https://${SUB_HOST}/sub/${KEY}`;
    const registered = await ask(`${base}/register`, {}, { hwid, os: 'android', subscription_url });
    const { device_token } = (await registered.json()) as { device_token: string };
    const bearer = { authorization: `Bearer ${device_token}` };
    const command = { action_type: 'update-subscription', hwid };
    const init = { method: 'POST', body: JSON.stringify(command) };
    await expectOk(call(server, '/remote/command', own, {}, init));
    const inbox = (await (await ask(`${base}/inbox?wait=20`, bearer)).json()) as {
      data: { payload: object }[];
    };
    expect(inbox.data).toMatchObject([{ payload: { action_type: 'update-subscription' } }]);
    const first = await firstFrame(`${base}/stream`, bearer);
    expect(first).toContain('update-subscription');
    expect((await ask(`${base}/inbox`, { authorization: 'Bearer other' })).status).toBe(404);
  });

  /** Opens a WebSocket and returns its first message. */
  function firstFrame(path: string, headers: Record<string, string>): Promise<string> {
    const { host, protocol } = new URL(proxy.url);
    const scheme = protocol === 'https:' ? 'wss' : 'ws';
    const options = { headers: { host: SUB_HOST, ...headers }, tls: { rejectUnauthorized: false } };
    const socket = new WebSocket(`${scheme}://${host}${path}`, options as never);
    return new Promise((resolve, reject) => {
      socket.onmessage = ({ data }) => {
        socket.close();
        resolve(String(data));
      };
      socket.onerror = () => reject(new Error('the stream failed'));
      socket.onclose = ({ code }) => reject(new Error(`closed: ${code}`));
    });
  }
});
