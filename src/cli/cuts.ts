/** `gatepost cuts …` and `link cut-off`: changes of customers' credentials, and barred HWIDs. */

import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { type CutPreview, previewCut, resumeCuts } from '../core/cut-off.ts';
import { HWID, hashInHwid, hwidOfHash, RECORD_ID } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { Bar } from '../core/port/bar.ts';
import type { AskedCut, Cut } from '../core/port/cut-off.ts';
import type { OwnedLink } from '../core/port/link-view.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { findNamed, LINK_ARGUMENT, type LinkName } from './link-name.ts';
import { make } from './make.ts';
import { codeOf, OF_PROVIDER, type ProviderOptions } from './provider-name.ts';
import { granted, refusal } from './refusal.ts';
import { table } from './table.ts';
import { showTime, showTimeOrNull } from './values.ts';

interface ListOptions extends CommonOptions, ProviderOptions {
  waiting?: boolean;
}

/** The most cut-offs that are shown. */
const SHOWN_MAX = 200;

const view = (cut: Cut) => ({
  id: cut.id,
  install_id: cut.installId,
  host: cut.host || null,
  state: cut.state,
  why: cut.why,
  by_user: cut.isByUser,
  asked_at: showTime(cut.askedAtMs),
  ended_at: showTimeOrNull(cut.endedAtMs),
  attempts: cut.attemptCount,
  devices: cut.fetchUntilMs === null ? 0 : cut.deviceCount,
  to_fetch: cut.waitingCount,
  fetch_until: showTimeOrNull(cut.fetchUntilMs),
});

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const { waiting = false } = options;
  const { cuts, stops } = await withCore(context, options, async (core) => {
    const { store } = core;
    const code = await codeOf(core, options);
    const provider = code === null ? null : await store.findProvider(code);
    const page = { installId: null, isWaiting: waiting, beforeId: null, countMax: SHOWN_MAX };
    return {
      cuts: await store.listCuts({ ...page, providerId: provider?.id ?? null }),
      stops: await store.listCutStops(),
    };
  });
  const rows = cuts.map(view);
  const text = table(rows, {
    ID: 'id',
    LINK: 'install_id',
    STATE: 'state',
    ASKED: 'asked_at',
    TRIES: 'attempts',
    'TO FETCH': 'to_fetch',
    WHY: ({ why }) => why ?? '',
  });
  const stopped = stops.map(
    ({ fields, host }) =>
      `${host} makes no cut-offs: its panel changed ${fields.join(', ')} too; see 'gatepost cuts resume'`,
  );
  print(context, options, rows, [text, ...stopped].join('\n'));
}

async function cancel(context: CliContext, id: number, options: CommonOptions): Promise<void> {
  await withCore(context, options, async (core) => {
    const found = await findCut(core, id);
    const doer = { core, nowMs: context.nowMs(), provider: { id: found.providerId } };
    granted(await make('cuts.cancel', doer, { id }), id);
  });
  print(context, options, { id, done: 'cancelled' }, `cut-off ${id} cancelled`);
}

/** Finds a cut-off by its id. */
async function findCut({ store }: Core, id: number): Promise<Cut> {
  const page = { providerId: null, installId: null, isWaiting: false, beforeId: id + 1 };
  const [cut] = await store.listCuts({ ...page, countMax: 1 });
  if (cut?.id !== id) throw refusal('cut_not_found', id);
  return cut;
}

const barView = ({ hwidHash, madeAtMs, untilMs }: Bar) => ({
  hwid: hwidOfHash(hwidHash),
  since: showTime(madeAtMs),
  until: showTime(untilMs),
});

async function bars(context: CliContext, name: LinkName, options: CommonOptions): Promise<void> {
  const found = await withCore(context, options, async (core) => {
    const { link } = await findNamed(core, name);
    return core.store.listBars(link.id, context.nowMs());
  });
  const rows = found.map(barView);
  print(context, options, rows, table(rows, { HWID: 'hwid', SINCE: 'since', UNTIL: 'until' }));
}

async function lift(
  context: CliContext,
  name: LinkName,
  hwid: string,
  options: CommonOptions,
): Promise<void> {
  const { lifted, link } = await withCore(context, options, async (core) => {
    const named = await findNamed(core, name);
    const { id: linkId, installCode, providerId } = named.link;
    const hwidHash = hashInHwid(hwid);
    const given = { linkId, ...(hwidHash === null ? { hwid } : { hwidHash }) };
    const doer = { core, nowMs: context.nowMs(), provider: { id: providerId } };
    const done = granted(await make('bars.lift', doer, given), installCode);
    return { lifted: done.liftedCount, link: named.link };
  });
  const facts = { install_code: link.installCode, lifted };
  const text = lifted === 0 ? `${hwid} is not barred` : `${hwid} may come back`;
  print(context, options, facts, `${text} on ${link.installCode}`);
}

