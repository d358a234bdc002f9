/** `gatepost distribution receipts`: the ledger of a distribution, device by device. */

import { type Command, Option } from 'commander';
import type { Core } from '../core/core.ts';
import { LEDGER_SHOWS, type LedgerShow, pageLedger } from '../core/message/sent.ts';
import type { Receipt, ReceiptsAfter } from '../core/port/receipt.ts';
import { type CliContext, type CommonOptions, printTable, withCore } from './context.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { refusal } from './refusal.ts';
import { distributionIdValue, showTime, showTimeOrNull } from './values.ts';

interface ReceiptsOptions extends CommonOptions, LimitOptions {
  only: LedgerShow;
}

/** Receipts that are read at a time. */
const PAGE_COUNT = 500;

function view(row: Receipt) {
  return {
    hwid: row.hwid,
    device_name: row.deviceName,
    state: row.receivedAtMs === null ? row.state : 'received',
    reachable: row.isReachable,
    queued_at: showTime(row.queuedAtMs),
    sent_at: showTimeOrNull(row.sentAtMs),
    received_at: showTimeOrNull(row.receivedAtMs),
    opened_at: showTimeOrNull(row.openedAtMs),
    executed_at: showTimeOrNull(row.executedAtMs),
    refused_at: showTimeOrNull(row.refusedAtMs),
    failed_at: showTimeOrNull(row.failedAtMs),
    expired_at: showTimeOrNull(row.expiredAtMs),
    carried_at: showTimeOrNull(row.carriedAtMs),
    carried: row.carried,
    detail: row.detail,
    push: row.push?.state ?? null,
    push_problem: row.push?.problem ?? null,
  };
}

/** Reads at most `countMax` receipts, and one more if there is one. */
async function read(core: Core, id: number, show: LedgerShow, countMax: number) {
  const found = await core.store.findDistribution(id, 1);
  const provider = found && (await core.store.findProvider(found.distribution.providerCode));
  if (provider === null) throw refusal('distribution_not_found', id);
  const of = { providerId: provider.id, distributionId: id };
  const rows: Receipt[] = [];
  for (let after: ReceiptsAfter = null; rows.length <= countMax; ) {
    const page = await pageLedger(core, of, { show, after, countMax: PAGE_COUNT });
    // The device was removed between two pages, so the next page has no start.
    if (page === 'receipt_not_found') break;
    rows.push(...page.rows);
    if (page.nextId === null) break;
    after = { id: page.nextId };
  }
  return rows;
}

async function receipts(context: CliContext, id: number, options: ReceiptsOptions): Promise<void> {
  const countMax = countMaxOf(options);
  const found = await withCore(context, options, (core) => read(core, id, options.only, countMax));
  const rows = found.slice(0, countMax);
  printTable(context, options, rows.map(view), {
    HWID: 'hwid',
    DEVICE: 'device_name',
    STATE: 'state',
    SINCE: ({ opened_at: opened, received_at: received, ...row }) =>
      opened ?? received ?? row.expired_at ?? row.failed_at ?? row.sent_at ?? row.queued_at,
    CARRIED: ({ carried }) => carried ?? '',
    PUSH: ({ push }) => push ?? '',
    WHY: ({ detail, push_problem: problem }) => detail ?? problem ?? '',
  });
  if (found.length > countMax) noteRest(context, countMax, null, 'device');
}

/** Adds the command to `gatepost distribution`. */
export function addReceiptsCommand(distribution: Command, context: CliContext): void {
  const listing = distribution
    .command('receipts')
    .description('list the state of a distribution at each device, the newest devices first')
    .argument('<id>', '', distributionIdValue)
    .addOption(
      new Option('--only <state>', 'only devices in this state')
        .choices(LEDGER_SHOWS)
        .default('all'),
    );
  addLimit(listing).action((id: number, options: ReceiptsOptions) =>
    receipts(context, id, options),
  );
}
