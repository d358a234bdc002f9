/**
 * A pass over the links of one provider: tells webhooks what became of their subscriptions, sends
 * the reminders that are due, and ends those that are not true any more. src/jobs/remind.ts repeats
 * passes. Each step is one guarded write of a few links, so that a kill between two steps loses
 * nothing, and a pass made twice sends nothing twice.
 */

import type { Core } from './core.ts';
import { wakeDevices } from './message/deliver.ts';
import { USUAL_TIME_ZONE } from './message/filling.ts';
import type { FiguresReader } from './port/figures-reader.ts';
import type {
  CourseFigures,
  NewRound,
  RemindedProvider,
  Rule,
  SilentLink,
  Wanted,
} from './port/reminding.ts';
import { mayNotify } from './provider.ts';
import { roundOf } from './reminder-round.ts';
import { isMassMove, isOver, isQuiet, MOVED_MS, silenceOf, wantedOf } from './reminder-rules.ts';
import { courseNews } from './subscription-course.ts';
import { isFresh } from './subscription-figures.ts';
import { nextTurn } from './turn.ts';

/** The length of a claim, and the time after which it is renewed, ms. */
const LEASE_MS = 60_000;
const RENEWAL_MS = 20_000;
/** Links that a step reads, and sends to. */
const LINK_COUNT = 200;
/** Links that a pass asks panels about. */
const ASKED_MAX = 20;
/** The time between two questions about a link, and between two looks for silent links, ms. */
const ASK_AGAIN_MS = 3_600_000;
/** Links and providers that are remembered for that. */
const REMEMBERED_MAX = 10_000;

/** The memory of a process between passes; without it, it asks once more. */
export class PassMemory {
  readonly #atMs = new Map<string, number>();

  /** Returns whether something was noted in the last hour. */
  knows(name: string, nowMs: number): boolean {
    const atMs = this.#atMs.get(name);
    return atMs !== undefined && Math.abs(nowMs - atMs) < ASK_AGAIN_MS;
  }

