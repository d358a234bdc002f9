/** Devices with open streams, at servers that have one provider with a binding. */

import { until } from '../test/support/until.ts';
import { ask, type Bench, forAll, who } from './driver.ts';
import type { Server } from './process.ts';
import { domainHash, providerCode } from './shape.ts';

/** Handshakes and registrations under way at a time. */
export const STARTING_MAX = 50;
export const DEADLINE_MS = 120_000;
const HASH = domainHash(1);

/** Adds the first provider and its binding; starts as many servers as there are folders. */
export async function startNodes(
  bench: Bench,
  names: readonly string[],
  streamCount: number,
  env: Record<string, string> = {},
): Promise<Server[]> {
  bench.addProvider(bench.place(names[0] ?? ''), 1, env);
  const servers: Server[] = [];
  for (const name of names) {
    const isOne = names.length === 1;
    servers.push(
      await bench.serve(bench.place(name), {
        ...env,
        GATEPOST_STREAMS_MAX: String(streamCount),
        ...(isOne ? {} : { GATEPOST_DATABASE_NODE: name }),
      }),
    );
  }
  await ask(`${servers[0]?.url}/api/add-domain?${who()}&domain_hash=${HASH}`);
  return servers;
}

/** Registers a device; returns its token. */
export async function register(url: string, hwid: string): Promise<string> {
  const draft = { hwid, os: 'android', provider_code: providerCode(1), domain_hash: HASH };
  return (await ask(`${url}/device/register`, draft)).device_token;
}

/** Opens a socket; `lost` is called at its end. */
export async function openSocket(
  url: string,
  lost: () => void,
  options: Bun.WebSocketOptions = {},
): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), options);
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onerror = (event) => reject(new Error((event as ErrorEvent).message));
    socket.onclose = lost;
  });
}

/** Registers a device and opens its stream, which acknowledges what comes unless it is silent. */
export async function connect(
  { url }: Pick<Server, 'url'>,
  hwid: string,
  on: { got(ids: readonly number[]): void; lost(): void },
  isSilent = false,
): Promise<void> {
  const headers = { authorization: `Bearer ${await register(url, hwid)}` };
  const socket = await openSocket(`${url}/device/stream`, on.lost, { headers });
  socket.onmessage = ({ data }) => {
    const { data: messages } = JSON.parse(String(data)) as { data?: { id: number }[] };
    if (messages === undefined) return;
    on.got(messages.map(({ id }) => id));
    if (isSilent) return;
    socket.send(JSON.stringify({ items: messages.map(({ id }) => ({ id, state: 'received' })) }));
  };
}

/** Opens streams by turns at the servers, counted as long as they are open. */
export async function openStreams(
  servers: readonly Server[],
  streamCount: number,
  got: (node: number, ids: readonly number[]) => void,
  isSilent = false,
): Promise<{ count: number }> {
  const open = { count: 0 };
  const lost = () => {
    open.count -= 1;
  };
  const startMs = performance.now();
  await forAll(0, streamCount, STARTING_MAX, async (n) => {
    const node = n % servers.length;
    const on = { got: (ids: readonly number[]) => got(node, ids), lost };
    await connect(servers[node] as Server, `device-${n}`, on, isSilent);
    open.count += 1;
  });
  console.log(`${open.count} streams open after ${Math.round(performance.now() - startMs)} ms`);
  // Two rounds of pings: by now a stream that was closed by mistake is counted.
  await Bun.sleep(20_000);
  if (open.count < streamCount) throw new Error(`${streamCount - open.count} were cut off`);
  return open;
}

/** Processor time of each of the servers in 10 s without a call, s. */
export async function idleSeconds(servers: readonly Server[]): Promise<number[]> {
  const before = servers.map((server) => server.cpuSeconds());
  await Bun.sleep(10_000);
  return servers.map((server, at) => server.cpuSeconds() - (before[at] ?? 0));
}

/** Waits until the ledger has so many acknowledgements of a message. */
export function acknowledged(received: () => Promise<number>, wanted: number): Promise<unknown> {
  return until('all have acknowledged', async () => (await received()) === wanted, DEADLINE_MS);
}
