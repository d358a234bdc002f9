/** Cut-offs as steps of writes that have locked their provider. */

import * as deeds from '../../core/audit/cut-deeds.ts';
import { BAR_MS, barHashesOf, barHashOf } from '../../core/bar.ts';
import { derivedHwids } from '../../core/copied-hwid.ts';
import { CUTS_WAITING_MAX, FETCH_WAIT_MS, USER_CUT_MS } from '../../core/cut-off.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Bar } from '../../core/port/bar.ts';
import type { AskedCut, Cut, CutState } from '../../core/port/cut-off.ts';
import type { WantedCut } from '../../core/port/wanted-cut.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { cutStatements } from './cut-off-rows.ts';
import { linkChangeSteps } from './link.ts';
import { shared } from './shared.ts';

/** The end of a cut-off. */
interface End {
  state: Exclude<CutState, 'waiting'>;
  why: string | null;
  /** The time until which apps fetch by themselves; null: the credentials are the old ones. */
  fetchUntilMs: number | null;
}

/** The reason of one beyond the bound; those of users have one of their own. */
const TOO_MANY = `${CUTS_WAITING_MAX} cut-offs of the provider wait already`;

export const cutSteps = shared((backend: Backend) => {
  const on = cutStatements(backend);
  const links = linkChangeSteps(backend);

  /** Frees the slots of all spellings of a HWID. Returns their number. */
  function* free(
    notes: Notes,
    link: { providerId: number; installId: number },
    hwid: string,
    act: Act,
  ): Step<number> {
    const { installId, providerId } = link;
    const hash = barHashOf(hwid);
    const held = (yield* on.hwids.all({ installId })).map((row) => row.hwid);
    const freed = held.filter((one) => one === hwid || barHashOf(one) === hash);
    const selector = { installCode: null, installId };
    for (const one of freed) yield* links.free(notes, { providerId, selector, hwid: one }, act);
    return freed.length;
  }

  /** Bars a HWID. Returns whether it was barred before. */
  function* bar(installId: number, hwid: string, nowMs: number): Step<boolean> {
    const hwidHash = barHashOf(hwid);
    const before = yield* on.barOf.get({ installId, hwidHash });
    yield* on.addBar.run({ installId, hwidHash, nowMs, untilMs: nowMs + BAR_MS });
    yield* on.barPhone.run({ installId, hwidHash, hwid });
    if (before === null) yield* on.trimBars.run({ installId });
    yield* on.markBars.run({ installId });
    return before !== null && before.untilMs > backend.leastMs(nowMs);
  }

  /** Returns the reason for which no panel is asked; null: one is. */
  function* whyNot(
    providerId: number,
    { host, isByUser, keyHash, why }: WantedCut,
    keyHashNow: string | null,
  ): Step<string | null> {
    if (host === null) return why;
    if (keyHash !== keyHashNow) return 'the link has got another subscription key meanwhile';
    const { count } = (yield* on.waitingCount.get({ providerId, isByUser: isByUser ? 1 : 0 })) ?? {
      count: 0,
    };
    return count >= CUTS_WAITING_MAX ? TOO_MANY : null;
  }

  return {
    /** See `askCut` of the port; the provider is locked. */
    *ask(
      notes: Notes,
      providerId: number,
      wanted: WantedCut,
      act: Act,
    ): Step<AskedCut | 'install_code_error' | 'cut_too_soon'> {
      const { hwid, installId, isByUser } = wanted;
      const nowMs = act.atMs;
      yield* backend.lockRows({ install: [installId] });
      if ((yield* on.link.get({ providerId, installId })) === null) return 'install_code_error';
      if (isByUser) {
        const last = yield* on.lastByUser.get({ installId });
        const isSoon = last !== null && backend.leastMs(nowMs) < last.askedAtMs + USER_CUT_MS;
        if (isSoon) return 'cut_too_soon';
      }
      const freedCount =
        hwid === null ? 0 : yield* free(notes, { providerId, installId }, hwid, act);
      const hwidHash = hwid === null ? null : barHashOf(hwid);
      const wasBarred = hwid !== null && (yield* bar(installId, hwid, nowMs));
      const link = yield* on.link.get({ providerId, installId });
      if (link === null) return 'install_code_error';
      const { deviceCount, keyHash } = link;
      const waiting = yield* on.waiting.get({ installId });
      const last = waiting ?? (wasBarred ? yield* on.last.get({ installId }) : null);
      // One of another key changed, or will not change, the credentials that the link has now.
      const isOfKey = last?.keyHash === keyHash;
      if (last !== null && isOfKey && (last.state === 'waiting' || last.state === 'done')) {
        if (freedCount > 0 || !wasBarred) {
          notes.audit(act, deeds.askCut(last, hwidHash), providerId);
        }
        return { deviceCount, freedCount, cut: last };
      }
      const why = yield* whyNot(providerId, wanted, keyHash);
      const state = why === null ? 'waiting' : 'impossible';
      const id = yield* on.add.insert({
        providerId,
        installId,
        host: wanted.host ?? '',
        keyHash,
        hwidHash,
        state,
        why,
        isByUser: isByUser ? 1 : 0,
        nowMs,
        endedAtMs: why === null ? null : nowMs,
        deviceCount,
      });
      yield* on.trim.run({ installId });
      yield* on.markAwaits.run({ installId });
      const cut = yield* foundCut(backend, id);
      notes.audit(act, deeds.askCut(cut, hwidHash), providerId);
      if (why !== null) notes.event(providerId, nowMs, () => happenings.linkCutOff(cut));
      return { deviceCount, freedCount, cut };
    },
  };
});

