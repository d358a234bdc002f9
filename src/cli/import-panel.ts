/** `gatepost import --panel`: imports users of a panel as links; it can be repeated. */

import type { Command } from 'commander';
import type { Core } from '../core/core.ts';
import { Mover } from '../core/moving/import.ts';
import { PANEL_SCHEMAS } from '../core/moving/panel.ts';
import { importPanel, PanelTally } from '../core/moving/panel-import.ts';
import type { PanelUser } from '../core/moving/panel-user.ts';
import { Tally } from '../core/moving/tally.ts';
import type { PanelKind } from '../core/panel/kind.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { type PanelApiOptions, readPanelApi } from '../panel/panel-api.ts';
import { readPanelFile } from '../panel/panel-file.ts';
import { firstLineOfSecret } from '../permissions.ts';
import { VERSION } from '../version.ts';
import { print, withCore } from './context.ts';
import { type ImportOptions, type ImportRun, warnIfOpen } from './import-origin.ts';
import { panelSummaryJson, panelSummaryText } from './import-panel-summary.ts';

export interface PanelImportOptions extends ImportOptions {
  panel?: PanelKind;
  label?: string;
  unlimitedAs: number | 'skip';
  check?: boolean;
  disableGone?: boolean;
}

/** Options of an import from a server of this API, which do not apply to a panel. */
const NOT_FOR_PANELS = [
  ...['--key', '--new-key', '--name', '--plan', '--expires', '--max-links'],
  ...['--zone', '--ids', '--recheck'],
];
/** Options that apply only to a panel. */
const FOR_PANELS = ['--label', '--unlimited-as', '--check', '--disable-gone'];

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
  const { context, options, signal } = run;
  const { panel, code } = options;
  if (panel === undefined) throw new UsageError('--panel is needed');
  if (code === undefined)
    throw new UsageError('--code is needed: the provider that gets the links');
  const rows =
    path === undefined
      ? await readPanelApi(panel, apiOptions(run))
      : await readPanelFile(path, panel, () => signal.aborted);
  const users = PANEL_SCHEMAS[panel].readUsers(rows);
  await withCore(context, options, (core) => bringUsers(run, core, users, panel, code));
}

function apiOptions({ context, progress, options, signal }: PanelRun): PanelApiOptions {
  const { from: url = '', keyFile, rate } = options;
  if (keyFile === undefined) throw new UsageError('--key-file is needed: a file with the token');
  warnIfOpen(context, url);
  return {
    ...{ url, token: firstLineOfSecret(keyFile), callsPerSecondMax: rate, signal },
    userAgent: `gatepost-import/${VERSION}`,
    sleep: context.sleep,
    onProgress: (done, total) => progress.show(done, total),
  };
}

async function bringUsers(
  { context, progress, options, signal }: PanelRun,
  core: Core,
  users: readonly PanelUser[],
  kind: PanelKind,
  code: string,
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
  const unlimitedAs = options.unlimitedAs === 'skip' ? null : options.unlimitedAs;
  const mover = new Mover(core, provider, tally, updates, context.nowMs);
  await importPanel(mover, users, panelTally, {
    panel: options.label === undefined ? kind : `${kind}/${options.label}`,
    ...{ kind, updates, nowMs: context.nowMs(), unlimitedAs },
    disablesGone: options.disableGone ?? false,
    isCheck: options.check ?? false,
    isStopped: () => signal.aborted,
    onStep: () => progress.show(tally.linksDone, tally.linksListed),
  });
  progress.clear();
  const isComplete = !signal.aborted;
  const summary = {
    ...{
      kind,
      isFromApi: options.from !== undefined,
      providerCode: code,
      tally,
      panel: panelTally,
      isComplete,
    },
    ...{ unlimitedAs, isCheck: options.check ?? false },
    disablesGone: options.disableGone ?? false,
  };
  print(context, options, panelSummaryJson(summary), panelSummaryText(summary));
  if (!isComplete) {
    throw new OperatorError('interrupted: run the same command to continue', 'interrupted');
  }
}
