/** `gatepost import --panel`: imports users of a panel as links; it can be repeated. */

import type { Command } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import { firstLineOfSecret, secretIn } from '../base/permissions.ts';
import type { Config } from '../config/settings/index.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { INSTALL_LIMIT } from '../core/formats.ts';
import { Mover } from '../core/moving/import.ts';
import { importPanel } from '../core/moving/panel-import.ts';
import { isMany, type PanelPlan, planPanel } from '../core/moving/panel-plan.ts';
import { PanelTally } from '../core/moving/panel-tally.ts';
import { Tally } from '../core/moving/tally.ts';
import { ACCESS_HEADERS_RULE, readAccessHeaders } from '../core/panel/access-headers.ts';
import type { PanelUser } from '../core/panel/cells.ts';
import { type PanelKind, panelOf } from '../core/panel/kind.ts';
import type { PanelJob } from '../panel/panel-read.ts';
import { print, withCore } from './context.ts';
import { type ImportOptions, type ImportRun, warnIfOpen } from './import-origin.ts';
import { panelSummaryJson, panelSummaryText } from './import-panel-summary.ts';

export interface PanelImportOptions extends ImportOptions {
  panel?: PanelKind;
  label?: string;
  unlimitedAs?: number | 'skip';
  applyToExisting?: boolean;
  check?: boolean;
  disableGone?: boolean;
  disableDisabled?: boolean;
  yes?: boolean;
  memory: number;
  headersFile?: string;
}

/** Options of an import from a server of this API, which do not apply to a panel. */
const NOT_FOR_PANELS = [
  ...['--key', '--new-key', '--name', '--plan', '--expires', '--max-links'],
  ...['--zone', '--ids', '--recheck'],
];
/** Options that apply only to a panel. */
const FOR_PANELS = [
  ...['--label', '--unlimited-as', '--apply-to-existing', '--check', '--headers-file'],
  ...['--disable-gone', '--disable-disabled', '--yes', '--memory'],
];

/** Refuses options that have no effect; ignoring them would hide a mistake. */
export function refusePanelConflicts(options: PanelImportOptions, command: Command): void {
  const unfit = options.panel === undefined ? FOR_PANELS : NOT_FOR_PANELS;
  const conflict = command.options.find(
    (option) =>
      unfit.includes(option.long ?? '') &&
      command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (!conflict) return;
  throw new UsageError(
    options.panel === undefined
      ? `${conflict.long} needs --panel`
      : `${conflict.long} has no effect with --panel`,
  );
}

type PanelRun = ImportRun & { options: PanelImportOptions };

/** Reads the whole panel, then stores its users. */
export async function importFromPanel(run: PanelRun, path: string | undefined): Promise<void> {
  const { context, progress, options, signal } = run;
  const { panel, code } = options;
  if (panel === undefined) throw new UsageError('--panel is needed');
  if (code === undefined)
    throw new UsageError('--code is needed: the provider that gets the links');
  if (options.applyToExisting && options.unlimitedAs === 'skip') {
    throw new UsageError('--apply-to-existing needs a limit: --unlimited-as is skip');
  }
  const job: PanelJob = path === undefined ? apiJob(run, panel) : { panel, path };
  const { users, view } = await context.readPanel(job, {
    signal,
    memoryMaxMib: options.memory,
    onProgress: (done, total) => progress.show(done, total),
  });
  await withCore(context, options, (core, config) => {
    const unlimitedAs = options.unlimitedAs ?? unlimitedAsOf(config, code, panel);
    return bringUsers(run, core, users, { kind: panel, code, view, unlimitedAs });
  });
}

/** Returns the limit for users without one, as the upstream of the panel has it. */
function unlimitedAsOf({ gateUpstreams }: Config, code: string, kind: PanelKind): number {
  const upstream = gateUpstreams.find(
    (one) => one.provider === code && panelOf({ panel: one.panel, key: one.key }) === kind,
  );
  return upstream?.unlimitedAs ?? INSTALL_LIMIT.maximum;
}

function apiJob({ context, options }: PanelRun, panel: PanelKind): PanelJob {
  const { from: url = '', headersFile, keyFile, rate: callsPerSecondMax } = options;
  if (keyFile === undefined) throw new UsageError('--key-file is needed: a file with the token');
  warnIfOpen(context, url);
  const headers = headersFile === undefined ? {} : accessHeadersIn(headersFile);
  return { panel, url, token: firstLineOfSecret(keyFile), headers, callsPerSecondMax };
}

function accessHeadersIn(file: string) {
  const headers = readAccessHeaders(secretIn(file));
  if (headers === null) throw new OperatorError(`${file} is not ${ACCESS_HEADERS_RULE}`);
  return headers;
}

/** The panel and the rules of an import. */
interface Bringing {
  kind: PanelKind;
  code: string;
  view: string;
  unlimitedAs: number | 'skip';
}

async function bringUsers(
  { context, progress, options, signal }: PanelRun,
  core: Core,
  users: readonly PanelUser[],
  { kind, code, view, unlimitedAs: given }: Bringing,
): Promise<void> {
  const provider = await core.store.findProvider(code);
  if (provider === null) {
    throw new OperatorError(
      `there is no provider ${code}: add it with 'gatepost provider add'`,
      'provider_not_found',
    );
  }
  const tally = new Tally();
  const panelTally = new PanelTally();
  const updates = options.update ?? false;
  const isCheck = options.check ?? false;
  const unlimitedAs = given === 'skip' ? null : given;
  const mover = new Mover(core, provider, tally, updates, context.nowMs);
  const rules = {
    panel: options.label === undefined ? kind : `${kind}/${options.label}`,
    kind,
    view,
    unlimitedAs,
    nowMs: context.nowMs(),
    disablesDisabled: options.disableDisabled ?? false,
  };
  const plan = await planPanel(mover, users, rules);
  const disablesGone = options.disableGone ?? false;
  if (!isCheck && !options.yes) refuseMany(plan, disablesGone);
  await importPanel(mover, plan, panelTally, {
    ...rules,
    disablesGone,
    updates,
    isCheck,
    lowersExisting: options.applyToExisting ?? false,
    isStopped: () => signal.aborted,
    onStep: () => progress.show(tally.linksDone, tally.linksListed),
  });
  progress.clear();
  const isComplete = !signal.aborted;
  const summary = {
    kind,
    view,
    providerCode: code,
    tally,
    panel: panelTally,
    isComplete,
    isFromApi: options.from !== undefined,
    isCheck,
    unlimitedAs,
    disablesGone,
    disablesDisabled: rules.disablesDisabled,
  };
  print(context, options, panelSummaryJson(summary), panelSummaryText(summary));
  if (!isComplete) {
    throw new OperatorError('interrupted: run the same command to continue', 'interrupted');
  }
  const { length } = panelTally.unserved;
  if (length > 0) {
    throw new OperatorError(
      `${counted(length, 'user')} of the panel cannot be served: see the list`,
      'users_not_served',
    );
  }
}

/** Refuses to end over a tenth of the links: then hardly the users are what changed. */
function refuseMany(plan: PanelPlan, disablesGone: boolean): void {
  const { gone, anotherCount, linkCount } = plan;
  const refuse = (count: number, why: string) => {
    throw new OperatorError(
      `nothing was stored: ${count} of ${counted(linkCount, 'link')} would end, because ${why} (--yes agrees to it)`,
      'many_links',
    );
  };
  if (disablesGone && isMany(gone.length, plan)) refuse(gone.length, 'their users are not there');
  if (isMany(anotherCount, plan)) refuse(anotherCount, 'their users were made again in the panel');
}
