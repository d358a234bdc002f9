/** Ties of keys to links with a code, as steps of writes that have locked their provider. */

import * as deeds from '../../core/audit/deeds.ts';
import { HOUR_MS } from '../../core/calendar.ts';
import * as happenings from '../../core/event/happenings.ts';
import { TIES_PER_HOUR_MAX, WAITING_MAX, WAITING_OF_KEY_MAX } from '../../core/link-tie.ts';
import type { Act } from '../../core/port/audit.ts';
import type { MadeTie, TieFacts, TieFetch } from '../../core/port/link-tie.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { linkMergeSteps, type MergingLink } from './link-merge.ts';
import { restoreSteps } from './link-restore.ts';
import { roomOn, tieStatements } from './link-tie-rows.ts';
import { shared } from './shared.ts';
import { tombstoneSteps } from './tombstone.ts';

/** A link and the other link that has the key; null: none has. */
interface Pair {
  link: MergingLink;
  former: MergingLink | null;
}

interface Tying extends Pair {
  providerId: number;
  keyHash: string;
}

const NONE = { ofAll: 0, ofKey: 0 };

type Find = () => Step<MergingLink | null>;

/** Steps that find the two links of a tie, and the facts about a fetch. */
export const tiePairSteps = shared((backend: Backend) => {
  const on = tieStatements(backend);
  const links = linkMergeSteps(backend);
  const tombstones = tombstoneSteps(backend);

  /** Finds both links; `former` null: no other link has the key. */
  function* findPair(providerId: number, keyHash: string, find: Find): Step<Pair | null> {
    const link = yield* find();
    if (link === null) return null;
    const former = yield* links.findByKey(providerId, keyHash);
    return { link, former: former?.id === link.id ? null : former };
  }

  /** Does the same in a write, with the rows locked that a tie changes. */
  function* lockPair(providerId: number, keyHash: string, find: Find): Step<Pair | null> {
    const found = yield* findPair(providerId, keyHash, find);
    if (found === null) return null;
    const { former, link } = found;
    if (former !== null) yield* links.lockBoth(former.id, link.id);
    else yield* backend.lockRows({ install: [link.id] });
    return yield* findPair(providerId, keyHash, find);
  }

  function* hourCount(providerId: number, nowMs: number): Step<number> {
    const afterMs = nowMs - HOUR_MS;
    const countMax = TIES_PER_HOUR_MAX;
    return (yield* on.countTied.get({ providerId, afterMs, countMax }))?.n ?? 0;
  }

  function* factsOf(
    { hwid, keyHash, providerId }: TieFetch,
    { link, former }: Pair,
    nowMs: number,
  ): Step<TieFacts> {
    const provider = yield* on.provider.get({ providerId });
    const tie = yield* on.find.get({ providerId, keyHash, installId: link.id });
    const ended = yield* tombstones.find(providerId, { subscriptionKeyHash: keyHash });
    const devices = former && (yield* on.devices.get({ fromId: former.id, toId: link.id, hwid }));
    return {
      isOn: provider?.ties === 1,
      tie,
      link: { ...link, hasKey: link.subscriptionKeyHash !== null },
      former: former && {
        isOfGate: former.ofGate === 1,
        deviceCount: former.deviceCount,
        outsideCount: devices?.outsideCount ?? 0,
        hasCaller: devices?.hasCaller === 1,
      },
      isEnded: ended !== null,
      hourCount: yield* hourCount(providerId, nowMs),
    };
  }

  return { findPair, lockPair, hourCount, factsOf };
});

/** Steps that make ties. */
export const tieSteps = shared((backend: Backend) => {
  const on = tieStatements(backend);
  const links = linkMergeSteps(backend);
  const tombstones = tombstoneSteps(backend);
  const restore = restoreSteps(backend);
  const { hourCount } = tiePairSteps(backend);

  /** Ties the key to the link, which has none, and ends the link that has it; keeps what was. */
  function* tie(
    notes: Notes,
    { former, keyHash, link, providerId }: Tying,
    act: Act,
  ): Step<MadeTie> {
    const { atMs } = act;
    const kept = former && (yield* restore.record(former, link));
    const moved =
      former &&
      (yield* links.merge(notes, { from: former, to: link, room: roomOn(link), providerId }, act));
    yield* links.giveKey(notes, { providerId, link, keyHash }, act);
    const text = kept && JSON.stringify({ ...kept, ...moved });
    const row = { providerId, keyHash, installId: link.id, atMs, former: text };
    yield* on.save.run({ ...row, state: 'tied' });
    const made = {
      movedCount: moved?.movedIds.length ?? 0,
      leftCount: moved?.leftIds.length ?? 0,
    };
    const facts = { id: link.id, formerId: former?.id ?? null, ...made };
    notes.audit(act, deeds.tieLink(facts), providerId);
    notes.event(providerId, atMs, () => happenings.linkTied(facts, 'tied'));
    return { done: 'tied', ...made };
  }

  /** Notes that a tie waits for its provider, with an event the first time. */
  function* wait(
    notes: Notes,
    { keyHash, providerId }: TieFetch,
    { former, link }: Pair,
    known: TieFacts['tie'],
    atMs: number,
  ): Step<void> {
    const row = { providerId, keyHash, installId: link.id, atMs, former: null };
    // A link that was tied and has no key lost it since.
    if (known !== null && known.state !== 'tied') {
      yield* on.save.run({ ...row, state: known.state });
      return;
    }
    const { ofAll, ofKey } = (yield* on.countWaiting.get({ providerId, keyHash })) ?? NONE;
    if (ofAll >= WAITING_MAX || ofKey >= WAITING_OF_KEY_MAX) return;
    yield* on.save.run({ ...row, state: 'waits' });
    const outside =
      former && (yield* on.devices.get({ fromId: former.id, toId: link.id, hwid: '' }));
    const leaving = outside?.outsideCount ?? 0;
    const leftCount = Math.max(0, leaving - roomOn(link));
    const facts = { id: link.id, formerId: former?.id ?? null };
    const counts = { movedCount: leaving - leftCount, leftCount };
    notes.event(providerId, atMs, () => happenings.linkTied({ ...facts, ...counts }, 'waits'));
  }

  /** Returns why the provider cannot tie the key to the link; null: it can. */
  function* refusal({ former, keyHash, link, providerId }: Tying, nowMs: number) {
    if (link.subscriptionKeyHash !== null) return 'link_has_key';
    if (former !== null && former.ofGate !== 1) return 'subscription_key_exists';
    const ended = yield* tombstones.find(providerId, { subscriptionKeyHash: keyHash });
    if (ended !== null) return 'subscription_key_exists';
    // A key that no link has ends nothing.
    if (former === null) return null;
    const isUsedUp = (yield* hourCount(providerId, nowMs)) >= TIES_PER_HOUR_MAX;
    return isUsedUp ? 'ties_limit_reached' : null;
  }

  return { tie, wait, refusal };
});
