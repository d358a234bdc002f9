/** The cost of a front: the same calls to a server with and without PROXY headers. */

import { exchange, get, line } from '../test/support/front.ts';
import { type Bench, type Case, forAll, inTurn, median, printTable, who } from './driver.ts';
import { inTurns, medians, ratios } from './load.ts';
import type { Server } from './process.ts';

const TARGET = `/api/list-install?${who()}`;
const CONNECTIONS = 2_000;
const AT_A_TIME = 8;

/** Returns the processor time of a connection with one call, us. */
async function costOfConnection(server: Server, header: string): Promise<number> {
  const before = server.cpuSeconds();
  await forAll(0, CONNECTIONS, AT_A_TIME, async () => {
    const answer = await exchange(server, header + get(TARGET));
    if (!answer.startsWith('HTTP/1.1 200')) throw new Error(`${server.url}: ${answer}`);
  });
  return ((server.cpuSeconds() - before) * 1e6) / CONNECTIONS;
}

async function start(bench: Bench, networks: string): Promise<Server> {
  return await bench.serve(bench.place('data'), {
    GATEPOST_HOST: '0.0.0.0',
    GATEPOST_PROXY_PROTOCOL_NETWORKS: networks,
    ...(networks === '127.0.0.1' && { GATEPOST_PROXY_PROTOCOL_LOOPBACK: 'true' }),
  });
}

/** `wrk` sends no PROXY headers, so that it comes from a network that is not named. */
export const front: Case = {
  about:
    'short calls of a provider to a server that reads PROXY headers, beside one that does not, by connections that stay and by a new one for each',
  options: { rounds: '5', seconds: '2' },
  needs: ['wrk'],
  run: async (bench) => {
    bench.addProvider(bench.place('data'));
    const direct = await bench.serve(bench.place('data'));
    const unnamed = await start(bench, '192.0.2.1');
    const named = await start(bench, '127.0.0.1');
    const rounds = bench.number('rounds');
    const sides = [direct, unnamed].map((server) => ({ name: server.url, servers: [server] }));
    const [without = [], through = []] = await inTurns(sides, {
      kind: { target: TARGET, headers: {} },
      connections: 32,
      shape: { providerCount: 1, linkCount: 1, deviceCount: 1 },
      rounds,
      seconds: bench.number('seconds'),
    });
    const print = printTable(['', 'direct', 'front', 'ratio']);
    const [one, other] = [medians(without), medians(through)];
    const perSecond = [one, other].map(({ requestsPerSecond }) => requestsPerSecond.toFixed(0));
    print([
      'calls a second',
      ...perSecond,
      median(ratios(through, without, 'requestsPerSecond')).toFixed(2),
    ]);
    const cpuRatio = median(ratios(through, without, 'cpuUs')).toFixed(2);
    print(['CPU of a call, us', one.cpuUs, other.cpuUs, cpuRatio]);
    const costs = new Map<Server, number[]>([direct, named].map((server) => [server, []]));
    for (let round = 0; round <= rounds; round++) {
      for (const server of inTurn([direct, named], round)) {
        const cost = await costOfConnection(server, server === named ? line('8.8.4.4') : '');
        // The first round compiles.
        if (round > 0) costs.get(server)?.push(cost);
      }
    }
    const [bare = 0, fronted = 0] = [...costs.values()].map(median);
    print(['CPU of a connection with one call, us', bare, fronted, (fronted / bare).toFixed(2)]);
    for (const server of [direct, unnamed, named]) await server.stop();
    return undefined;
  },
};
