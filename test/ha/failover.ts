/**
 * A true failover: nodes of Gatepost on a PostgreSQL of several members under Patroni with
 * synchronous replication, all on this machine. The leader is struck again and again, in turns by
 * each fault, while callers do everything at once; afterwards no acknowledged write may be missing.
 * Prints a line for each failover, and fails if one took longer than it may.
 *
 *   bun test/ha/failover.ts [--failovers 20] [--nodes 2] [--seed 1] [--faults machine,frozen]
 *
 * Needs etcd, patroni, haproxy and nginx (`make failover-tools`), and half an hour.
 */

import { parseArgs } from 'node:util';
import { Random } from '../support/random.ts';
import { Cluster, FAULTS } from './cluster.ts';
import { type Failover, failOver } from './failovers.ts';
import { Nodes } from './nodes.ts';
import { Ordeal } from './ordeal.ts';

const { values: options } = parseArgs({
  options: {
    failovers: { type: 'string', default: '20' },
    nodes: { type: 'string', default: '2' },
    members: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    faults: { type: 'string', default: FAULTS.join() },
  },
});
const seed = Number(options.seed);
const faults = FAULTS.filter((fault) => options.faults.split(',').includes(fault));
const STATEMENT_SECONDS = 10;
/** After Patroni has another leader: HAProxy sees it, nodes have connections again. */
const ANSWER_MAX_MS = 5000;
/** Of any call: a statement's deadline, and a second. */
const CALL_MAX_MS = (STATEMENT_SECONDS + 1) * 1000;

const problems: string[] = [];

function note(failover: Failover): void {
  const { fault, electionMs, answeredAfterMs, longestMs, longest, failed, ok } = failover;
  const ms = (figure: number) => `${Math.round(figure)} ms`;
  const line =
    `${fault}: another leader after ${ms(electionMs)}, answers ${ms(answeredAfterMs)} later; ` +
    `meanwhile ${ok} answered, ${failed} not, the longest ${ms(longestMs)} (${longest})`;
  console.log(line);
  if (answeredAfterMs > ANSWER_MAX_MS || longestMs > CALL_MAX_MS) problems.push(line);
}

const cluster = await Cluster.start(Number(options.members));
const nodes = await Nodes.start(cluster.url(), Number(options.nodes), {
  GATEPOST_DATABASE_STATEMENT_SECONDS: String(STATEMENT_SECONDS),
});
const pids = nodes.servers.map(({ pid }) => pid);
const lookUrl = cluster.url();
const ordeal = await Ordeal.prepare({ nodes, lookUrl, providerCount: 2, callerCount: 6, seed });
ordeal.begin();
await failOver({
  cluster,
  nodes,
  calls: ordeal.recorder,
  faults,
  note,
  count: Number(options.failovers),
  random: new Random(seed),
});
problems.push(...(await ordeal.end()));
if (nodes.servers.some(({ pid }, at) => pid !== pids[at])) problems.push('a node was restarted');
await nodes.stop();
console.log(ordeal.figures());
for (const server of nodes.servers) console.log(server.troubles().slice(-8).join('\n'));
console.log(problems.length === 0 ? 'nothing was lost' : problems.slice(0, 50).join('\n'));
process.exit(problems.length === 0 ? 0 : 1);
