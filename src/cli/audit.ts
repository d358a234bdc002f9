/** `gatepost audit …`: the log of changes, with their actors and origins. */

import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import {
  auditBlocks,
  auditHead,
  exportLine,
  headText,
  listAudit,
  type NumberedEntry,
} from '../core/audit/chain.ts';
import { type Action, type AuditEntry, providerOf } from '../core/audit/entry.ts';
import { verifyAudit } from '../core/audit/verify.ts';
import type { Core } from '../core/core.ts';
import { hwidHash } from '../core/secret.ts';
import {
  type CliContext,
  type CommonOptions,
  print,
  printTable,
  settingsFor,
  withCore,
} from './context.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { writeTo } from './sink.ts';
import { type Columns, sheet } from './table.ts';
import {
  actionValue,
  auditHeadValue,
  hwidValue,
  instantValue,
  outputFileValue,
  providerCodeValue,
  SINCE_HELP,
} from './values.ts';

interface ListOptions extends CommonOptions, LimitOptions {
  provider?: string;
  action?: Action;
  hwid?: string;
  since?: (nowMs: number) => number;
  until?: (nowMs: number) => number;
}

function actorOf({ who: kind, name, key }: AuditEntry): string {
  return `${kind} ${name}${key === undefined ? '' : ` (key ${key})`}`;
}

/** Returns the object of an entry and its changes: `id=3 status=10->5`. */
function changesOf({ object, change = {} }: AuditEntry): string {
  const facts = Object.entries(object)
    .filter(([, fact]) => fact !== null)
    .map(([name, fact]) => `${name}=${fact}`);
  const changes = Object.entries(change).map(([name, value]) =>
    value === 'changed'
      ? `${name} changed`
      : `${name}=${value[0] ?? 'none'}->${value[1] ?? 'none'}`,
  );
  return [...facts, ...changes].join(' ');
}

const COLUMNS: Columns<NumberedEntry> = {
  NUMBER: 'number',
  AT: 'at',
  WHO: actorOf,
  FROM: 'from',
  ACTION: 'action',
  PROVIDER: (entry) => providerOf(entry) ?? '-',
  WHAT: changesOf,
};

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const nowMs = context.nowMs();
  const filter = {
    provider: options.provider ?? null,
    action: options.action ?? null,
    hwidHash: options.hwid === undefined ? null : hwidHash(options.hwid),
    sinceMs: options.since?.(nowMs) ?? null,
    untilMs: options.until?.(nowMs) ?? null,
  };
  const countMax = countMaxOf(options);
  // One more than shown, to learn whether there are more: a count would read the whole log.
  const found = await withCore(context, options, (core) =>
    listAudit(core, { ...filter, countMax: countMax + 1 }).catch(refuseDamaged),
  );
  printTable(context, options, found.slice(0, countMax), COLUMNS);
  if (found.length > countMax) noteRest(context, countMax, null, 'entry', 'entries');
}

function refuseDamaged(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error;
  throw new OperatorError(
    "a row of the audit log is damaged: 'gatepost audit verify' shows which one",
    'audit_not_verified',
  );
}

interface VerifyOptions extends CommonOptions {
  expect?: string[];
}

async function verify(context: CliContext, options: VerifyOptions): Promise<void> {
  const { auditDays, auditEntriesMax } = settingsFor(context, options);
  const { expect: expected = [] } = options;
  const bounds = { expected, auditDays, auditEntriesMax, nowMs: context.nowMs() };
  const verdict = await withCore(context, options, (core) => verifyAudit(core, bounds));
  const { count, prunedCount, from, to, head, problem } = verdict;
  if (problem !== null) {
    throw new OperatorError(`the audit log does not verify: ${problem}`, 'audit_not_verified');
  }
  const json = { entries: count, pruned: prunedCount, from, to, head };
  print(context, options, json, sheet(json));
}

async function head(context: CliContext, options: CommonOptions): Promise<void> {
  const block = await withCore(context, options, auditHead);
  const text = block === null ? null : headText(block);
  print(context, options, { head: text }, text ?? 'no entry');
}

async function exportLog(context: CliContext, file: string | undefined, options: CommonOptions) {
  const run = (core: Core) =>
    writeTo(context, file, async (write) => {
      let head: string | null = null;
      for await (const { block } of auditBlocks(core)) {
        if (!(await write(`${exportLine(block)}\n`))) break;
        head = headText(block);
      }
      return head;
    });
  const head = await withCore(context, options, run);
  if (file === undefined) return;
  print(context, options, { file, head }, `${file} contains the log up to ${head ?? 'no entry'}`);
}

export function addAuditCommands(program: Command, context: CliContext): void {
  const audit = program.command('audit').description('show and verify the log of changes');

  const listing = audit
    .command('list')
    .description('list changes, the newest first')
    .option('--provider <code>', 'only changes by this provider, or of its data', providerCodeValue)
    .option('--action <action>', 'only this action, such as install.update', actionValue)
    .option('--hwid <hwid>', 'only changes of this HWID', hwidValue)
    .option('--since <time>', SINCE_HELP, instantValue)
    .option('--until <time>', 'before this time', instantValue);
  addLimit(listing).action((options: ListOptions) => list(context, options));

  audit
    .command('verify')
    .description('recompute the chain of hashes; exit code 1 names the first changed row')
    .option(
      '--expect <head>',
      'an earlier head, which the chain must contain; may be repeated',
      (text, heads: string[] | undefined) => [...(heads ?? []), auditHeadValue(text)],
    )
    .action((options: VerifyOptions) => verify(context, options));

  audit
    .command('head')
    .description('print the head of the log, to store elsewhere for verify --expect')
    .action((options: CommonOptions) => head(context, options));

  audit
    .command('export')
    .description('write the whole log with its hashes as JSON Lines')
    .argument('[file]', 'a new file; stdout if omitted or -', outputFileValue)
    .action((file: string | undefined, options: CommonOptions) =>
      exportLog(context, file, options),
    );
}