/** Returns a cut-off that the write has changed. */
function* foundCut(backend: Backend, id: number): Step<Cut> {
  const cut = yield* cutStatements(backend).find.get({ id });
  if (cut === null) throw new Error(`cut-off ${id} is gone`);
  return cut;
}

/** Steps that end a cut-off. */
export const cutEndSteps = shared((backend: Backend) => {
  const on = cutStatements(backend);

  return {
    /** Ends a cut-off that waits. If its credentials are new, its devices must fetch again. */
    *end(
      notes: Notes,
      { id, installId, providerId }: Pick<Cut, 'id' | 'installId' | 'providerId'>,
      { state, why, fetchUntilMs }: End,
      act: Act,
    ): Step<void> {
      const nowMs = act.atMs;
      const link = yield* on.lock.get({ installId });
      const deviceCount = link?.deviceCount ?? 0;
      if (fetchUntilMs !== null) {
        yield* on.addWaits.run({ installId, waitUntilMs: nowMs + FETCH_WAIT_MS });
      }
      yield* on.end.run({ id, state, why, nowMs, fetchUntilMs, deviceCount });
      yield* on.markAwaits.run({ installId });
      const cut = yield* foundCut(backend, id);
      notes.audit(
        act,
        state === 'cancelled' ? deeds.cancelCut(cut) : deeds.endCut(cut),
        providerId,
      );
      notes.event(providerId, nowMs, () => happenings.linkCutOff(cut));
    },
  };
});

/** Steps about the bars of links that are imported, end, or whose device is forgotten. */
export const barSteps = shared((backend: Backend) => {
  const on = cutStatements(backend);

  return {
    /** Adds imported bars to a link. */
    *keepBars(installId: number, bars: readonly Bar[] = []): Step<void> {
      for (const { hwidHash, madeAtMs, untilMs } of bars) {
        yield* on.addBar.run({ installId, hwidHash, nowMs: madeAtMs, untilMs });
      }
      if (bars.length === 0) return;
      yield* on.trimBars.run({ installId });
      yield* on.markBars.run({ installId });
    },

    /**
     * Forgets a HWID and its further phones: some of their bars, and the hash at cut-offs. Returns
     * their number.
     */
    *dropBars(hwid: string): Step<number> {
      let count = 0;
      const ofPhones = derivedHwids(hwid, 2).map(barHashOf);
      for (const hwidHash of new Set([...barHashesOf(hwid), ...ofPhones])) {
        const barred = yield* on.barsOfHwid.all({ hwidHash });
        yield* backend.lockRows({ install: barred.map(({ installId }) => installId) });
        for (const { installId } of barred) {
          count += yield* on.dropBar.run({ installId, hwidHash });
          yield* on.markBars.run({ installId });
        }
        count += yield* on.forgetHwid.run({ hwidHash });
      }
      return count;
    },

    /** Gives a link the bars of one that ends. */
    *moveBars(fromId: number, toId: number): Step<void> {
      if ((yield* on.moveBars.run({ fromId, toId })) > 0) {
        yield* on.trimBars.run({ installId: toId });
        yield* on.markBars.run({ installId: toId });
      }
    },
  };
});
