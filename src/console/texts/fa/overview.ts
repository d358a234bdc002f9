import type { overview as english } from '../en/overview.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

export const overview: Like<typeof english> = {
  links: 'پیوندها',
  ofMax: (max) => `حداکثر ${max}`,
  full: 'پیوندهای پر',
  admitted: 'دستگاه‌های پذیرفته',
  refused: 'ردشده‌ها',
  fortnight: 'در ۱۴ روز گذشته',
  byDay: 'دستگاه‌های پذیرفته و ردشده به تفکیک روز',
  refusals: 'پیوندهایی که امروز دستگاهی را رد کردند',
  noRefusals: 'در ۲۴ ساعت گذشته هیچ پیوندی دستگاهی را رد نکرده است.',
  refusalCount: (n) => `${number.format(n)} بار رد`,
  until: (date) => `اشتراک تا ${date}`,
  noEnd: 'اشتراک بدون پایان',
  plan: 'طرح',
  suspended: 'تعلیق‌شده',
};
