import { choices, labels } from '../../labels/fa.ts';
import { activity } from './fa/activity.ts';
import { texts as frame } from './fa/frame.ts';
import { texts as links } from './fa/links.ts';
import { texts as messages } from './fa/messages.ts';
import { refusals } from './fa/refusals.ts';
import { texts as reminders } from './fa/reminders.ts';
import { texts as rooms } from './fa/rooms.ts';
import { texts as rounds } from './fa/rounds.ts';
import { headsOf } from './heads.ts';
import type { BaseTexts } from './texts.ts';

export const texts: BaseTexts = {
  tag: 'fa-IR-u-ca-persian',
  loading: 'در حال بارگذاری',
  retry: 'تلاش دوباره',
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
