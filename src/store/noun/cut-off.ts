/** Cut-offs: asked, claimed, ended; bars, proofs of keys, and devices that must fetch again. */

import * as deeds from '../../core/audit/cut-deeds.ts';
import { HOUR_MS } from '../../core/calendar.ts';
import { CUT_WAITS_MS, FETCH_WAIT_MS } from '../../core/cut-off.ts';
import type { CutEnd, CutFacts, CutOffStore } from '../../core/port/cut-off.ts';
import type { PanelFacts } from '../../core/port/moving.ts';
import type { Backend } from '../backend.ts';
import { cutStatements } from './cut-off-rows.ts';
import { cutEndSteps, cutSteps } from './cut-off-steps.ts';

export const cutOffNoun = (backend: Backend): CutOffStore => ({
  ...asking(backend),
  ...attempts(backend),
  ...barring(backend),
  ...keeping(backend),
});

type Asking = 'findCutFacts' | 'askCut' | 'listCuts' | 'countWaitingCuts' | 'cancelCut';

function asking(backend: Backend): Pick<CutOffStore, Asking> {
  const on = cutStatements(backend);
  const { ask } = cutSteps(backend);
  const { end: endCut } = cutEndSteps(backend);

  return {
    findCutFacts: (providerId, { installCode, installId }) =>
      backend.read(function* (): Iterable<unknown, CutFacts | null, never> {
        const named =
          installCode === null ? null : yield* on.idByCode.get({ installCode, providerId });
        const id = installCode === null ? installId : (named?.id ?? null);
        if (id === null || (installId !== null && id !== installId)) return null;
        const link = yield* on.link.get({ providerId, installId: id });
        if (link === null) return null;
        const { keyHash, panelFacts, providerCode, ...more } = link;
        const proved = keyHash === null ? [] : yield* on.provedBy.all({ installId: id, keyHash });
        const followed = keyHash === null ? [] : yield* on.followedBy.all({ keyHash });
        return {
          ...more,
          keyHash,
          providerCode,
          facts: panelFacts === null ? null : (JSON.parse(panelFacts) as PanelFacts),
          provedBy: proved.map(({ host }) => host),
          // The upstream was another provider's.
          followedBy: followed
            .filter(({ source }) => source.startsWith(`${providerCode}/`))
            .map(({ host }) => host),
        };
      }),

    askCut: (providerId, wanted, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        return yield* ask(notes, providerId, wanted, act);
      }),

    listCuts: ({ beforeId, countMax, installId, isWaiting, providerId }) => {
      const bounds = {
        beforeId: beforeId ?? Number.MAX_SAFE_INTEGER,
        countMax,
        isWaiting: isWaiting ? 1 : 0,
      };
      if (providerId === null) return backend.read(() => on.listAll.all(bounds));
      return installId === null
        ? backend.read(() => on.listOfProvider.all({ ...bounds, providerId }))
        : backend.read(() => on.listOfLink.all({ ...bounds, providerId, installId }));
    },

    countWaitingCuts: () => backend.read(() => on.waitingByHost.all()),

    cancelCut: (providerId, id, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const cut = yield* on.find.get({ id });
        if (cut?.providerId !== providerId || cut.state !== 'waiting') return 'cut_not_found';
        if ((yield* on.isLeased.get({ id, nowMs: act.atMs })) !== null) return 'cut_running';
        const end = { state: 'cancelled', why: null, fetchUntilMs: null } as const;
        yield* endCut(notes, cut, end, act);
        return 'ok';
      }),
  };
}

type Attempts = 'claimCut' | 'endCutAttempt' | 'endOldCuts';

/** Returns how a cut-off ends; null: it waits. */
function endingOf(end: CutEnd) {
  switch (end.state) {
    case 'waiting':
      return null;
    case 'done':
    case 'changed':
      return { ...end, why: null };
    case 'differs':
      return { ...end, why: `another field changed too: ${end.fields.join(', ')}` };
    case 'impossible':
    case 'ended':
      return { ...end, fetchUntilMs: null };
  }
}