async function resume(context: CliContext, host: string, options: ConfirmOptions): Promise<void> {
  await withCore(context, options, async (core) => {
    const stop = (await core.store.listCutStops()).find((one) => one.host === host);
    if (stop === undefined) throw refusal('cuts_not_stopped', host);
    await confirm(
      context,
      options,
      `Let Gatepost change credentials at the panel of ${host} again, although ${stop.fields.join(', ')} changed too`,
    );
    await resumeCuts(core, host, context.nowMs());
  });
  print(context, options, { host, done: 'resumed' }, `cut-offs at ${host} go on`);
}

/** Returns what a cut-off would do to others, as the end of a question. */
const effectOf = ({ deviceCount, fetchUntilMs }: CutPreview, isFreeing: boolean): string => {
  const others = Math.max(0, deviceCount - (isFreeing ? 1 : 0));
  return `the panel changes the credentials: ${counted(others, 'other device')} must update the subscription, which apps do by themselves until ${showTime(fetchUntilMs)}`;
};

const COPIES =
  'A phone that sends a copied HWID of this link gets the new credentials, too: only copied_hwid count or refuse keeps it out.';

/** Cuts a link off after a question; with a HWID frees and bars that. */
export async function askCut(
  context: CliContext,
  core: Core,
  link: OwnedLink,
  hwid: string | null,
  options: ConfirmOptions,
): Promise<AskedCut> {
  const { id: linkId, installCode, providerId } = link;
  const selector = { installCode: null, installId: linkId };
  const nowMs = context.nowMs();
  const preview = await previewCut(core, { id: providerId }, selector, nowMs);
  if (preview === null) throw refusal('link_not_found', installCode);
  if (preview.why !== null && hwid === null) {
    throw new OperatorError(`${installCode} cannot be cut off: ${preview.why}`, 'cut_impossible');
  }
  const freeing =
    hwid === null ? `Cut off ${installCode}` : `Free and bar ${hwid} on ${installCode}`;
  const effect =
    preview.why === null
      ? effectOf(preview, hwid !== null)
      : `the panel cannot change the credentials (${preview.why}): copied servers go on working`;
  if (!preview.endsCopies) context.stderr(`${COPIES}\n`);
  await confirm(context, options, `${freeing}; ${effect}`);
  const doer = { core, nowMs, provider: { id: providerId } };
  return granted(await make('cuts.ask', doer, { linkId, hwid }), installCode);
}

/** Returns the state of a cut-off as a sentence. */
export function outcomeOf({ id, state, why }: Cut): string {
  if (state === 'waiting') {
    return `cut-off ${id} waits: the server makes it within seconds, see 'gatepost cuts list'`;
  }
  return `cut-off ${id} is ${state}${why === null ? '' : `: ${why}`}`;
}

async function cutLink(
  context: CliContext,
  name: LinkName,
  options: ConfirmOptions,
): Promise<void> {
  const { cut } = await withCore(context, options, async (core) => {
    const { link } = await findNamed(core, name);
    return askCut(context, core, link, null, options);
  });
  print(context, options, view(cut), outcomeOf(cut));
}

/** Reads the number of a cut-off. */
function idValue(text: string): number {
  const id = RECORD_ID.read(text);
  if (isRefused(id)) throw new InvalidArgumentError('a cut-off is given by its number');
  return id;
}

/** Reads a HWID, or `sha256:` and the hash of one. */
function barredValue(text: string): string {
  const hwid = HWID.read(text);
  if (isRefused(hwid)) throw new InvalidArgumentError(`It is ${HWID.rule}, or sha256:HASH.`);
  return hwid;
}

export function addCutCommands(program: Command, context: CliContext): void {
  const cuts = program
    .command('cuts')
    .description("changes of customers' credentials at panels, and HWIDs that were cut off");
  cuts
    .command('list')
    .description('list cut-offs, the newest first, and the upstreams that make none')
    .option(...OF_PROVIDER)
    .option('--waiting', 'only those that wait')
    .action((options: ListOptions) => list(context, options));
  cuts
    .command('cancel')
    .description('cancel a cut-off that waits; its device stays freed and barred')
    .argument('<id>', "the number of 'cuts list'", idValue)
    .action((id: number, options: CommonOptions) => cancel(context, id, options));
  cuts
    .command('bars')
    .description('list the HWIDs that may not come back to a link')
    .argument(...LINK_ARGUMENT)
    .action((name: LinkName, options: CommonOptions) => bars(context, name, options));
  cuts
    .command('lift')
    .description('let a HWID that was cut off come back to a link')
    .argument(...LINK_ARGUMENT)
    .argument('<hwid>', "the HWID, or sha256:HASH of 'cuts bars'", barredValue)
    .action((name: LinkName, hwid: string, options: CommonOptions) =>
      lift(context, name, hwid, options),
    );
  cuts
    .command('resume')
    .description('let an upstream change credentials again, after another field changed too')
    .argument('<host>', 'the host of the upstream')
    .option('--yes', 'do not ask')
    .action((host: string, options: ConfirmOptions) => resume(context, host, options));
}

export function addCutLinkCommand(link: Command, context: CliContext): void {
  link
    .command('cut-off')
    .description('have the panel change the credentials of a link, so that copied servers stop')
    .argument(...LINK_ARGUMENT)
    .option('--yes', 'do not ask for confirmation')
    .action((name: LinkName, options: ConfirmOptions) => cutLink(context, name, options));
}
