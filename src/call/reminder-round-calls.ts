/** Calls about what reminders sent: core/reminder-round.ts. */

import { Type } from '@sinclair/typebox';
import { LOOK, SEND } from '../core/account/roles.ts';
import { isRefused } from '../core/outcome.ts';
import { resumeReminders } from '../core/reminder-round.ts';
import { type DoerFor, sharedAccountCall, sharedStaffCall } from './call.ts';
import { atProvider, id } from './inputs.ts';

/** The most rounds of a page: the recipients of each are counted. */
export const ROUNDS_PAGE = 50;

export const reminderRoundCalls = {
  'reminders.rounds': sharedStaffCall(
    LOOK,
    [],
    { api: { path: '/api/reminder-rounds', needs: 'read' }, commands: ['reminder rounds'] },
    atProvider({ beforeId: Type.Optional(id) }),
    async ({ core: { store }, provider }: DoerFor, { beforeId = null }) => {
      const rounds = await store.listRounds(provider.id, { beforeId, countMax: ROUNDS_PAGE });
      const standing = await store.findReminding(provider.id);
      const last = rounds.length < ROUNDS_PAGE ? undefined : rounds.at(-1);
      return { rounds, standing, nextId: last?.id ?? null };
    },
  ),
  /** Lets reminders go on that stopped; needs a person, who looked at the panel. */
  'reminders.resume': sharedAccountCall(
    SEND,
    ['reminder.resume'],
    { commands: ['reminder resume'] },
    atProvider({}),
    async ({ core, nowMs, provider }: DoerFor) => {
      const hasResumed = await resumeReminders(core, provider, nowMs);
      return isRefused(hasResumed) ? hasResumed : { hasResumed };
    },
  ),
};
