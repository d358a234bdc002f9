/** `gatepost node …`: the processes that serve one PostgreSQL database. */

import type { Command } from 'commander';
import type { NodeRecord } from '../core/port/node.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { table } from './table.ts';
import { showTime } from './values.ts';

/** Age of a node's last heartbeat, one each 5 s, after which the node is silent, ms. */
const SILENT_MS = 15_000;

async function list(context: CliContext, options: CommonOptions): Promise<void> {
  const nodes = await withCore(context, options, ({ store }) => store.listNodes());
  if (nodes === null) {
    const text = "The database is a file on this machine, with one node: see 'gatepost ready'.";
    print(context, options, [], text);
    return;
  }
  const shown = nodes.map(view);
  const text = table(shown, {
    node: 'name',
    state: 'state',
    address: 'address',
    version: 'version',
    schema: 'schema',
    'started at': 'started_at',
    'seen at': 'seen_at',
    // The field shows how far the database's clock is ahead, the column how far the node's is.
    clock: ({ clock_offset_ms: ms }) => `${ms > 0 ? '-' : '+'}${Math.abs(ms) / 1000} s`,
  });
  print(context, options, shown, text);
}

function view(node: NodeRecord) {
  const { name, address, version, schema, startedAtMs, seenAtMs, silentMs, clockOffsetMs } = node;
  return {
    name,
    state: silentMs > SILENT_MS ? 'silent' : 'up',
    address,
    version,
    schema,
    started_at: showTime(startedAtMs),
    seen_at: showTime(seenAtMs),
    clock_offset_ms: clockOffsetMs,
  };
}

export function addNodeCommands(program: Command, context: CliContext): void {
  const node = program.command('node').description('show the nodes of one PostgreSQL database');
  node
    .command('list')
    .description('list the nodes with their addresses, versions and clocks')
    .action((options: CommonOptions) => list(context, options));
}
