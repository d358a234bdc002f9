import type { command as english } from '../en/command.ts';
import type { Like } from '../texts.ts';

export const command: Like<typeof english> = {
  title: 'فرمان تازه',
  what: 'فرمان را برنامه بی‌پرسش از صاحب دستگاه انجام می‌دهد.',
  action: 'کار برنامه',
  unchanged: 'همان که هست',
  reset: 'بازگشت به مقدار برنامه',
  updateHint: 'برنامه اشتراک را دوباره می‌گیرد.',
  changeType: 'چه چیزی عوض می‌شود',
  domain: 'دامنهٔ همه',
  url: 'همهٔ نشانی',
  changeValue: 'مقدار تازه',
  changeHint: 'تا همهٔ دستگاه‌ها نرفته‌اند پیشین باید کار کند.',
  data: 'آنچه وارد می‌شود',
  dataHint: 'پیکربندی یا نشانی، چنان که برنامه می‌خواند.',
  newer: 'تنظیم‌های برنامه‌های جدیدتر',
  newerHint: 'برنامه‌های قدیمی‌تر آن‌ها را نادیده می‌گیرند. مقدار نامناسب هم همان‌طور فرستاده می‌شود.',
  custom: 'تنظیم‌های دیگر',
  customWrong: 'هر سطر باید «کلید=مقدار» باشد.',
  customHint: 'هر خط یکی: کلید=مقدار. مقداری که JSON است به همان شکل فرستاده می‌شود.',
  actions: {
    'update-subscription': 'گرفتن دوبارهٔ اشتراک',
    'set-settings': 'تنظیم‌ها',
    'sub-change': 'نشانی دیگر',
    'import-data': 'وارد کردن',
  },
};
