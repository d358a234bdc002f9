import { choices, labels } from '../../labels/ru.ts';
import { headsOf } from './heads.ts';
import { activity } from './ru/activity.ts';
import { texts as frame } from './ru/frame.ts';
import { texts as links } from './ru/links.ts';
import { texts as messages } from './ru/messages.ts';
import { refusals } from './ru/refusals.ts';
import { texts as rooms } from './ru/rooms.ts';
import type { BaseTexts } from './texts.ts';

export const texts: BaseTexts = {
  tag: 'ru',
  loading: 'Загрузка',
  retry: 'Повторить',
  remindersTitle: 'Напоминания',
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
