import type { overview as english } from '../en/overview.ts';
import type { Like } from '../texts.ts';

export const overview: Like<typeof english> = {
  links: '链接',
  ofMax: (max) => `上限 ${max}`,
  full: '已满链接',
  admitted: '准入设备',
  refused: '拒绝',
  fortnight: '最近 14 天',
  byDay: '每日准入与拒绝的设备',
  refusals: '今日拒绝过设备的链接',
  noRefusals: '最近 24 小时没有链接拒绝设备。',
  refusalCount: (n) => `${n} 次拒绝`,
  until: (date) => `订阅至 ${date}`,
  noEnd: '订阅无期限',
  plan: '套餐',
  suspended: '已暂停',
};
