import { choices, labels } from '../../labels/en.ts';
import { activity } from './en/activity.ts';
import { texts as frame } from './en/frame.ts';
import { texts as links } from './en/links.ts';
import { texts as messages } from './en/messages.ts';
import { refusals } from './en/refusals.ts';
import { texts as reminders } from './en/reminders.ts';
import { texts as rooms } from './en/rooms.ts';
import { texts as rounds } from './en/rounds.ts';
import { headsOf } from './heads.ts';

export const texts = {
  tag: 'en-GB',
  loading: 'Loading',
  retry: 'Try again',
  ...frame,
  ...rooms,
  ...rounds,
  ...links,
  ...messages,
  ...reminders,
  labels,
  heads: headsOf(labels),
  choices,
  activity,
  refusals,
};
