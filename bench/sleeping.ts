/**
 * Streams of devices that sleep. The server has one core, the devices and the caller the other.
 * Both ends need a file descriptor for each stream: `ulimit -n` of more than `--streams`.
 */

import { join } from 'node:path';
import type { Socket } from 'bun';
import { until } from '../test/support/until.ts';
import { DEADLINE_MS, register, STARTING_MAX, startNodes } from './devices.ts';
import { type Case, forAll, ROOT, startCaller, who } from './driver.ts';
import { leaveServerCore, type Server } from './process.ts';

/** How long the other caller asks, ms. */
const CALLED_MS = 20_000;
const PING = 0x89;
/** An empty pong, masked with zeros. */
const PONG = new Uint8Array([0x8a, 0x80, 0, 0, 0, 0]);

interface Pinged {
  pings: number;
  open: number;
  isEnding: boolean;
}

/** Opens a stream by hand, which answers pings and no more: the load is to cost little. */
async function connect(url: URL, query: string, token: string, all: Pinged): Promise<Socket> {
  let isOpen = false;
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      data(own, bytes) {
        if (isOpen && !all.isEnding) {
          if (bytes[0] !== PING) throw new Error(`not a ping: ${bytes.toString('latin1')}`);
          all.pings += 1;
          own.write(PONG);
        }
        isOpen = true;
      },
      close: () => {
        all.open -= 1;
      },
    },
  });
  all.open += 1;
  socket.write(
    [
      `GET /device/stream${query} HTTP/1.1`,
      `host: ${url.host}`,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      `authorization: Bearer ${token}`,
      '\r\n',
    ].join('\r\n'),
  );
  await until('the handshake is answered', () => isOpen, DEADLINE_MS);
  return socket;
}

/** The resident memory after collections: the server from source makes one on a signal. */
async function memoryKib({ pid, memory }: Server, isCollected: boolean): Promise<number> {
  for (let n = 0; n < 3 && isCollected; n++) {
    process.kill(pid, 'SIGUSR2');
    await Bun.sleep(500);
  }
  return memory().rssKib;
}

export const sleeping: Case = {
  about:
    'streams that sleep: memory of each, processor time of their pings, and what another caller notices; --ping 0 asks for none, which is 9 s; --source runs from source, with a collection before memory is compared',
  options: { streams: '10000', first: '1000', ping: '0', seconds: '27', source: false },
  run: async (bench) => {
    const streamCount = bench.number('streams');
    const [firstCount, watchedMs] = [bench.number('first'), bench.number('seconds') * 1000];
    const query = bench.text('ping') === '0' ? '' : `?ping=${bench.text('ping')}`;
    leaveServerCore();
    const isCollected = bench.is('source');
    if (isCollected) {
      const collector = join(bench.folder, 'collector.ts');
      await Bun.write(collector, "process.on('SIGUSR2', () => Bun.gc(true));\n");
      const program = [process.execPath, '--preload', collector, join(ROOT, 'src', 'main.ts')];
      const shell = join(bench.folder, 'gatepost');
      await Bun.write(shell, `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`, { mode: 0o755 });
      bench.executable = shell;
    }
    const [server] = (await startNodes(bench, ['data'], streamCount)) as [Server];
    const all: Pinged = { pings: 0, open: 0, isEnding: false };
    const tokens = await forAll(0, streamCount, STARTING_MAX, (n) =>
      register(server.url, `device-${n}`),
    );
    const url = new URL(server.url);
    const open = (from: number, to: number) =>
      forAll(from, to, STARTING_MAX, (n) => connect(url, query, tokens[n] ?? '', all));
    const noneKib = await memoryKib(server, isCollected);
    // The code of a stream is compiled for the first ones, and the heap grows: counted apart.
    await open(0, firstCount);
    const firstKib = await memoryKib(server, isCollected);
    const startedMs = performance.now();
    await open(firstCount, streamCount);
    const openedS = ((performance.now() - startedMs) / 1000).toFixed(1);
    const allKib = await memoryKib(server, isCollected);
    const each = (kib: number, count: number) => `${(kib / count).toFixed(2)} KiB`;
    const beyond = each(allKib - firstKib, streamCount - firstCount);
    console.log(
      `${all.open} streams: ${beyond} each beyond ${firstCount}, opened in ${openedS} s; ` +
        `${each(allKib - noneKib, streamCount)} with those`,
    );
    const [cpuBefore, pingsBefore] = [server.cpuSeconds(), all.pings];
    await Bun.sleep(watchedMs);
    const cpu = (((server.cpuSeconds() - cpuBefore) * 60_000) / watchedMs).toFixed(2);
    const pings = all.pings - pingsBefore;
    console.log(`${watchedMs / 1000} s: ${pings} pings, ${cpu} s of processor time in a minute`);
    // Streams that opened together are pinged together: the caller is there when they are.
    const pingMs = bench.number('ping') * 1000;
    if (pingMs > CALLED_MS) {
      const pinged = Math.ceil((performance.now() - startedMs + CALLED_MS) / pingMs);
      await Bun.sleep(startedMs + pinged * pingMs - CALLED_MS / 2 - 1_000 - performance.now());
    }
    const caller = startCaller(`${server.url}/api/list-install?${who()}&id=1`, { pauseMs: 2 });
    await Bun.sleep(1_000);
    await caller.times();
    const calledBefore = all.pings;
    await Bun.sleep(CALLED_MS);
    const times = JSON.stringify(await caller.times());
    console.log(`another caller beside ${all.pings - calledBefore} pings: ${times}`);
    if (all.open < streamCount) throw new Error(`${streamCount - all.open} were cut off`);
    all.isEnding = true;
    await server.stop();
    return undefined;
  },
};
