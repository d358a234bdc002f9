import { choices, labels } from '../../labels/fa.ts';
import { activity } from './fa/activity.ts';
import { texts as frame } from './fa/frame.ts';
import { texts as links } from './fa/links.ts';
import { texts as messages } from './fa/messages.ts';
import { refusals } from './fa/refusals.ts';
import { texts as rooms } from './fa/rooms.ts';
import { headsOf } from './heads.ts';
import type { BaseTexts } from './texts.ts';

export const texts: BaseTexts = {
  tag: 'fa-IR-u-ca-persian',
  loading: 'در حال بارگذاری',
  retry: 'تلاش دوباره',
  remindersTitle: 'یادآوری‌ها',
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
