/** A search through the devices of a provider, in slices that take some milliseconds each. */

import type { MixCursor } from '../../core/port/device-mix.ts';
import type { DeviceSearchStore } from '../../core/port/device-search.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { patternOf } from './link-view.ts';
import { FIGURES_MATCH, figuresValues } from './subscription-figures.ts';
import { linkedRow } from './targets.ts';

/** Devices of a slice: each has up to 16 bindings and a few links to read. */
const SLICE_COUNT = 1_000;

export function deviceSearchNoun(backend: Backend): DeviceSearchStore {
  const { prepare, join } = backend;
  const isUnset = (name: string, type = 'text') => sql.raw(`CAST(:${name} AS ${type}) IS NULL`);
  const beyond = sql`provider_id = :providerId AND (os, device_id) > (:os, :deviceId)`;
  const on = {
    end: prepare(sql`
        SELECT ${values<{ os: MixCursor['os'] }>({ os: sql`os` })},
          ${columns('device_provider', 'deviceId')}
        FROM device_provider WHERE ${beyond}
        ORDER BY os, device_id LIMIT 1 OFFSET ${SLICE_COUNT - 1}`),
    found: prepare(sql`
        SELECT ${columns(
          { d: 'device', p: 'device_provider', t: 'device_token?' },
          'd.hwid, p.deviceName, p.os, p.appVersion, t.locale',
        )}
        FROM (SELECT * FROM device_provider WHERE ${beyond}
            ORDER BY os, device_id LIMIT ${SLICE_COUNT}) p
          ${join} device d ON d.id = p.device_id LEFT JOIN device_token t ON t.id = p.token_id
        WHERE (${isUnset('ofOs')} OR p.os = :ofOs)
          AND (${isUnset('appVersion')} OR p.app_version = :appVersion)
          AND (${isUnset('language')} OR lower(t.locale) = :language
            OR lower(t.locale) LIKE CAST(:language AS text) || '-%')
          AND (${isUnset('seenSinceMs', 'bigint')} OR p.last_seen_at_ms >= :seenSinceMs)
          AND (${isUnset('unseenSinceMs', 'bigint')} OR p.last_seen_at_ms < :unseenSinceMs)
          AND (${isUnset('domainId', 'bigint')} OR EXISTS (
            SELECT 1 FROM device_domain b
            WHERE b.device_id = p.device_id AND b.domain_id = :domainId))
          AND (${isUnset('link')} OR EXISTS (
            SELECT 1 FROM install_device s ${join} install i ON i.id = s.install_id
            WHERE s.device_id = p.device_id AND s.provider_id = p.provider_id
              AND (${backend.fits('i.note', 'link')} OR ${backend.fits('i.install_code', 'link')})))
          AND (:byFigures = 0 OR EXISTS (
            SELECT 1 FROM install_device s ${join} install i ON i.id = s.install_id
            WHERE s.device_id = p.device_id AND s.install_id = p.home_install_id
              AND ${FIGURES_MATCH}))
          AND ${linkedRow(backend)}
        ORDER BY p.os, p.device_id`),
  };
  return {
    searchDevices: async (providerId, { figures = null, link, os: ofOs, ...search }, after) =>
      backend.read(function* () {
        const from = { providerId, ...(after ?? { os: '', deviceId: 0 }) };
        const next = yield* on.end.get(from);
        const part = patternOf(backend, link);
        const byFigures = { ...figuresValues(figures ?? {}), byFigures: figures === null ? 0 : 1 };
        const wanted = { ...from, ...search, ...byFigures, ofOs, link: part };
        return { devices: yield* on.found.all(wanted), next };
      }),
  };
}
