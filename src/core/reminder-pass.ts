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
  ClaimedPass,
  CourseFigures,
  PassLease,
  Rule,
  SilentLink,
  Wanted,
} from './port/reminding.ts';
import { mayNotify } from './provider.ts';
import { isMassMove, isOver, isQuiet, MOVED_MS, silenceOf, wantedOf } from './reminder-rules.ts';
import { courseNews } from './subscription-course.ts';
import { isFresh } from './subscription-figures.ts';
import { nextTurn } from './turn.ts';

/** The time between two passes over a provider's links, ms. */
const PASS_MS = 60_000;
const LEASE_MS = 60_000;
/** Links that a step reads, and sends to. */
const LINK_COUNT = 200;
/** Links whose panel a pass asks. */
const ASKED_MAX = 20;
/** The time between two questions about a link, and between two looks for silent links, ms. */
const ASK_AGAIN_MS = 3_600_000;
/** Links and providers that are remembered for that. */
const REMEMBERED_MAX = 10_000;

/** What a process remembers between passes; without it, it asks once more. */
export class PassMemory {
  readonly #atMs = new Map<string, number>();

  /** Returns whether something is not known to have been done in the last hour, and notes it. */
  begins(name: string, nowMs: number): boolean {
    const atMs = this.#atMs.get(name);
    if (atMs !== undefined && Math.abs(nowMs - atMs) < ASK_AGAIN_MS) return false;
    this.#atMs.delete(name);
    this.#atMs.set(name, nowMs);
    const [oldest] = this.#atMs.keys();
    if (this.#atMs.size > REMEMBERED_MAX && oldest !== undefined) this.#atMs.delete(oldest);
    return true;
  }
}

export interface PassParts {
  core: Core;
  owner: string;
  /** Null: no panel can be asked. */
  reader: FiguresReader | null;
  memory: PassMemory;
  /** Receives the stop of a provider's reminders. */
  onStopped(providerCode: string, moved: number, links: number): void;
  signal: AbortSignal;
}

interface Pass extends PassParts {
  lease: PassLease;
  claimed: ClaimedPass;
  rules: readonly Rule[];
  maySend: boolean;
  nowMs: number;
}

/** Makes the pass that is due longest. Returns false if none is due. */
export async function makePass(parts: PassParts, nowMs: number): Promise<boolean> {
  const { core, owner } = parts;
  const lease = { owner, nowMs, leaseMs: LEASE_MS };
  const claimed = await core.store.claimPass(lease, nowMs - MOVED_MS);
  if (claimed === null) return false;
  const { provider } = claimed;
  try {
    const all = await core.store.listReminders(provider.id);
    const rules = all.filter(({ enabled }) => enabled === 1);
    const isStopped = await stopsAtMass(parts, claimed, rules, nowMs);
    const isQuietNow = isQuiet(provider, USUAL_TIME_ZONE, nowMs);
    const maySend = !isStopped && !isQuietNow && mayNotify(provider, nowMs);
    const pass = { ...parts, lease, claimed, rules, maySend, nowMs };
    await overLinks(pass);
    if (maySend) await overSilent(pass);
    await endUntrue(pass);
  } finally {
    await core.store.endPass(provider.id, owner, nowMs + PASS_MS);
  }
  return true;
}

/** Stops the reminders of a provider whose links moved at once. Returns whether they have stopped. */
async function stopsAtMass(
  { core, onStopped }: PassParts,
  { provider, stoppedAtMs, movedCount: moved, linkCount: links }: ClaimedPass,
  rules: readonly Rule[],
  nowMs: number,
): Promise<boolean> {
  if (stoppedAtMs !== null) return true;
  if (rules.length === 0 || !isMassMove(moved, links)) return false;
  if (await core.store.stopReminders(provider.id, { moved, links }, nowMs)) {
    onStopped(provider.code, moved, links);
  }
  return true;
}

/** Returns whether the pass goes on: it is not stopped, and no other node has taken it over. */
async function goesOn({ core, claimed, lease, signal }: Pass): Promise<boolean> {
  await nextTurn();
  return !signal.aborted && (await core.store.renewPass(claimed.provider.id, lease));
}

async function overLinks(pass: Pass): Promise<void> {
  const { core, claimed, rules, maySend, nowMs } = pass;
  const providerId = claimed.provider.id;
  let askedCount = 0;
  for (let afterId = 0; ; ) {
    const links = await core.store.listCourses(providerId, afterId, LINK_COUNT);
    const told = links.filter((link) => courseNews(link, rules, nowMs) !== null);
    if (told.length > 0) {
      const installIds = told.map(({ installId }) => installId);
      await core.store.tellCourses(providerId, installIds, rules, nowMs);
    }
    if (maySend) {
      const [fresh, stale] = [true, false].map((is) =>
        links.filter((link) => isFresh(link, nowMs) === is),
      ) as [CourseFigures[], CourseFigures[]];
      await send(pass, wantedIn(fresh, pass));
      askedCount += await ask(pass, wantedIn(stale, pass), ASKED_MAX - askedCount);
    }
    const last = links.at(-1);
    if (last === undefined || links.length < LINK_COUNT || !(await goesOn(pass))) return;
    afterId = last.installId;
  }
}

const wantedIn = (links: readonly CourseFigures[], { rules, nowMs }: Pass) =>
  links.flatMap((link) => wantedOf(link, rules, nowMs));

/** Sends reminders to the devices of some links that are due. */
async function send({ core, claimed, nowMs }: Pass, wanted: readonly Wanted[]): Promise<void> {
  const { id } = claimed.provider;
  const due = await core.store.listUnreminded(id, wanted, nowMs);
  if (due.length === 0) return;
  const bounds = {
    waitingMax: core.limits.waitingPerDeviceMax,
    gateways: core.gateways(),
    rides: core.rides(),
  };
  const { deviceIds } = await core.store.remind(id, due, nowMs, bounds);
  await wakeDevices(core, deviceIds);
}

/**
 * Asks panels about links that were read long ago; the next pass reads what they say. Returns the
 * number of questions.
 */
async function ask(pass: Pass, wanted: readonly Wanted[], countMax: number): Promise<number> {
  const { claimed, core, memory, nowMs, reader, signal } = pass;
  if (reader === null || countMax <= 0) return 0;
  const due = await core.store.listUnreminded(claimed.provider.id, wanted, nowMs);
  let count = 0;
  for (const installId of new Set(due.map((one) => one.installId))) {
    if (count >= countMax || signal.aborted) break;
    if (!memory.begins(`link ${installId}`, nowMs)) continue;
    count += 1;
    const read = await reader.read(installId, signal);
    if (read !== null) await core.store.keepSubscriptionFigures(installId, read, 'panel', nowMs);
  }
  return count;
}

/** Sends the reminders to links that no app has fetched for some days: once an hour. */
async function overSilent(pass: Pass): Promise<void> {
  const { claimed, core, memory, nowMs, rules } = pass;
  const { id } = claimed.provider;
  const silences = rules.filter(({ kind }) => kind === 'inactive');
  if (silences.length === 0 || !memory.begins(`silent ${id}`, nowMs)) return;
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
      if (!(await goesOn(pass))) return;
      afterId = found.nextId;
    }
  }
}

/** Ends the reminders that are not true any more, and those that are too old. */
async function endUntrue(pass: Pass): Promise<void> {
  const { claimed, core, nowMs } = pass;
  const { id } = claimed.provider;
  for (let afterId: number | null = 0; afterId !== null; ) {
    const { open, nextId } = await core.store.listOpenReminders(id, afterId, LINK_COUNT);
    const over = open.filter((one) => isOver(one, nowMs));
    if (over.length > 0) await core.store.endReminders(id, over, nowMs);
    if (nextId !== null && !(await goesOn(pass))) return;
    afterId = nextId;
  }
}
