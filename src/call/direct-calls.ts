/**
 * Calls of API and command line that the console does not serve: its own free and revoke later, and
 * can be undone; its forms set a part of the terms; it replays nothing.
 */

import { Type } from '@sinclair/typebox';
import { OWN } from '../core/account/roles.ts';
import { JOB_ROLES } from '../core/job/right.ts';
import { freeSlot, freeSlots, listSlots, revokeLink } from '../core/link.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import type { OwnTerms } from '../core/port/provider.ts';
import { changePolicy } from '../core/provider.ts';
import { OWN_TERMS } from '../core/terms.ts';
import { findWebhook, replayEvents } from '../core/webhook.ts';
import { type DoerAt, type DoerFor, type DoerOf, sharedCall } from './call.ts';
import { atProvider, id, inputsOf, nullable, text, timeMs } from './inputs.ts';
import { keyCalls } from './tie-calls.ts';

export const directCalls = {
  ...keyCalls,
  /** Frees the slot of a HWID, those taken since a time, or all. */
  'links.free': sharedCall(
    JOB_ROLES['link.free-all'],
    ['install.free', 'hwid.delete'],
    { api: { path: '/api/free-slots', needs: 'links' }, commands: ['link free'] },
    atProvider({
      installCode: nullable(text(12)),
      installId: nullable(id),
      sinceMs: Type.Optional(timeMs),
      hwid: Type.Optional(text(128)),
    }),
    async ({ core, nowMs, provider }: DoerFor, { hwid, sinceMs, ...selector }) => {
      if (hwid === undefined) return freeSlots(core, provider, selector, nowMs, sinceMs);
      const had = await listSlots(core, provider, selector, hwid, 1);
      if (isRefused(had)) return had;
      const left = await freeSlot(core, provider, selector, hwid, nowMs);
      return isRefused(left) ? left : { freedCount: had.length };
    },
  ),
  'links.revoke-now': sharedCall(
    JOB_ROLES['link.revoke'],
    ['install.revoke'],
    { api: { path: '/api/revoke-install', needs: 'links' }, commands: ['link revoke'] },
    atProvider({ id }),
    ({ core, nowMs, provider, turn }: DoerFor & { turn?: () => Promise<void> }, given) =>
      revokeLink(core, provider, given.id, nowMs, turn),
  ),
  /** Returns the terms of the provider; without a change it only reads. */
  'policy.set': sharedCall(
    OWN,
    ['provider.set'],
    { api: { path: '/api/policy', needs: 'main' } },
    atProvider(inputsOf<OwnTerms>(OWN_TERMS)),
    ({ core, nowMs, provider }: DoerOf, given: Partial<OwnTerms>) =>
      changePolicy(core, provider, given, nowMs),
  ),
  /** Sends one kept event again, or all since a time. */
  'webhooks.replay': sharedCall(
    OWN,
    [],
    {
      api: { path: '/api/webhook-replay', needs: 'main' },
      commands: ['webhook replay'],
      often: 'webhookReplays',
    },
    atProvider({
      id,
      which: Type.Union([Type.Object({ eventId: id }), Type.Object({ sinceMs: timeMs })]),
    }),
    async ({ admits, core, nowMs, provider }: DoerAt, given) => {
      const webhook = await findWebhook(core, given.id, provider.id);
      if (isRefused(webhook)) return webhook;
      if ('sinceMs' in given.which && !admits()) return new Refused('too_many_requests');
      return replayEvents(core, webhook, given.which, nowMs);
    },
  ),
};
