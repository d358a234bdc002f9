/** Keeps what keys change of addresses that users see, and tells about it: core/unconfirmed.ts. */

import { changeWaits } from '../../core/event/waiting.ts';
import type { Act } from '../../core/port/audit.ts';
import type { ChangedButtons } from '../../core/port/reminder.ts';
import { hostOf } from '../../core/reminder-links.ts';
import { formerButtonsOf, movedButtons, NO_BUTTONS, type Shown } from '../../core/unconfirmed.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, sql } from '../statement-text.ts';
import { shared } from './shared.ts';

const FIELDS = 'formerButtons, buttonsAtMs' as const;
const NAMES = { supportUrl: 'support_url', webPageUrl: 'web_page_url' } as const;
type Waiting = Parameters<typeof changeWaits>[0];

/** Tells the provider and the operator about a change by a key. */
export function noteWaiting(notes: Notes, providerId: number, change: Waiting, atMs: number): void {
  for (const owner of [providerId, null]) {
    notes.event(owner, atMs, () => changeWaits(change, atMs));
  }
}

/** Steps after a change of addresses, of a locked provider or link. */
export const buttonSteps = shared(({ prepare }: Backend) => {
  const on = {
    owner: prepare(sql`
        SELECT ${columns('provider', 'code, confirmedAtMs')} FROM provider WHERE id = :providerId`),
    provider: prepare(sql`UPDATE provider SET ${assignments('provider', FIELDS)} WHERE id = :id`),
    link: prepare(sql`
        SELECT ${columns('install', `supportUrl, webPageUrl, greeting, ${FIELDS}`)}
        FROM install WHERE id = :id`),
    setLink: prepare(sql`UPDATE install SET ${assignments('install', FIELDS)} WHERE id = :id`),
  };

  function* changed(
    notes: Notes,
    providerId: number,
    installId: number | null,
    before: ChangedButtons & Shown,
    after: Shown,
    act: Act,
  ): Step<void> {
    const owner = yield* on.owner.get({ providerId });
    if (owner === null) return;
    const former = formerButtonsOf(before, after, owner.confirmedAtMs, act);
    yield* (installId === null ? on.provider : on.setLink).run({
      ...former,
      id: installId ?? providerId,
    });
    if (former.buttonsAtMs !== act.atMs) return;
    for (const field of movedButtons(before, after)) {
      const hosts = [before[field], after[field]].map((url) => hostOf(url));
      const [oldHosts = [], newHosts = []] = hosts.map((host) => (host === null ? [] : [host]));
      const about = { providerCode: owner.code, ...(installId !== null && { installId }) };
      const change = { ...about, changed: NAMES[field], oldHosts, newHosts };
      noteWaiting(notes, providerId, change, act.atMs);
    }
  }

  return {
    /** Reads the addresses of a link before their change. */
    ofLink: (id: number) => on.link.get({ id }),
    changed,

    /**
     * Those of a new link wait too: a key could move the address of a subscription to it. There
     * is no event, as bots add many links.
     */
    *added(id: number, { actor, atMs }: Act): Step<void> {
      if (actor.kind !== 'provider') return;
      yield* on.setLink.run({ id, formerButtons: JSON.stringify(NO_BUTTONS), buttonsAtMs: atMs });
    },
  };
});
