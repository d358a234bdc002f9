import type { links as english } from '../en/links.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

export const links: Like<typeof english> = {
  search: 'کد، یادداشت، HWID یا دستگاه',
  all: 'همه',
  full: 'پر',
  disabled: 'غیرفعال',
  code: 'کد',
  note: 'یادداشت',
  devices: 'دستگاه‌ها',
  status: 'وضعیت',
  made: 'ایجاد',
  active: 'فعال',
  off: 'غیرفعال',
  add: 'پیوند تازه',
  limit: 'حداکثر دستگاه‌ها',
  limitHint: '۱ تا ۱۰۰.',
  noteHint: 'تنها برای شما: نام، سفارش.',
  create: 'ایجاد',
  cancel: 'انصراف',
  ofLimit: (n, limit) => `${n} از ${limit}`,
  isReady: (code) => `پیوند \u2068${code}\u2069 آماده است.`,
  more: 'نمایش بیشتر',
  none: 'هنوز پیوندی نیست',
  noneHint: 'هر پیوند به همان تعدادی که اجازه دهید دستگاه می‌پذیرد. یکی بسازید و روی تلفن باز کنید.',
  noMatch: 'پیوندی یافت نشد',
  noMatchHint: 'جستجو در کدها، یادداشت‌ها، نام دستگاه‌ها و آغاز HWIDها انجام می‌شود.',
  count: (n) => `${number.format(n)} پیوند نمایش داده شده`,
};
