import { choices, labels } from '../../labels/en.ts';
import { activity } from './en/activity.ts';
import { texts as frame } from './en/frame.ts';
import { texts as links } from './en/links.ts';
import { texts as messages } from './en/messages.ts';
import { refusals } from './en/refusals.ts';
import { texts as rooms } from './en/rooms.ts';
import { headsOf } from './heads.ts';

export const texts = {
  tag: 'en-GB',
  loading: 'Loading',
  retry: 'Try again',
  remindersTitle: 'Reminders',
  ...frame,
  ...rooms,
  ...links,
  ...messages,
  labels,
  heads: headsOf(labels),
  choices,
  activity,
  refusals,
};