  note(name: string, nowMs: number): void {
    this.#atMs.delete(name);
    this.#atMs.set(name, nowMs);
    const [oldest] = this.#atMs.keys();
    if (this.#atMs.size > REMEMBERED_MAX && oldest !== undefined) this.#atMs.delete(oldest);
  }
}

interface PassParts {
  core: Core;
  owner: string;
  /** Null: no panel can be asked. */
  reader: FiguresReader | null;
  memory: PassMemory;
  /** Receives the stop of a provider's reminders. */
  onStopped(providerCode: string, moved: number, links: number): void;
  signal: AbortSignal;
  steadyMs(): number;
}

interface Pass extends PassParts {
  reminded: RemindedProvider;
  rules: readonly Rule[];
  /** The messages of those that may be sent now. */
  rounds: readonly NewRound[];
  maySend: boolean;
  nowMs: number;
  /** Panels asked in this pass. */
  askedCount: number;
  /** When it was claimed, by the steady clock; null: it was not. */
  heldMs: number | null;
}

/** Goes over the links of all providers, one after the other. */
export async function makePasses(parts: PassParts, nowMs: number): Promise<void> {
  for (let afterId = 0; ; ) {
    const reminded = await parts.core.store.nextReminded(afterId, nowMs - MOVED_MS);
    if (reminded === null || parts.signal.aborted) return;
    await makePass(parts, reminded, nowMs);
    await nextTurn();
    afterId = reminded.provider.id;
  }
}

/** A pass that finds nothing to do writes nothing. */
async function makePass(
  parts: PassParts,
  reminded: RemindedProvider,
  nowMs: number,
): Promise<void> {
  const { core, owner } = parts;
  const { provider } = reminded;
  const all = await core.store.listReminders(provider.id);
  const keepsFigures = provider.subscriptionFigures === 1;
  const rules = all.filter(({ enabled }) => keepsFigures && enabled === 1);
  const rounds = rules.flatMap((rule) => roundOf(rule, provider, nowMs) ?? []);
  const pass: Pass = {
    ...parts,
    reminded,
    rules,
    rounds,
    maySend: false,
    nowMs,
    askedCount: 0,
    heldMs: null,
  };
  try {
    const isStopped = await stopsAtMass(pass);
    const isQuietNow = isQuiet(provider, USUAL_TIME_ZONE, nowMs);
    pass.maySend = !isStopped && !isQuietNow && mayNotify(provider, nowMs);
    if (keepsFigures) await overLinks(pass);
    if (pass.maySend) await overSilent(pass);
    await endUntrue(pass);
  } finally {
    if (pass.heldMs !== null) await core.store.endPass(provider.id, owner);
  }
}

/** Stops the reminders of a provider whose links moved at once. True: they have stopped. */
async function stopsAtMass({ core, nowMs, onStopped, reminded, rules }: Pass): Promise<boolean> {
  const { linkCount: links, movedCount: moved, provider, stoppedAtMs } = reminded;
  if (stoppedAtMs !== null) return true;
  if (rules.length === 0 || !isMassMove(moved, links)) return false;
  if (await core.store.stopReminders(provider.id, { moved, links }, nowMs)) {
    onStopped(provider.code, moved, links);
  }
  return true;
}

/**
 * Claims the links of the provider before each step that writes, so that one node works on them.
 * Returns false if another one does.
 */
async function holds(pass: Pass): Promise<boolean> {
  const { core, heldMs, nowMs, owner, reminded, signal, steadyMs } = pass;
  if (signal.aborted) return false;
  if (heldMs !== null && steadyMs() - heldMs < RENEWAL_MS) return true;
  const lease = { owner, nowMs, leaseMs: LEASE_MS };
  const isHeld = await core.store.claimPass(reminded.provider.id, lease);
  pass.heldMs = isHeld ? steadyMs() : null;
  return isHeld;
}

/** Returns the reminders whose messages may be sent: those of keys wait for a day. */
const sendableOf = ({ rounds, rules }: Pass) =>
  rules.filter(({ id }) => rounds.some(({ reminderId }) => reminderId === id));

async function overLinks(pass: Pass): Promise<void> {
  const { core, reminded, rules, maySend, nowMs } = pass;
  const providerId = reminded.provider.id;
  for (let afterId = 0; ; ) {
    const links = await core.store.listCourses(providerId, afterId, LINK_COUNT);
    const told = links.filter((link) => courseNews(link, rules, nowMs) !== null);
    if (told.length > 0) {
      if (!(await holds(pass))) return;
      const installIds = told.map(({ installId }) => installId);
      await core.store.tellCourses(providerId, installIds, rules, nowMs);
    }
    const sure = maySend ? links.filter((link) => mayBeSure(pass, link)) : [];
    const wanted = sure.flatMap((link) => wantedOf(link, sendableOf(pass), nowMs));
    await send(pass, wanted, sure);
    const last = links.at(-1);
    if (last === undefined || links.length < LINK_COUNT) return;
    afterId = last.installId;
    await nextTurn();
  }
}

/** Returns whether figures are new enough to send by, or a panel can be asked about them now. */
const mayBeSure = ({ memory, nowMs, reader }: Pass, figures: CourseFigures): boolean =>
  isFresh(figures, nowMs) || (reader !== null && !memory.knows(`link ${figures.installId}`, nowMs));

/**
 * Sends reminders to the devices of some links that are due. `links`: those whose panels are asked
 * first, as their users may have paid since the last read.
 */
async function send(
  pass: Pass,
  wanted: readonly Wanted[],
  links: readonly CourseFigures[] = [],
): Promise<void> {
  const { core, nowMs, reminded } = pass;
  const { id } = reminded.provider;
  const due = wanted.length === 0 ? [] : await core.store.listUnreminded(id, wanted, nowMs);
  if (due.length === 0 || !(await holds(pass))) return;
  const waiting = await ask(pass, due, links);
  const sendable = due.filter(({ installId }) => !waiting.has(installId));
  if (sendable.length === 0) return;
  const how = {
    rounds: pass.rounds,
    waitingMax: core.limits.waitingPerDeviceMax,
    gateways: core.gateways(),
    rides: core.rides(),
  };
  const { deviceIds } = await core.store.remind(id, sendable, nowMs, how);
  await wakeDevices(core, deviceIds);
}

/**
 * Asks panels about links that were not read in the last hour, and keeps what they say; of those
 * that none can be asked about, what was read holds for two days. Returns the links that wait for
 * another pass, because this one has asked enough.
 */
async function ask(
  pass: Pass,
  due: readonly Wanted[],
  links: readonly CourseFigures[],
): Promise<ReadonlySet<number>> {
  const { core, memory, nowMs, reader, signal } = pass;
  const waiting = new Set<number>();
  if (reader === null) return waiting;
  const dueIds = new Set(due.map(({ installId }) => installId));
  for (const { installId, readAtMs } of links) {
    const isRecent = nowMs - readAtMs < ASK_AGAIN_MS || memory.knows(`link ${installId}`, nowMs);
    if (!dueIds.has(installId) || isRecent) continue;
    if (pass.askedCount >= ASKED_MAX || signal.aborted) {
      waiting.add(installId);
      continue;
    }
    pass.askedCount += 1;
    memory.note(`link ${installId}`, nowMs);
    const read = await reader.read(installId, signal);
    if (read !== null) await core.store.keepSubscriptionFigures(installId, read, 'panel', nowMs);
  }
  return waiting;
}

/** Sends the reminders to links that no app has fetched for some days: once an hour. */
async function overSilent(pass: Pass): Promise<void> {
  const { core, memory, nowMs, reminded } = pass;
  const { id } = reminded.provider;
  const silences = sendableOf(pass).filter(({ kind }) => kind === 'inactive');
  if (silences.length === 0 || memory.knows(`silent ${id}`, nowMs)) return;
  for (const rule of silences) {
    const seen = silenceOf(rule, nowMs);
    for (let afterId: number | null = 0; afterId !== null; ) {
      const found: { links: SilentLink[]; nextId: number | null } = await core.store.listSilent(
        id,
        seen,
        nowMs,
        afterId,
        LINK_COUNT,
      );
      const wanted = found.links.map(({ installId, seenAtMs: period }) => {
        return { installId, reminderId: rule.id, period };
      });
      await send(pass, wanted);
      if (pass.signal.aborted) return;
      afterId = found.nextId;
      await nextTurn();
    }
  }
  memory.note(`silent ${id}`, nowMs);
}

/** Ends the reminders that are not true any more, and those that are too old. */
async function endUntrue(pass: Pass): Promise<void> {
  const { core, nowMs, reminded } = pass;
  const { id } = reminded.provider;
  for (let afterId: number | null = 0; afterId !== null; ) {
    const { open, nextId } = await core.store.listOpenReminders(id, afterId, LINK_COUNT);
    const isOff = reminded.provider.subscriptionFigures === 0;
    const over = open.filter((one) => isOff || isOver(one, nowMs));
    if (over.length > 0) {
      if (!(await holds(pass))) return;
      await core.store.endReminders(id, over, nowMs);
    }
    afterId = nextId;
    await nextTurn();
  }
}
