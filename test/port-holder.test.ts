import { expect, test } from 'bun:test';
import { findPortHolder, portsOf } from '../src/port-holder.ts';

const testOnLinux = test.skipIf(process.platform !== 'linux');

const listen = () =>
  Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });

testOnLinux('the process that listens on a port is found, and none for a free port', () => {
  const server = listen();
  const { port } = server;
  expect(findPortHolder(port)).toEqual({ pid: process.pid, name: expect.any(String) });
  expect(portsOf(process.pid)).toContain(port);
  server.stop(true);
  expect(findPortHolder(port)).toBeNull();
  expect(portsOf(process.pid)).not.toContain(port);
});

testOnLinux('a connection to a port is no listener of it', async () => {
  const server = listen();
  const { port } = server;
  const client = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: { data: () => undefined },
  });
  const { localPort } = client;
  expect(findPortHolder(localPort)).toBeNull();
  expect(portsOf(process.pid)).not.toContain(localPort);
  client.end();
  server.stop(true);
});