function attempts(backend: Backend): Pick<CutOffStore, Attempts> {
  const on = cutStatements(backend);
  const steps = cutEndSteps(backend);

  return {
    claimCut: async (host, claim) => {
      const { nowMs } = claim;
      const values = {
        ...claim,
        host,
        hourAgoMs: nowMs - HOUR_MS,
        askedAfterMs: nowMs - CUT_WAITS_MS,
      };
      // A read first: at most looks none is due.
      const due = await backend.read(() => on.due.get(values));
      if (due === null) return null;
      return backend.write(function* () {
        // Two nodes count the hour of one provider one after the other.
        yield* backend.lockProvider(due.providerId);
        if ((yield* on.claim.run({ ...values, id: due.id })) === 0) return null;
        return yield* on.find.get({ id: due.id });
      });
    },

    endCutAttempt: async (hold, end, act) => {
      const found = await backend.read(() => on.lockHeld.get({ ...hold }));
      if (found === null) return false;
      return backend.write(function* (notes) {
        yield* backend.lockProvider(found.providerId);
        const cut = yield* on.lockHeld.get({ ...hold });
        if (cut === null) return false;
        const ending = endingOf(end);
        if (ending === null) {
          const { nextAtMs, seen, why } = end as Extract<CutEnd, { state: 'waiting' }>;
          yield* on.retry.run({ id: cut.id, nextAtMs, seen, why });
          return true;
        }
        yield* steps.end(notes, cut, ending, act);
        if (end.state === 'differs') {
          const fields = end.fields.join(',');
          yield* on.addStop.run({ host: cut.host, fields, nowMs: act.atMs });
        }
        return true;
      });
    },

    endOldCuts: async (askedBeforeMs, nowMs, act) => {
      const found = await backend.read(() => on.old.get({ askedBeforeMs, nowMs }));
      if (found === null) return false;
      return backend.write(function* (notes) {
        yield* backend.lockProvider(found.providerId);
        const cut = yield* on.old.get({ askedBeforeMs, nowMs });
        // Another node may have ended it, and then it is the next one's turn.
        if (cut?.id !== found.id) return cut !== null;
        const why = cut.why ?? 'it had no turn within a day';
        yield* steps.end(notes, cut, { state: 'ended', why, fetchUntilMs: null }, act);
        return true;
      });
    },
  };
}

type Barring = 'noteFetched' | 'noteKeyProof' | 'listBars' | 'liftBars';

function barring(backend: Backend): Pick<CutOffStore, Barring> {
  const on = cutStatements(backend);

  return {
    noteFetched: (installId, hwid, beganAtMs) =>
      backend.write(function* () {
        yield* backend.lockRows({ install: [installId] });
        yield* on.fetched.run({ installId, hwid, untilMs: beganAtMs + FETCH_WAIT_MS });
        yield* on.markAwaits.run({ installId });
      }),

    noteKeyProof: async (providerId, keyHash, prover, nowMs) => {
      const link = await backend.read(() => on.proof.get({ providerId, keyHash, prover }));
      if (link === null || link.host !== null) return;
      await backend.write(function* () {
        yield* backend.lockRows({ install: [link.installId] });
        const now = yield* on.proof.get({ providerId, keyHash, prover });
        if (now === null || now.installId !== link.installId || now.host !== null) return;
        const { installId } = now;
        const [host = ''] = prover.split(' ', 1);
        const start = `${host} `;
        yield* on.dropProofs.run({ installId, prover, start, length: start.length });
        yield* on.addProof.run({ installId, prover, keyHash, nowMs });
      });
    },

    listBars: (installId, nowMs) => backend.read(() => on.bars.all({ installId, nowMs })),

    liftBars: (providerId, installId, hashes, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        yield* backend.lockRows({ install: [installId] });
        if ((yield* on.link.get({ providerId, installId })) === null) return 'install_not_found';
        let count = 0;
        for (const hwidHash of hashes) {
          if ((yield* on.dropBar.run({ installId, hwidHash })) === 0) continue;
          count += 1;
          notes.audit(act, deeds.liftBar(installId, hwidHash), providerId);
        }
        if (count > 0) yield* on.markBars.run({ installId });
        return count;
      }),
  };
}

type Keeping = 'listCutStops' | 'resumeCuts' | 'forgetCuts';

function keeping(backend: Backend): Pick<CutOffStore, Keeping> {
  const on = cutStatements(backend);

  return {
    listCutStops: () => backend.read(() => on.stops.all()),

    resumeCuts: (host, act) =>
      backend.write(function* (notes) {
        if ((yield* on.dropStop.run({ host })) === 0) return false;
        notes.audit(act, deeds.resumeCuts(host));
        return true;
      }),

    forgetCuts: async (endedBeforeMs, nowMs) => {
      const [bars, waits] = await Promise.all([
        backend.read(() => on.oldBars.all({ nowMs })),
        backend.read(() => on.oldWaits.all({ nowMs })),
      ]);
      const installIds = [...bars, ...waits].map(({ installId }) => installId);
      const isOver = await backend.write(function* () {
        yield* backend.lockRows({ install: [...new Set(installIds)] });
        // Another node may have barred the HWID again.
        for (const one of bars) yield* on.dropOldBar.run({ ...one, nowMs });
        for (const { installId } of waits) yield* on.dropWaits.run({ installId, nowMs });
        for (const installId of new Set(installIds)) {
          yield* on.markBars.run({ installId });
          yield* on.markAwaits.run({ installId });
        }
        return (yield* on.forget.run({ endedBeforeMs })) === 0;
      });
      return installIds.length > 0 || !isOver;
    },
  };
}
