/** Happenings about the subscriptions of a provider's users, with their figures. */

import { DAY_MS, isoTime } from '../calendar.ts';
import type { EventData, Happening } from '../port/event.ts';
import type { KeptFigures } from '../port/subscription-figures.ts';

const happening = (
  kind: Happening['kind'],
  installId: number,
  figures: KeptFigures,
  more: EventData = {},
): Happening => ({
  kind,
  data: {
    install_id: installId,
    ...more,
    [kind === 'link.ended' ? 'ended_at' : 'ends_at']: isoTime(figures.endsAtMs),
    total_bytes: figures.totalBytes,
    used_bytes: figures.usedBytes,
    read_at: isoTime(figures.readAtMs),
  },
});

/** The subscription of a link ends soon. */
export const linkEnding = (installId: number, figures: KeptFigures, nowMs: number) =>
  happening('link.ending', installId, figures, {
    days: Math.ceil(((figures.endsAtMs ?? nowMs) - nowMs) / DAY_MS),
  });

export const linkEnded = (installId: number, figures: KeptFigures) =>
  happening('link.ended', installId, figures);

export const linkRenewed = (installId: number, figures: KeptFigures) =>
  happening('link.renewed', installId, figures);

/** So many per cent of its traffic were used. */
export const linkTrafficLow = (installId: number, figures: KeptFigures, percent: number) =>
  happening('link.traffic_low', installId, figures, { percent });

/** No app fetched the subscription of a link for so many days. */
export const linkInactive = (installId: number, days: number, seenAtMs: number): Happening => ({
  kind: 'link.inactive',
  data: { install_id: installId, inactive_days: days, last_seen_at: isoTime(seenAtMs) },
});

/** The reminders of a provider stopped, as many of its links moved at once. */
export const remindersStopped = (moved: number, links: number): Happening => ({
  kind: 'reminders.stopped',
  data: { moved_links: moved, all_links: links },
});
