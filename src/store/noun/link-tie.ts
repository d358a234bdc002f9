/** Ties of keys to links with a code, by fetches and by the provider. */

import * as deeds from '../../core/audit/deeds.ts';
import { judgeTie } from '../../core/link-tie.ts';
import type { LinkTieStore, MadeTie, TieRefusal } from '../../core/port/link-tie.ts';
import type { Backend, Step } from '../backend.ts';
import { linkMergeSteps } from './link-merge.ts';
import { restoreSteps } from './link-restore.ts';
import { roomOn, tieStatements } from './link-tie-rows.ts';
import { tiePairSteps, tieSteps } from './link-tie-steps.ts';

/** Ties that one step deletes. */
const FORGET_STEP = 500;

export const linkTieNoun = (backend: Backend): LinkTieStore => ({
  ...byFetches(backend),
  ...byProvider(backend),
  ...keptTies(backend),
});

function byFetches(backend: Backend): Pick<LinkTieStore, 'findTieFacts' | 'tieByFetch'> {
  const links = linkMergeSteps(backend);
  const { factsOf, findPair, lockPair } = tiePairSteps(backend);
  const { tie, wait } = tieSteps(backend);

  return {
    findTieFacts: (fetch, nowMs) =>
      backend.read(function* () {
        const { installCode, keyHash, providerId } = fetch;
        const link = yield* links.findByCode(providerId, installCode);
        if (link === null || link.subscriptionKeyHash !== null) return null;
        const pair = yield* findPair(providerId, keyHash, () =>
          links.findByCode(providerId, installCode),
        );
        return pair && (yield* factsOf(fetch, pair, nowMs));
      }),

    tieByFetch: (fetch, act) =>
      backend.write(function* (notes) {
        const { installCode, keyHash, providerId } = fetch;
        yield* backend.lockProvider(providerId);
        const pair = yield* lockPair(providerId, keyHash, () =>
          links.findByCode(providerId, installCode),
        );
        if (pair === null) return false;
        const facts = yield* factsOf(fetch, pair, act.atMs);
        const judged = judgeTie(facts, act.atMs);
        if (judged === 'wait') yield* wait(notes, fetch, pair, facts.tie, act.atMs);
        if (judged === 'tie') yield* tie(notes, { ...pair, keyHash, providerId }, act);
        return judged === 'tie';
      }),
  };
}

function byProvider(backend: Backend): Pick<LinkTieStore, 'agreeTie' | 'giveKey' | 'undoTie'> {
  const on = tieStatements(backend);
  const links = linkMergeSteps(backend);
  const restore = restoreSteps(backend);
  const { lockPair } = tiePairSteps(backend);
  const { refusal, tie } = tieSteps(backend);

  return {
    agreeTie: (providerId, id, act) =>
      backend.write(function* (notes): Step<MadeTie | TieRefusal> {
        yield* backend.lockProvider(providerId);
        const row = yield* on.findById.get({ providerId, id });
        if (row === null || row.state === 'tied') return 'tie_not_found';
        const { installId, keyHash } = row;
        const pair = yield* lockPair(providerId, keyHash, () =>
          links.findById(providerId, installId),
        );
        if (pair === null) return 'tie_not_found';
        const tying = { ...pair, keyHash, providerId };
        return (yield* refusal(tying, act.atMs)) ?? (yield* tie(notes, tying, act));
      }),

    giveKey: (providerId, { installCode, installId }, keyHash, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const pair = yield* lockPair(providerId, keyHash, () =>
          installCode === null
            ? links.findById(providerId, installId ?? 0)
            : links.findByCode(providerId, installCode),
        );
        if (pair === null) return 'install_not_found';
        const { former, link } = pair;
        if (link.subscriptionKeyHash === keyHash) return { done: 'same' };
        const tying = { ...pair, keyHash, providerId };
        const refused = yield* refusal(tying, act.atMs);
        if (refused !== null) return refused;
        if (former !== null) return yield* tie(notes, tying, act);
        yield* links.giveKey(notes, { providerId, link, keyHash }, act);
        return { done: 'given' };
      }),

    undoTie: (providerId, id, act) =>
      backend.write(function* (notes): Step<{ done: 'undone' } | TieRefusal> {
        yield* backend.lockProvider(providerId);
        const row = yield* on.findById.get({ providerId, id });
        if (row === null || row.state === 'undone') return 'tie_not_found';
        const { former, installId, keyHash } = row;
        if (row.state === 'tied') {
          const of = { providerId, keyHash, installId };
          const undone = yield* restore.undo(
            notes,
            of,
            former === null ? null : restore.read(former),
            act,
          );
          if (undone !== null) return undone;
        }
        const at = { providerId, keyHash, installId, atMs: act.atMs, former: null };
        yield* on.save.run({ ...at, state: 'undone' });
        return { done: 'undone' };
      }),
  };
}

function keptTies(
  backend: Backend,
): Pick<LinkTieStore, 'listTies' | 'findTiesSwitch' | 'switchTies' | 'forgetTies'> {
  const on = tieStatements(backend);
  const restore = restoreSteps(backend);

  return {
    listTies: (providerId, state, { afterId, countMax, sinceMs = 0 }) =>
      backend.read(function* () {
        const rows = yield* on.list.all({ providerId, state, afterId, countMax, sinceMs });
        return rows.map(({ deviceCount, installLimit, former, outsideCount, ...row }) => {
          if (row.state === 'tied') {
            const was = former === null ? null : restore.read(former);
            return {
              ...row,
              formerId: was?.link.id ?? null,
              movingCount: was?.movedIds.length ?? 0,
              leftCount: was?.leftIds.length ?? 0,
            };
          }
          const leftCount = Math.max(0, outsideCount - roomOn({ deviceCount, installLimit }));
          return { ...row, movingCount: outsideCount - leftCount, leftCount };
        });
      }),

    findTiesSwitch: (providerId) =>
      backend.read(function* () {
        const found = yield* on.provider.get({ providerId });
        return found && found.ties === 1;
      }),

    switchTies: (providerId, isOn, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const found = yield* on.provider.get({ providerId });
        const ties = isOn ? 1 : 0;
        if (found === null || found.ties === ties) return;
        yield* on.switch.run({ providerId, ties });
        notes.audit(act, deeds.switchTies(isOn), providerId);
      }),

    forgetTies: (beforeMs) =>
      backend.write(function* () {
        const before = { beforeMs, countMax: FORGET_STEP };
        yield* on.lockOwners.run(before);
        return (yield* on.forget.run(before)) > 0;
      }),
  };
}
