/** `gatepost distribution …`: notifications and commands, and their delivery. */

import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { visible } from '../base/visible.ts';
import { counted } from '../core/counted.ts';
import { BLOCKED, CANCELLED, isTerminal, STATUS_NAMES } from '../core/message/status.ts';
import { TARGET_HWID_COUNT_MAX } from '../core/message/target.ts';
import { isRefused } from '../core/outcome.ts';
import { type DistributionDetail, PUSH } from '../core/port/distribution.ts';
import type { LedgerRow, LedgerTotals } from '../core/port/ledger.ts';
import { countRecipients } from '../core/target-count.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { addReceiptsCommand } from './distribution-receipts.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { make } from './make.ts';
import { codeOf, OF_PROVIDER } from './provider-name.ts';
import { granted, refusal } from './refusal.ts';
import { sheet, table } from './table.ts';
import { distributionIdValue, showTime, showTimeOrNull } from './values.ts';
import { waysFacts, waysTable } from './ways.ts';

interface ListOptions extends CommonOptions, LimitOptions {
  provider?: string;
}

type ShowOptions = CommonOptions & LimitOptions;

const typeName = (type: number) => (type === PUSH ? 'push' : 'command');

function view(distribution: DistributionDetail) {
  return {
    id: distribution.id,
    provider_code: distribution.providerCode,
    type: typeName(distribution.notificationType),
    status: distribution.status,
    status_name: STATUS_NAMES[distribution.status] ?? '',
    target_os: distribution.targetOs,
    target_hwid: distribution.targetHwid,
    by_filter: distribution.segment,
    created_at: showTime(distribution.createdAtMs),
    due_at: showTime(distribution.dueAtMs),
    expires_at: showTime(distribution.expiresAtMs),
    began_at: showTimeOrNull(distribution.beganAtMs),
    finished_at: showTimeOrNull(distribution.finishedAtMs),
    recipients: distribution.recipientCount,
    sent: distribution.sentCount,
    failed: distribution.failedCount,
    at_gateways_since: showTimeOrNull(distribution.handedOverAtMs),
    replaces: distribution.replacesId,
  };
}

/** Counts many HWIDs: a table is as wide as its widest cell. */
function targetCell(hwid: string): string {
  const count = hwid.split(',').length;
  return count > TARGET_HWID_COUNT_MAX ? counted(count, 'HWID') : hwid;
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const countMax = countMaxOf(options);
  const { found, count } = await withCore(context, options, async (core) => {
    const providerCode = await codeOf(core, options);
    return {
      found: await core.store.listAllDistributions({ providerCode, countMax }),
      count: await core.store.countDistributions(providerCode),
    };
  });
  printTable(context, options, found.map(view), {
    ID: 'id',
    PROVIDER: 'provider_code',
    TYPE: 'type',
    STATUS: 'status_name',
    TARGET: ({ by_filter: filter, target_os: os, target_hwid: hwid }) =>
      filter === null ? (os ?? targetCell(hwid)) : 'by a filter',
    'SENT AT': ({ began_at: began, due_at: due }) => began ?? due,
    RECIPIENTS: 'recipients',
  });
  noteRest(context, found.length, count, 'distribution');
}

/** Most recipients that are looked up to count those that can get messages. */
const REACH_ROWS = 100_000;

/** Bounds of a shown message; `--json` has all of it. */
const SHOWN_LINES_MAX = 40;
const SHOWN_LENGTH_MAX = 200;

/** Returns the message as text: indented, bounded, without control characters. */
function messageText(payload: unknown): string {
  if (payload === null) return 'The message was deleted with its ledger.';
  const lines = JSON.stringify(payload, null, 2).split('\n');
  const shown = lines.slice(0, SHOWN_LINES_MAX).map((line) => {
    const text = visible(line);
    const rest = text.length - SHOWN_LENGTH_MAX;
    return rest > 0 ? `  ${text.slice(0, SHOWN_LENGTH_MAX)}… (${rest} more)` : `  ${text}`;
  });
  const rest = lines.length - shown.length;
  if (rest > 0) shown.push(`  … (${counted(rest, 'more line')}: see --json)`);
  return ['Message', ...shown].join('\n');
}

/** Returns a sentence for a ledger without missing recipients. */
function nothingMissing(distribution: DistributionDetail, totals: LedgerTotals) {
  const { status, recipientCount, handedOverAtMs } = distribution;
  const name = STATUS_NAMES[status] ?? status;
  if (status === BLOCKED || status === CANCELLED) return `${name}: no further device gets it.`;
  if (handedOverAtMs !== null && !isTerminal(status))
    return 'All inboxes have it; pushes are pending.';
  if (!isTerminal(status)) return `Not delivered yet: it is ${name}.`;
  if (recipientCount === 0) return 'It had no recipients.';
  return totals.received >= recipientCount
    ? 'All recipients received it.'
    : `${totals.received} of ${recipientCount} received it; the others were deleted since.`;
}

function missingView(row: LedgerRow) {
  return {
    hwid: row.hwid,
    state: row.state,
    since: showTime(row.expiredAtMs ?? row.failedAtMs ?? row.sentAtMs ?? row.queuedAtMs),
    detail: row.detail,
    push: row.push?.state ?? null,
    push_problem: row.push?.problem ?? null,
    carried_at: showTimeOrNull(row.carriedAtMs),
    carried: row.carried,
  };
}

type Missing = ReturnType<typeof missingView>;

