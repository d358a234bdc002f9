/**
 * General notifications and single messages to devices with open streams, on one node or two.
 * Both ends need a file descriptor for each stream: `ulimit -n` of more than twice as many.
 */

import { SQL } from 'bun';
import { until } from '../test/support/until.ts';
import {
  acknowledged,
  connect,
  DEADLINE_MS,
  idleSeconds,
  openStreams,
  startNodes,
} from './devices.ts';
import { ask, type Bench, type Case, notification, share, startCaller, who } from './driver.ts';
import { leaveServerCore, type Server } from './process.ts';

/** Between two single messages, ms. */
const PACE_MS = 20;
const spread = (times: readonly number[]) =>
  [
    `p50 ${share(times, 0.5).toFixed(1)} ms`,
    `p99 ${share(times, 0.99).toFixed(1)} ms`,
    `max ${share(times, 1).toFixed(1)} ms`,
  ].join(', ');

/** Statements on the database of a server, beside it. */
async function openSql(url: string): Promise<SQL> {
  const sql = new SQL(url, url.startsWith('sqlite') ? {} : { max: 1 });
  if (url.startsWith('sqlite')) await sql.unsafe('PRAGMA busy_timeout = 5000');
  return sql;
}

/** Sends one notification to all streams, once they are `openCount`; says when they had it. */
async function toAll(
  server: Server,
  sql: SQL,
  arrivals: number[][],
  openCount: number,
  acknowledgedCount: number,
) {
  // General notifications are five minutes apart; the bench has not that patience.
  await sql.unsafe('UPDATE provider SET last_general_at_ms = NULL');
  // A change by another process makes all streams look.
  await Bun.sleep(2_000);
  for (const each of arrivals) each.length = 0;
  const calledMs = performance.now();
  const { id } = await ask(`${server.url}/remote/notification?${who()}`, notification());
  await until('all have it', () => arrivals.flat().length >= openCount, DEADLINE_MS);
  const took = arrivals.map((each) => each.map((atMs) => atMs - calledMs));
  const received = async () => {
    const [row] = await sql.unsafe(`SELECT count(*) AS count FROM recipient
      WHERE distribution_id = ${id} AND received_at_ms IS NOT NULL`);
    return Number(row.count);
  };
  await acknowledged(received, acknowledgedCount);
  return { took, acknowledgedMs: performance.now() - calledMs };
}

export const streams: Case = {
  about:
    'open WebSockets on one process: memory of each, and the time in which one notification reaches all of them and comes back acknowledged; --silent: no device acknowledges',
  options: { streams: '10000', rounds: '3', store: 'sqlite', silent: false },
  run: async (bench) => {
    const streamCount = bench.number('streams');
    const isFile = bench.text('store') === 'sqlite';
    const url = isFile
      ? `sqlite://${bench.place('data')}/gatepost.db`
      : (await bench.postgres()).url;
    const env: Record<string, string> = isFile ? {} : { GATEPOST_DATABASE_URL: url };
    const [server] = (await startNodes(bench, ['data'], streamCount, env)) as [Server];
    leaveServerCore();
    const arrivals: number[] = [];
    const before = server.memory().anonymousKib;
    const got = () => arrivals.push(performance.now());
    await openStreams([server], streamCount, got, bench.is('silent'));
    const after = server.memory().anonymousKib;
    const each = ((after - before) / streamCount).toFixed(1);
    const mib = (kib: number) => Math.round(kib / 1024);
    console.log(`memory ${mib(before)} MiB before, ${mib(after)} with them: ${each} KiB each`);
    console.log(
      `idle: ${(await idleSeconds([server]))[0]?.toFixed(2)} s of processor time in 10 s`,
    );
    const sql = await openSql(url);
    const caller = startCaller(`${server.url}/api/list-install?${who()}&id=1`, { pauseMs: 10 });
    for (let n = 0; n < bench.number('rounds'); n++) {
      await caller.times();
      const cpuBefore = server.cpuSeconds();
      const wanted = bench.is('silent') ? 0 : streamCount;
      const { took, acknowledgedMs } = await toAll(server, sql, [arrivals], streamCount, wanted);
      const { p99Ms, longestMs } = await caller.times();
      const cpuUs = ((server.cpuSeconds() - cpuBefore) * 1e6) / streamCount;
      const figures = [
        `acknowledged ${acknowledgedMs.toFixed(1)} ms`,
        `${cpuUs.toFixed(1)} us each`,
      ];
      const others = `another caller p99 ${p99Ms.toFixed(1)}, longest ${longestMs.toFixed(1)} ms`;
      console.log([spread(took[0] ?? []), ...figures, others].join('; '));
    }
    console.log(`memory at the end ${mib(server.memory().anonymousKib)} MiB`);
    await sql.close();
    await server.stop();
    return undefined;
  },
};

/** Sends at the first node to a device at `node`, one message after the other. */
async function singles(bench: Bench, servers: readonly Server[], node: number): Promise<void> {
  const heard = new Map<number, number>();
  const hwid = `single-${node}`;
  const got = (ids: readonly number[]) => {
    for (const id of ids) heard.set(id, performance.now());
  };
  await connect(servers[node] as Server, hwid, { got, lost: () => {} });
  const times: number[] = [];
  for (let n = 0; n < bench.number('messages'); n++) {
    const command = { action_type: 'import-data', import_data: `message ${n}`, hwid };
    const { id } = await ask(`${servers[0]?.url}/remote/command?${who()}`, command);
    const answeredMs = performance.now();
    await until('the message', () => heard.has(id), DEADLINE_MS);
    times.push(Math.max(0, (heard.get(id) ?? 0) - answeredMs));
    await Bun.sleep(PACE_MS);
  }
  const where = node === 0 ? 'the same node' : 'another node';
  console.log(`${times.length} messages to a device at ${where}: ${spread(times)}`);
}

export const nodes: Case = {
  isSpread: true,
  about:
    'messages over two nodes on one PostgreSQL: from the answer at one until a device has it at the other, then one notification to many streams, half on each',
  options: { messages: '500', streams: '10000', rounds: '3' },
  needs: ['initdb'],
  run: async (bench) => {
    const streamCount = bench.number('streams');
    const postgres = await bench.postgres();
    const env = { GATEPOST_DATABASE_URL: postgres.url };
    const servers = await startNodes(bench, ['node1', 'node2'], streamCount + 2, env);
    for (const node of servers.keys()) await singles(bench, servers, node);
    const arrivals: number[][] = [[], []];
    const got = (node: number) => arrivals[node]?.push(performance.now());
    await openStreams(servers, streamCount, got);
    const [one = 0, two = 0, database = 0] = await idleSeconds([...servers, postgres.server]);
    console.log(
      `idle, of 10 s: nodes ${one.toFixed(2)} + ${two.toFixed(2)} s, PostgreSQL ${database.toFixed(2)} s`,
    );
    const sql = await openSql(postgres.url);
    for (let n = 0; n < bench.number('rounds'); n++) {
      // The two devices of single messages get it too.
      const { took, acknowledgedMs } = await toAll(
        servers[0] as Server,
        sql,
        arrivals,
        streamCount,
        streamCount + 2,
      );
      const of = took.map((times, node) => `node ${node + 1} ${spread(times)}`).join('; ');
      console.log(`${streamCount} streams: ${of}; acknowledged ${acknowledgedMs.toFixed(1)} ms`);
    }
    await sql.close();
    return undefined;
  },
};
