/** Whether a device matches a search: a condition of lists, counts and deliveries. */

import type { DeviceSearch } from '../../core/port/device-search.ts';
import type { Dialect } from '../backend.ts';
import { sql } from '../statement-text.ts';
import { patternOf } from './link-view.ts';
import { FIGURES_MATCH, figuresValues } from './subscription-figures.ts';

const isUnset = (name: string, type = 'text') => sql.raw(`CAST(:${name} AS ${type}) IS NULL`);

/** Condition: the device of a row `p` matches a search; see {@link searchValues}. */
export const deviceMatches = ({ join, fence, fits }: Dialect) => sql`
  (${isUnset('ofOs')} OR p.os = :ofOs)
  AND (${isUnset('appVersion')} OR p.app_version = :appVersion)
  AND (${isUnset('language')} OR EXISTS (
    SELECT 1 FROM device_token l WHERE l.id = p.token_id AND (lower(l.locale) = :language
      OR lower(l.locale) LIKE CAST(:language AS text) || '-%')))
  AND (${isUnset('seenSinceMs', 'bigint')} OR p.last_seen_at_ms >= :seenSinceMs)
  AND (${isUnset('unseenSinceMs', 'bigint')} OR p.last_seen_at_ms < :unseenSinceMs)
  AND (${isUnset('domainId', 'bigint')} OR EXISTS (
    SELECT 1 FROM device_domain b WHERE b.device_id = p.device_id AND b.domain_id = :domainId))
  AND (${isUnset('link')} OR EXISTS (
    SELECT 1 FROM install_device s ${join} install i ON i.id = s.install_id
    WHERE s.device_id = p.device_id AND s.provider_id = p.provider_id
      AND (${fits('i.note', 'link')} OR ${fits('i.install_code', 'link')})))
  AND (:byFigures = 0 OR EXISTS (
    SELECT 1 FROM install_device s ${join} install i ON i.id = s.install_id
    WHERE s.device_id = p.device_id AND s.install_id = p.home_install_id
      AND ${FIGURES_MATCH} ${fence}))`;

/** Returns the values of a search for {@link deviceMatches}. */
export const searchValues = (
  dialect: Dialect,
  { figures = null, link, os, ...search }: DeviceSearch,
) => ({
  ...search,
  ...figuresValues(figures ?? {}),
  byFigures: figures === null ? 0 : 1,
  ofOs: os,
  link: patternOf(dialect, link),
});
