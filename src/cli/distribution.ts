/** `gatepost distribution …`: what became of notifications and commands. */

import type { Command } from 'commander';
import { actAt } from '../core/audit.ts';
import { BLOCKED, PUSH, STATUS_NAMES, statusesBefore } from '../core/distribution.ts';
import type { DistributionDetail, LedgerRow } from '../core/message-store.ts';
import { OperatorError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { sheet, table } from './table.ts';
import { countValue, distributionIdValue, providerCodeValue, showTime } from './values.ts';

interface ListOptions extends CommonOptions {
  provider?: string;
  limit: number;
}

const typeName = (type: number) => (type === PUSH ? 'push' : 'command');
const time = (epochMs: number | null) => (epochMs === null ? null : showTime(epochMs));

function view(distribution: DistributionDetail) {
  return {
    id: distribution.id,
    provider_code: distribution.providerCode,
    type: typeName(distribution.notificationType),
    status: distribution.status,
    status_name: STATUS_NAMES[distribution.status] ?? '',
    target_os: distribution.targetOs,
    target_hwid: distribution.targetHwid,
    created_at: showTime(distribution.createdAtMs),
    due_at: showTime(distribution.dueAtMs),
    expires_at: showTime(distribution.expiresAtMs),
    began_at: time(distribution.beganAtMs),
    finished_at: time(distribution.finishedAtMs),
    recipients: distribution.recipientCount,
    sent: distribution.sentCount,
    failed: distribution.failedCount,
  };
}

function target({ target_os: os, target_hwid: hwid }: ReturnType<typeof view>): string {
  return os ?? hwid;
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const filter = { providerCode: options.provider ?? null, countMax: options.limit };
  const found = await withCore(context, options, (core) => core.store.listAllDistributions(filter));
  const views = found.map(view);
  const rows = views.map((row) => [
    row.id,
    row.provider_code,
    row.type,
    row.status_name,
    target(row),
    row.began_at ?? row.due_at,
    row.recipients,
  ]);
  const headings = ['ID', 'PROVIDER', 'TYPE', 'STATUS', 'TARGET', 'SENT AT', 'RECIPIENTS'];
  print(context, options, views, table(headings, rows));
}

function missingView(row: LedgerRow) {
  return {
    hwid: row.hwid,
    state: row.state,
    since: showTime(row.expiredAtMs ?? row.failedAtMs ?? row.sentAtMs ?? row.queuedAtMs),
    detail: row.detail,
  };
}

async function show(
  context: CliContext,
  id: number,
  options: CommonOptions & { limit: number },
): Promise<void> {
  const found = await withCore(context, options, (core) =>
    core.store.findDistribution(id, options.limit),
  );
  if (found === null) throw noSuchDistribution(id);
  const { distribution, totals } = found;
  const facts = view(distribution);
  const missing = found.missing.map(missingView);
  const json = {
    ...facts,
    payload: JSON.parse(distribution.payload),
    ledger: totals,
    pruned: distribution.isPruned,
    missing,
  };
  const ledger = distribution.isPruned
    ? 'The ledger of this distribution was pruned.'
    : [
        'Ledger',
        sheet(Object.entries(totals).map(([name, count]) => [`  ${name}`, count])),
        '',
        missing.length === 0
          ? 'Everybody received it.'
          : table(
              ['NOT RECEIVED BY', 'STATE', 'SINCE', 'WHY'],
              missing.map((row) => [row.hwid, row.state, row.since, row.detail ?? '']),
            ),
      ].join('\n');
  const text = `${sheet(Object.entries(facts).map(([name, value]) => [name, value ?? '-']))}\n\n${ledger}`;
  print(context, options, json, text);
}

async function block(context: CliContext, id: number, options: CommonOptions): Promise<void> {
  const from = statusesBefore(BLOCKED);
  const nowMs = context.nowMs();
  const outcome = await withCore(context, options, (core) =>
    core.store.blockDistribution(id, from, nowMs, actAt(core, nowMs)),
  );
  if (outcome === 'distribution_not_found') throw noSuchDistribution(id);
  if (outcome !== 'ok') {
    const name = STATUS_NAMES[outcome] ?? outcome;
    throw new OperatorError(`distribution ${id} has ended (${name}) and cannot be blocked`);
  }
  print(context, options, { id, done: 'blocked' }, `distribution ${id} blocked`);
}

function noSuchDistribution(id: number): OperatorError {
  return new OperatorError(`there is no distribution ${id}: see 'gatepost distribution list'`);
}

export function addDistributionCommands(program: Command, context: CliContext): void {
  const distribution = program
    .command('distribution')
    .description('look at notifications and commands, block one');

  distribution
    .command('list')
    .description('list distributions, the newest first')
    .option('--provider <code>', 'only those of this provider', providerCodeValue)
    .option('--limit <number>', 'at most so many', countValue, 50)
    .action((options: ListOptions) => list(context, options));

  distribution
    .command('show')
    .description('show a distribution, its ledger, and who has not received it')
    .argument('<id>', '', distributionIdValue)
    .option('--limit <number>', 'name at most so many who have not received it', countValue, 50)
    .action((id: number, options: CommonOptions & { limit: number }) => show(context, id, options));

  distribution
    .command('block')
    .description('stop a distribution that has not ended: no device gets it any more')
    .argument('<id>', '', distributionIdValue)
    .action((id: number, options: CommonOptions) => block(context, id, options));
}
