import type { jobs as english } from '../en/jobs.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

export const jobs: Like<typeof english> = {
  title: 'تغییرهای در جریان',
  changing: 'پیوندها تغییر می‌کنند',
  removing: 'پیوندها برداشته می‌شوند',
  freeingAll: 'همهٔ دستگاه‌های یک پیوند برداشته می‌شوند',
  revoking: 'پیوند کد تازه می‌گیرد',
  undo: 'بازگرداندن',
  stop: 'ایست',
  freeing: (hwid) => `دستگاه \u2068${hwid}\u2069 برداشته می‌شود`,
  in: (s) => `پس از ${number.format(s)} ثانیه`,
  of: (seen, all) => `${seen} از ${all}`,
};
