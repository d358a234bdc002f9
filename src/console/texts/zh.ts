import { choices, labels } from '../../labels/zh.ts';
import { headsOf } from './heads.ts';
import type { BaseTexts } from './texts.ts';
import { activity } from './zh/activity.ts';
import { texts as frame } from './zh/frame.ts';
import { texts as links } from './zh/links.ts';
import { texts as messages } from './zh/messages.ts';
import { refusals } from './zh/refusals.ts';
import { texts as rooms } from './zh/rooms.ts';

export const texts: BaseTexts = {
  tag: 'zh-CN',
  loading: '加载中',
  retry: '重试',
  remindersTitle: '提醒',
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