/** Returns the ledger as text; without gateways if it has no pushes. */
function ledgerText(distribution: DistributionDetail, totals: LedgerTotals, rows: LedgerRow[]) {
  if (distribution.isPruned) return 'The ledger of this distribution was pruned.';
  const { atGateway, ...inboxes } = totals;
  const isPushed = Object.values(atGateway).some((count) => count > 0);
  const indented = (counts: Record<string, number>) => sheet(counts).replace(/^/gm, '  ');
  const push = { PUSH: ({ push: state }: Missing) => state ?? '' };
  const missing = table(rows.map(missingView), {
    'NOT RECEIVED BY': 'hwid',
    STATE: 'state',
    SINCE: 'since',
    ...(isPushed ? push : {}),
    ...(totals.carried > 0 ? { CARRIED: ({ carried }: Missing) => carried ?? '' } : {}),
    WHY: ({ detail, push_problem: problem }) => detail ?? problem ?? '',
  });
  return [
    'Ledger',
    indented(inboxes),
    '',
    ...(isPushed ? ['At gateways', indented({ ...atGateway }), ''] : []),
    rows.length === 0 ? nothingMissing(distribution, totals) : missing,
  ].join('\n');
}

async function show(context: CliContext, id: number, options: ShowOptions): Promise<void> {
  const { found, count } = await withCore(context, options, async (core) => {
    const found = await core.store.findDistribution(id, countMaxOf(options));
    const code = found?.distribution.providerCode ?? '';
    const provider = found && (await core.store.findProvider(code));
    if (found === null || provider === null) throw refusal('distribution_not_found', id);
    return { found, count: await countRecipients(core, provider, found.distribution, REACH_ROWS) };
  });
  const { distribution, totals } = found;
  const facts = view(distribution);
  const ways = { ...waysFacts(count), reachable_at_least: count?.isAtLeast ?? null };
  const missing = found.missing.map(missingView);
  const payload: unknown = JSON.parse(distribution.payload);
  const { atGateway, ...inboxes } = totals;
  const ledgerOf = { ...inboxes, at_gateway: atGateway };
  const json = {
    ...facts,
    ...ways,
    payload,
    ledger: ledgerOf,
    pruned: distribution.isPruned,
    missing,
  };
  const ledger = ledgerText(distribution, totals, found.missing);
  const parts = [
    sheet(facts),
    ...(count === null ? [] : [waysTable(count)]),
    messageText(payload),
    ledger,
  ];
  print(context, options, json, parts.join('\n\n'));
  const { queued, sent, failed, expired, received } = totals;
  noteRest(context, missing.length, queued + sent + failed + expired - received, 'recipient');
}

async function block(context: CliContext, id: number, options: CommonOptions): Promise<void> {
  const outcome = await withCore(context, options, (core) =>
    make('sends.block', { core, nowMs: context.nowMs() }, { id }),
  );
  if (outcome === 'ride_ended') {
    const sentence = `distribution ${id} has ended already; it no longer rides on subscriptions`;
    print(context, options, { id, done: 'ride ended' }, sentence);
    return;
  }
  granted(outcome, id);
  print(context, options, { id, done: 'blocked' }, `distribution ${id} blocked`);
}

const NOT_CANCELLED = {
  cancel_too_late: "is not scheduled, or is due within ten minutes: 'distribution block' stops it",
  cancel_failed: 'has ended and cannot be cancelled',
} as const;

/** Cancels for the provider, by the rule of ten minutes. */
async function cancel(context: CliContext, id: number, options: CommonOptions): Promise<void> {
  await withCore(context, options, async (core) => {
    const found = await core.store.findDistribution(id, 1);
    const code = found?.distribution.providerCode ?? '';
    const provider = found && (await core.store.findProvider(code));
    if (provider === null) throw refusal('distribution_not_found', id);
    const doer = { core, nowMs: context.nowMs(), provider };
    const outcome = await make('messages.cancel', doer, { id });
    if (!isRefused(outcome)) return;
    const { says, fault } = outcome;
    if (fault !== undefined) throw fault;
    if (says === 'notification_not_found') throw refusal('distribution_not_found', id);
    throw new OperatorError(`distribution ${id} ${NOT_CANCELLED[says]}`, 'cancel_refused');
  });
  print(context, options, { id, done: 'cancelled' }, `distribution ${id} cancelled`);
}

export function addDistributionCommands(program: Command, context: CliContext): void {
  const distribution = program
    .command('distribution')
    .description('show, cancel and block notifications and commands');

  const listing = distribution
    .command('list')
    .description('list distributions, the newest first')
    .option(...OF_PROVIDER);
  addLimit(listing).action((options: ListOptions) => list(context, options));

  const showing = distribution
    .command('show')
    .description('show a distribution with its message, its ledger and its missing recipients')
    .argument('<id>', '', distributionIdValue);
  addLimit(showing, 'the most missing recipients to list').action(
    (id: number, options: ShowOptions) => show(context, id, options),
  );

  addReceiptsCommand(distribution, context);

  distribution
    .command('cancel')
    .description('cancel a scheduled distribution, at least ten minutes before its time')
    .argument('<id>', '', distributionIdValue)
    .action((id: number, options: CommonOptions) => cancel(context, id, options));

  distribution
    .command('block')
    .description('stop a running distribution: no further device gets it')
    .argument('<id>', '', distributionIdValue)
    .action((id: number, options: CommonOptions) => block(context, id, options));
}
