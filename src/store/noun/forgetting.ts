/** Deletion of a device with all its rows, in small steps. */

import * as deeds from '../../core/audit/deeds.ts';
import type { Store } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Backend, Notes, Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { barSteps } from './cut-off-steps.ts';
import { namedRows } from './named-hwid-rows.ts';
import { namedSteps } from './named-hwid-steps.ts';
import { historyStatements, slotEndSteps } from './slot-end.ts';

/** Rows of a device that one step deletes. */
const ROW_COUNT = 2_000;
/**
 * Slots that one step ends: each adds to the history of its link, and its provider stays locked.
 */
const END_COUNT = 20;

/** Steps that delete ledger rows, and remove devices from the histories of links. */
export function dropSteps(backend: Statements) {
  const on = {
    some: backend.prepare(sql`
        SELECT ${columns('recipient', 'id, distributionId')}, ${values<{ isAtGateway: number }>({
          isAtGateway: sql`CAST(push_state IS NOT DISTINCT FROM 1 AS integer)`,
        })}
        FROM recipient WHERE device_id ${backend.among('deviceIds')} LIMIT :countMax`),
    drop: backend.prepare(sql`
        DELETE FROM recipient WHERE id ${backend.among('ids')}`),
  };
  const histories = historyStatements(backend);
  return {
    /** Deletes up to `countMax` ledger rows and their waiting pushes; returns their number. */
    *recipients(deviceIds: readonly number[], countMax: number): Step<number> {
      const rows = yield* on.some.all({ deviceIds, countMax });
      if (rows.length === 0) return 0;
      // A deleted push is counted at its distribution, which is locked before its rows.
      const atGateways = rows.filter(({ isAtGateway }) => isAtGateway === 1);
      const distributionIds = atGateways.map(({ distributionId }) => distributionId);
      yield* backend.lockRows({ distribution: distributionIds });
      yield* on.drop.run({ ids: rows.map(({ id }) => id) });
      return rows.length;
    },

    /** Removes a device from up to `countMax` ends of slots; returns their number. */
    *histories(deviceId: number, countMax: number): Step<number> {
      let left = countMax;
      for (const history of histories) {
        if (left > 0) left -= yield* history.run({ id: deviceId, countMax: left });
      }
      return countMax - left;
    },
  };
}

export function forgettingNoun(backend: Backend): Pick<Store, 'forgetDevice' | 'countRefusals'> {
  const { prepare } = backend;
  const drop = dropSteps(backend);
  const ends = slotEndSteps(backend);
  const names = namedRows(backend);
  const naming = namedSteps(backend);
  const { dropBars } = barSteps(backend);
  const ofDevice = sql`WHERE device_id = :id`;
  const on = {
    lock: prepare(
      sql`SELECT ${columns('device', 'id')} FROM device WHERE hwid = :hwid ${backend.locked}`,
    ),
    tokens: prepare(sql`
        DELETE FROM device_token ${ofDevice}`),
    browser: prepare(sql`
        UPDATE device_provider SET browser_install_id = NULL, tie_count = tie_count - 1
        ${ofDevice} AND browser_install_id IS NOT NULL`),
    slots: prepare(sql`
        SELECT ${columns('install_device', 'id AS slotId, installId, providerId')}
        FROM install_device ${ofDevice} ORDER BY id LIMIT ${END_COUNT}`),
    figures: prepare(sql`
        DELETE FROM subscription_figures WHERE install_id ${backend.among('installIds')}`),
    ties: prepare(sql`
        DELETE FROM device_domain ${ofDevice} AND domain_id IN (
          SELECT domain_id FROM device_domain ${ofDevice} LIMIT ${ROW_COUNT})`),
    /** Deletes its rows at providers too, at most one for each provider. */
    device: prepare(sql`
        DELETE FROM device WHERE id = :id AND holder_count = 0`),
    find: prepare(sql`SELECT ${columns('device', 'id')} FROM device WHERE id = :id`),
    refused: prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })}
        FROM refused_device WHERE hwid = :hwid`),
    refusals: prepare(sql`
        DELETE FROM refused_device WHERE hwid = :hwid AND install_id IN (
          SELECT install_id FROM refused_device WHERE hwid = :hwid LIMIT ${ROW_COUNT})`),
  };

  return {
    countRefusals: async (hwid) => (await backend.read(() => on.refused.get({ hwid })))?.count ?? 0,

    forgetDevice: async (hwid, act) => {
      const dropNames = function* (): Step<number> {
        const found = yield* names.linksOf.all({ hwid, countMax: END_COUNT });
        yield* backend.lockRows({ provider: found.map(({ providerId }) => providerId) });
        yield* backend.lockRows({ install: found.map(({ installId }) => installId) });
        for (const { installId } of found) yield* naming.free({ installId, hwid });
        return found.length;
      };
      const dropRefusals = function* (): Step<number> {
        return (yield* on.refusals.run({ hwid })) + (yield* dropBars(hwid));
      };
      // Before the device, which is locked after links.
      let namedCount = 0;
      for (let count = -1; count !== 0; namedCount += count) {
        count = await backend.write(dropNames);
        if (count > 0) await nextTurn();
      }
      // Its tokens are deleted first: from then on nothing reads its messages.
      const { id, refusals } = await backend.write(function* (notes) {
        const found = yield* on.lock.get({ hwid });
        const dropped = namedCount + (yield* dropRefusals());
        if (found === null) {
          // Links have only refused or named it.
          if (dropped > 0) notes.audit(act, deeds.forgetDevice(hwid));
          return { id: null, refusals: dropped };
        }
        yield* on.tokens.run({ id: found.id });
        yield* on.browser.run({ id: found.id });
        notes.changed([found.id]);
        return { id: found.id, refusals: dropped };
      });
      if (id === null) {
        if (refusals === 0) return 'device_not_found';
        while ((await backend.write(dropRefusals)) > 0) await nextTurn();
        return 'ok';
      }
      const why = { why: 'forgotten', actor: act.actor.name, forDeviceId: null } as const;

      function* endSlots(notes: Notes): Step<number> {
        const slots = yield* on.slots.all({ id });
        yield* ends.lockSlots(slots);
        for (const slot of slots) yield* ends.endSlot(notes, slot, { ...why, nowMs: act.atMs });
        // The link may be that person's alone; where it is not, the next fetch brings them again.
        yield* on.figures.run({ installIds: slots.map(({ installId }) => installId) });
        return slots.length;
      }
      const dropTies = function* (): Step<number> {
        yield* backend.lockRows({ device: [id] });
        return yield* on.ties.run({ id });
      };
      const steps = [
        dropRefusals,
        dropNames,
        endSlots,
        () => drop.recipients([id], ROW_COUNT),
        dropTies,
        () => drop.histories(id, ROW_COUNT),
      ];
      for (;;) {
        for (const step of steps) while ((await backend.write(step)) > 0) await nextTurn();
        const outcome = await backend.write(function* (notes) {
          if ((yield* on.device.run({ id })) > 0) {
            notes.audit(act, deeds.forgetDevice(hwid));
            return 'ok';
          }
          // A device that got a slot or a binding meanwhile is emptied once more.
          return (yield* on.find.get({ id })) === null ? 'device_not_found' : null;
        });
        if (outcome !== null) return outcome;
      }
    },
  };
}
