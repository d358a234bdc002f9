import { expect, test } from 'bun:test';
import { findPortHolder, portsOf } from '../src/http/port-holder.ts';

const testOnLinux = test.skipIf(process.platform !== 'linux');

const listen = (hostname = '127.0.0.1', port = 0) =>
  Bun.listen({ hostname, port, socket: { data: () => undefined } });

testOnLinux('the process that listens on a port is found, and none for a free port', () => {
  const server = listen();
  const { port } = server;
  expect(findPortHolder('127.0.0.1', port)).toEqual({ pid: process.pid, name: expect.any(String) });
  expect(portsOf(process.pid)).toContain(port);
  server.stop(true);
  expect(findPortHolder('127.0.0.1', port)).toBeNull();
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
  expect(findPortHolder('127.0.0.1', localPort)).toBeNull();
  expect(portsOf(process.pid)).not.toContain(localPort);
  client.end();
  server.stop(true);
});

testOnLinux('a process on another address of the machine is not blamed', () => {
  const server = listen('127.0.0.2');
  const { port } = server;
  const own = { pid: process.pid, name: expect.any(String) };
  expect(findPortHolder('127.0.0.1', port)).toBeNull();
  for (const host of ['127.0.0.2', '0.0.0.0', '::', 'localhost']) {
    expect(findPortHolder(host, port)).toEqual(own);
  }
  server.stop(true);
  const onAll = listen('0.0.0.0');
  expect(findPortHolder('127.0.0.1', onAll.port)).toEqual(own);
  onAll.stop(true);
});
