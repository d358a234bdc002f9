/** Strikes the leader of a cluster again and again under load, and tells what callers noticed. */

import type { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import type { Cluster, Fault } from './cluster.ts';
import type { Nodes } from './nodes.ts';
import type { Recorder } from './recorder.ts';

export interface Failover {
  fault: Fault;
  /** From the fault until Patroni had another leader, ms. */
  electionMs: number;
  /** From then until a call that began after it was answered well, ms. */
  answeredAfterMs: number;
  /** Calls that ended between the fault and the first good answer, and the longest of them. */
  ok: number;
  failed: number;
  longestMs: number;
  /** What it was answered. */
  longest: string;
}

interface Order {
  cluster: Cluster;
  nodes: Nodes;
  /** What callers notice. */
  calls: Recorder;
  /** In turns. */
  faults: readonly Fault[];
  count: number;
  random: Random;
  note: (failover: Failover) => void;
}

/** Callers notice nothing new after this time. */
const ANSWER_MAX_MS = 60_000;

/** One failover after the other, each on a whole cluster under load. */
export async function failOver(order: Order): Promise<void> {
  const { cluster, nodes, calls, faults, count, random, note } = order;
  for (let n = 0; n < count; n++) {
    await cluster.whole();
    const quietMs = performance.now();
    await until('calls are answered', () => calls.okAfter(quietMs), ANSWER_MAX_MS);
    await nodes.ready();
    await Bun.sleep(random.int(0, 2000));
    const fault = faults[n % faults.length] ?? 'machine';
    const leader = await cluster.leader();
    const struckMs = performance.now();
    const mend = await cluster.strike(leader, fault);
    if (fault !== 'switchover' && fault !== 'database') await nodes.unready();
    await cluster.leader(leader);
    const electedMs = performance.now();
    const okMs = await until('calls are answered', () => calls.okAfter(electedMs), ANSWER_MAX_MS);
    const [electionMs, answeredAfterMs] = [electedMs - struckMs, okMs - electedMs];
    note({ fault, electionMs, answeredAfterMs, ...calls.after(struckMs) });
    mend();
  }
  await cluster.whole();
}
