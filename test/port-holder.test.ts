import { expect, test } from 'bun:test';
import { portHolder } from '../src/port-holder.ts';

const testOnLinux = test.skipIf(process.platform !== 'linux');

testOnLinux('the process that listens on a port is named, and none for a free port', () => {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const { port } = server;
  expect(portHolder(port)).toEndWith(`(process ${process.pid})`);
  server.stop(true);
  expect(portHolder(port)).toBeNull();
});

testOnLinux('a connection to a port is no listener of it', async () => {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const client = await Bun.connect({
    hostname: '127.0.0.1',
    port: server.port,
    socket: { data: () => undefined },
  });
  const { localPort } = client;
  expect(portHolder(localPort)).toBeNull();
  client.end();
  server.stop(true);
});
