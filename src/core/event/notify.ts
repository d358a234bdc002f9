/** Events for the operator's webhooks and chats: new findings of the doctor, and figures. */

import { DAY_MS, utcDay } from '../calendar.ts';
import type { Core } from '../core.ts';
import { type DayFigures, listFigures } from '../figures.ts';
import type { Webhook } from '../port/webhook.ts';
import { type Found, findingNews } from './finding-news.ts';
import { doctorFigures } from './happenings.ts';
import { wantsKind } from './wanted.ts';

/** Attempts against other runs at the same moment. */
const RACES_MAX = 5;
const NOTHING = '[]';

/** Lists the enabled webhooks of the operator that get what the doctor finds. */
export async function findingTakers({ store }: Core): Promise<Webhook[]> {
  const own = await store.listWebhooks(null);
  return own.filter(
    ({ disabled, events }) => disabled === null && wantsKind(events, 'doctor.found'),
  );
}

/**
 * Adds an event for each finding that is new or over, and returns their number. `machine`: the node
 * whose doctor found them; empty: there is one.
 */
export async function notifyFindings(
  { store }: Core,
  machine: string,
  found: readonly Found[],
  nowMs: number,
): Promise<number> {
  const subject = machine === '' ? 'doctor' : `doctor ${machine}`;
  for (let race = 0; race < RACES_MAX; race++) {
    const before = await store.findNotice(subject);
    const { news, mark } = findingNews(found, before, nowMs);
    if (mark === (before ?? NOTHING)) return 0;
    const events = news.map((one) => ({ providerId: null, atMs: nowMs, ...one }));
    if (await store.addNotices(events, subject, before, mark)) return news.length;
  }
  return 0;
}

/** Adds the event of the last whole UTC day, once. Returns false if there was one already. */
export async function notifyFigures(core: Core, nowMs: number): Promise<boolean> {
  const day = utcDay(nowMs) - 1;
  const [figures] = await listFigures(core, null, day, day);
  if (figures === undefined) return false;
  const event = { providerId: null, atMs: nowMs, ...doctorFigures(dataOf(figures)) };
  return core.store.addNotice(event, 'figures', `${day * DAY_MS}`);
}

function dataOf(figures: DayFigures) {
  const { day, admitted, seen, links, sends, delivered } = figures;
  const { refused_hwid, refused_domain, refused_disabled, refused_full } = figures;
  const refused = refused_hwid + refused_domain + refused_disabled + refused_full;
  return { day, admitted, refused, seen, links, sends, delivered };
}
