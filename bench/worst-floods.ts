/** The worst streams, files and readers: what one caller can do that is more than a request. */

import { rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { forAll } from './driver.ts';
import { onLoadCore, type Server } from './process.ts';
import type { Place } from './worst-requests.ts';

export interface WorstFlood {
  endpoint: string;
  what: string;
  /** Does it once; says what came back. */
  send(): Promise<string>;
}

interface FloodPlace extends Place {
  server: Server;
  executable: string;
  dataDir: string;
  folder: string;
}

/** How long a stream that is not closed is flooded, ms. */
const FLOOD_MS = 300;
const UNREAD_CONNECTIONS = 150;
const GUESSERS = 8;
/** Three rounds of them are more than a hundred thousand. */
const GUESSES = 34_000;

export function floods(place: FloodPlace): WorstFlood[] {
  const ack = (id: number) => JSON.stringify({ items: [{ id, state: 'received' }] });
  const stream = (what: string, text: (n: number) => string): WorstFlood => ({
    endpoint: '/device/stream',
    what,
    send: () => floodStream(place, text),
  });
  const nested = join(place.folder, 'nested.jsonl');
  writeFileSync(nested, '['.repeat(10 * 1024 * 1024), { mode: 0o600 });
  const moved = join(place.folder, 'moved.jsonl');
  const command = (what: string, ...runs: string[][]): WorstFlood => ({
    endpoint: `gatepost ${runs[0]?.[0]}`,
    what,
    send: async () => {
      const codes: number[] = [];
      for (const words of runs) codes.push(await runBeside(place, words));
      return `exit ${codes.join(' and ')}`;
    },
  });
  return [
    stream('frames of garbage', () => 'x'.repeat(1_000)),
    stream('frames of 60 KB of [', () => '['.repeat(60_000)),
    stream('acknowledgements of unknown ids', (n) => ack(1e9 + n)),
    stream('one acknowledgement again and again', () => ack(1)),
    {
      endpoint: '/api/list-install',
      what: `${UNREAD_CONNECTIONS} lists that are not read`,
      send: () => askWithoutReading(place),
    },
    {
      endpoint: '/my',
      what: `${GUESSES} guesses of links, ${GUESSERS} at a time`,
      send: () => guessLinks(place),
    },
    command('10 MB of [', ['import', nested, '--new-key']),
    command('a provider with 6,000 links', ['export', codeOf(place), moved]),
    command(
      '6,000 links, and provider remove',
      ['import', moved, '--new-key', '--code', 'MovedOne'],
      ['provider', 'remove', 'MovedOne', '--yes'],
    ),
    command('the database beside the server', ['backup', '--force', join(place.folder, 'backup')]),
  ];
}

const codeOf = ({ who }: Place) => /provider_code=(\w+)/.exec(who)?.[1] ?? '';

function open(server: Server): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.on('error', reject);
  });
}

async function floodStream(
  { server, token }: FloodPlace,
  text: (n: number) => string,
): Promise<string> {
  const url = `${server.url.replace(/^http/, 'ws')}/device/stream`;
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, { headers } as Bun.WebSocketOptions);
  const closed = new Promise<string>((resolve) => {
    socket.onclose = ({ code }) => resolve(`closed with ${code}`);
  });
  await new Promise((resolve) => {
    socket.onopen = resolve;
    socket.onerror = resolve;
  });
  const endMs = performance.now() + FLOOD_MS;
  for (let n = 0; performance.now() < endMs && socket.readyState === WebSocket.OPEN; n++) {
    socket.send(text(n));
    if (n % 10 === 0) await Bun.sleep(0);
  }
  const says = socket.readyState === WebSocket.OPEN ? 'stays open' : await closed;
  socket.close();
  await closed;
  return says;
}

/** Guesses codes of links on the page of users; the server delays no answer here. */
async function guessLinks({ server }: FloodPlace): Promise<string> {
  let openedCount = 0;
  await forAll(0, GUESSES, GUESSERS, async () => {
    const code = crypto.randomUUID().replaceAll('-', '').slice(0, 12);
    const { status } = await fetch(`${server.url}/my?link=${code}`);
    if (status !== 404) openedCount += 1;
  });
  return openedCount === 0 ? 'status 404' : `opened ${openedCount} of ${GUESSES}`;
}

async function askWithoutReading({ server, who }: FloodPlace): Promise<string> {
  const request = `GET /api/list-install?${who} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
  const sockets = await Promise.all(
    Array.from({ length: UNREAD_CONNECTIONS }, async () => {
      const socket = await open(server);
      socket.on('error', () => {});
      socket.pause();
      socket.write(request);
      return socket;
    }),
  );
  await Bun.sleep(FLOOD_MS);
  for (const socket of sockets) socket.destroy();
  return 'left unread';
}

/** Runs a command on the data of the server. A file that is to be new is removed first. */
async function runBeside({ executable, dataDir }: FloodPlace, words: string[]): Promise<number> {
  if (words[0] === 'export') rmSync(words[2] ?? '', { force: true });
  const command = ['nice', '-n', '19', executable, ...words, '--data', dataDir];
  const child = Bun.spawn(onLoadCore(command), {
    env: { PATH: process.env['PATH'] ?? '', GATEPOST_CONFIG: 'none' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  return child.exited;
}
