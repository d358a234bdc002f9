/** Bridge to noun/known-device.ts for nouns that are not written once yet. */

import type { DeviceAtProvider, DeviceFacts } from '../../core/port/device.ts';
import { isFirstOfDay, knownDeviceSteps } from '../noun/known-device.ts';
import type { Context } from './context.ts';
import { runNow, sqliteStatements } from './dialect.ts';

type Merge = (known: DeviceAtProvider, reported: DeviceFacts) => DeviceFacts;

export function countSeen(
  { notes }: Context,
  providerId: number,
  seenBeforeMs: number | null,
  nowMs: number,
): void {
  if (isFirstOfDay(seenBeforeMs, nowMs)) notes.figure(providerId, 'seen', nowMs);
}

export function deviceKeeper({ db, notes }: Context) {
  const steps = knownDeviceSteps(sqliteStatements(db));
  return {
    see: (hwid: string, nowMs: number) => runNow(steps.see(hwid, nowMs)),
    seeElsewhere: (hwid: string, firstSeenAtMs: number, lastSeenAtMs: number) =>
      runNow(steps.seeElsewhere(hwid, firstSeenAtMs, lastSeenAtMs)),
    visit: (hwid: string, providerId: number, reported: DeviceFacts, nowMs: number) =>
      runNow(steps.visit(notes, hwid, providerId, reported, nowMs)),
    keepOwnFacts: (id: number, reported: DeviceFacts) => runNow(steps.keepOwnFacts(id, reported)),
    seeAt: (id: number, at: number, reported: DeviceFacts, nowMs: number, merge: Merge) =>
      runNow(steps.seeAt(notes, id, at, reported, nowMs, merge)),
    keepFacts: (id: number, at: number, reported: DeviceFacts, seenAtMs: number, merge: Merge) =>
      runNow(steps.keepFacts(id, at, reported, seenAtMs, merge)),
    checkIn: (id: number, at: number, nowMs: number) => runNow(steps.checkIn(id, at, nowMs)),
    tie: (id: number, at: number, domainId: number, nowMs: number) =>
      runNow(steps.tie(id, at, domainId, nowMs)),
    isTied: (id: number, domainId: number) => runNow(steps.isTied(id, domainId)),
  };
}
