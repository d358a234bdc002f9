/** The facts of links that fill placeholders of messages. */

import type { FillStore, LinkFacts } from '../../core/port/fill.ts';
import type { Backend } from '../backend.ts';
import { columns, type RowsOf, sql } from '../statement-text.ts';
import { SET_LIMIT } from './link-rows.ts';

const READER = { deviceId: 'bigint', providerId: 'bigint' } as const;

/** Selects the link `i` with its provider `o` and figures `f`; a reader may have none. */
const FACTS = sql`${columns(
  { i: 'install?', f: 'subscription_figures?', o: 'provider?' },
  `i.id AS installId, i.deviceCount, i.greeting, f.endsAtMs, f.totalBytes, f.usedBytes, f.readAtMs,
  i.formerButtons, i.buttonsAtMs, o.timeZone, o.confirmedAtMs`,
)}, ${SET_LIMIT}`;

function factsOf(row: RowsOf<[typeof FACTS]>): (LinkFacts & { installId: number }) | null {
  const { buttonsAtMs, confirmedAtMs, deviceCount, formerButtons, installId, ...facts } = row;
  if (installId === null || deviceCount === null) return null;
  const changed = {
    formerButtons,
    buttonsAtMs: buttonsAtMs ?? 0,
    confirmedAtMs: confirmedAtMs ?? 0,
  };
  return { ...facts, deviceCount, installId, ...(buttonsAtMs && { changed }) };
}

export function fillNoun(backend: Backend): FillStore {
  const { prepare, join, rows } = backend;
  const on = {
    /** A HWID is no secret: a device that registered by a link alone sees what the link has. */
    readers: prepare(sql`
        SELECT ${FACTS}
        FROM ${rows('readers', READER)} k
          LEFT JOIN device_provider p
            ON p.device_id = k."deviceId" AND p.provider_id = k."providerId" AND p.is_by_link = 1
          LEFT JOIN install_device s
            ON s.install_id = p.home_install_id AND s.device_id = p.device_id
          LEFT JOIN install i ON i.id = coalesce(p.browser_install_id, s.install_id)
          LEFT JOIN subscription_figures f ON f.install_id = s.install_id
          LEFT JOIN provider o ON o.id = i.provider_id
        ORDER BY k.n`),
    link: prepare(sql`
        SELECT ${FACTS}
        FROM install i LEFT JOIN subscription_figures f ON f.install_id = i.id
          LEFT JOIN provider o ON o.id = i.provider_id
        WHERE i.id = :installId`),
    ending: prepare(sql`
        SELECT ${FACTS}
        FROM subscription_figures f ${join} install i ON i.id = f.install_id
          LEFT JOIN provider o ON o.id = i.provider_id
        WHERE f.provider_id = :providerId AND f.ends_at_ms > :nowMs
        ORDER BY f.ends_at_ms, f.install_id LIMIT :countMax`),
    newest: prepare(sql`
        SELECT ${FACTS}
        FROM install i LEFT JOIN subscription_figures f ON f.install_id = i.id
          LEFT JOIN provider o ON o.id = i.provider_id
        WHERE i.provider_id = :providerId ORDER BY i.id DESC LIMIT :countMax`),
  };
  return {
    findFillFacts: async (readers) =>
      backend.read(function* () {
        return (yield* on.readers.all({ readers: JSON.stringify(readers) })).map(factsOf);
      }),
    findLinkFacts: (installId) =>
      backend.read(function* () {
        const row = yield* on.link.get({ installId });
        return row && factsOf(row);
      }),
    listFillExamples: async (providerId, nowMs, countMax) =>
      backend.read(function* () {
        const ending = yield* on.ending.all({ providerId, nowMs, countMax });
        const newest = yield* on.newest.all({ providerId, countMax });
        const others = newest.filter(
          (row) => !ending.some((one) => one.installId === row.installId),
        );
        return [...ending, ...others].slice(0, countMax).flatMap((row) => factsOf(row) ?? []);
      }),
  };
}
