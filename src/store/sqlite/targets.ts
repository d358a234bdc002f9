/** Which devices are a provider's: asked by HWID, or searched in bounded steps. */

import { sql } from 'drizzle-orm';
import { DOMAIN_ACTIVE } from '../../core/domain.ts';
import type { TargetCursor } from '../../core/message-store.ts';
import type { Store } from '../../core/store.ts';
import { type Context, value } from './context.ts';
import { raw } from './raw.ts';
import { prepare } from './statement.ts';
import { ACTIVE_BINDING } from './status.ts';

type TargetStore = Pick<Store, 'findTargets' | 'scanTargets'>;

/** The search looks at about so many devices in one step, some 5 ms. */
const SCAN_DEVICES = 2_000;
/** And at no more links than this, however empty they are. */
const SCAN_INSTALLS = 2_000;

/** Is the device linked to the provider? Both are SQL expressions. */
export const linked = (deviceId: string, providerId: string) =>
  sql.raw(`(
    EXISTS (SELECT 1 FROM install_device s CROSS JOIN install i ON i.id = s.install_id
            WHERE s.device_id = ${deviceId} AND i.provider_id = ${providerId})
    OR EXISTS (SELECT 1 FROM device_domain b CROSS JOIN domain m ON m.id = b.domain_id
               WHERE b.device_id = ${deviceId} AND m.provider_id = ${providerId}
                 AND m.status = ${DOMAIN_ACTIVE}))`);

/** A run of a provider's devices: those on the links, or of the binding, in a range of ids. */
export interface TargetRange {
  source: number;
  afterId: number;
  toId: number;
}

/** `FROM` and `WHERE` of the devices `d` in a range with one of two operating systems. */
export const inLinkRange = sql`
  install i CROSS JOIN install_device s ON s.install_id = i.id
  CROSS JOIN device d ON d.id = s.device_id
  WHERE i.provider_id = ${value('providerId')} AND i.id > ${value('afterId')} AND i.id <= ${value('toId')}
    AND d.os IN (${value('os1')}, ${value('os2')})`;
export const inBindingRange = sql`
  device_domain b CROSS JOIN device d ON d.id = b.device_id
  WHERE b.domain_id = ${value('source')} AND b.device_id > ${value('afterId')}
    AND b.device_id <= ${value('toId')} AND d.os IN (${value('os1')}, ${value('os2')})`;

/** Values for the two places for operating systems. */
export function osValues(os: readonly string[]): { os1: string; os2: string } {
  const [os1 = '', os2 = os1] = os;
  return { os1, os2 };
}

/** Cuts a provider's devices into ranges that are quick to look at. */
export function targetRanges({ db }: Context) {
  const links = prepare(
    db,
    raw<{ id: number; device_count: number }>(sql`
      SELECT id, device_count FROM install
      WHERE provider_id = ${value('providerId')} AND id > ${value('afterId')}
      ORDER BY id LIMIT ${SCAN_INSTALLS}`),
  );
  const bindingEnd = prepare(
    db,
    raw<{ toId: number | null }>(sql`
      SELECT max(device_id) AS "toId" FROM (
        SELECT device_id FROM device_domain
        WHERE domain_id = ${value('source')} AND device_id > ${value('afterId')}
          AND EXISTS (SELECT 1 FROM domain WHERE id = domain_id AND status = ${ACTIVE_BINDING})
        ORDER BY device_id LIMIT ${SCAN_DEVICES})`),
  );
  const nextBinding = prepare(
    db,
    raw<{ id: number | null }>(sql`
      SELECT min(id) AS id FROM domain
      WHERE provider_id = ${value('providerId')} AND status = ${ACTIVE_BINDING} AND id > ${value('source')}`),
  );

  function endOf(providerId: number, { source, id: afterId }: TargetCursor): number | null {
    if (source !== 0) return bindingEnd.get({ source, afterId })?.toId ?? null;
    let devices = 0;
    let toId: number | null = null;
    for (const link of links.all({ providerId, afterId })) {
      toId = link.id;
      devices += link.device_count;
      if (devices >= SCAN_DEVICES) break;
    }
    return toId;
  }

  /** The range that begins at `cursor`, and the cursor after it; null: there is nothing more. */
  return function next(
    providerId: number,
    cursor: TargetCursor,
  ): { range: TargetRange; next: TargetCursor } | null {
    let { source, id: afterId } = cursor;
    for (;;) {
      const toId = endOf(providerId, { source, id: afterId });
      if (toId !== null) return { range: { source, afterId, toId }, next: { source, id: toId } };
      const binding = nextBinding.get({ providerId, source })?.id ?? null;
      if (binding === null) return null;
      source = binding;
      afterId = 0;
    }
  };
}

export function targetStore(context: Context): TargetStore {
  const { db } = context;
  const nextRange = targetRanges(context);
  const find = prepare(
    db,
    raw<{ id: number; isLinked: number }>(sql`
      SELECT d.id AS id, ${linked('d.id', 'p.id')} AS "isLinked"
      FROM device d CROSS JOIN provider p ON p.id = ${value('providerId')}
      WHERE d.hwid = ${value('hwid')}`),
  );
  const anyIn = (range: typeof inLinkRange) =>
    prepare(db, raw<{ one: number }>(sql`SELECT 1 AS one FROM ${range} LIMIT 1`));
  const anyOnLinks = anyIn(inLinkRange);
  const anyOfBinding = anyIn(inBindingRange);

  return {
    findTargets: async (providerId, hwids) =>
      hwids.map((hwid) => {
        const found = find.get({ providerId, hwid });
        return found && { id: found.id, isLinked: found.isLinked === 1 };
      }),

    scanTargets: async (providerId, os, cursor) => {
      const found = nextRange(providerId, cursor);
      if (found === null) return { hasMatch: false, next: null };
      const any = found.range.source === 0 ? anyOnLinks : anyOfBinding;
      const isMatch = any.get({ providerId, ...found.range, ...osValues(os) }) !== null;
      return { hasMatch: isMatch, next: found.next };
    },
  };
}
