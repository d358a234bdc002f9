import type { shell as english } from '../en/shell.ts';
import type { Like } from '../texts.ts';

export const shell: Like<typeof english> = {
  overview: 'نمای کلی',
  links: 'پیوندها',
  account: 'حساب شما',
  provider: 'ارائه‌دهنده',
  theme: 'پوسته',
  auto: 'سیستم',
  light: 'روشن',
  dark: 'تیره',
  languageName: 'زبان',
  leave: 'خروج',
  navigation: 'صفحه‌ها',
  skip: 'رفتن به محتوا',
  noRole: 'هنوز ارائه‌دهنده‌ای نیست',
  noRoleHint: 'از یک مالک دعوت‌نامه بخواهید، یا با gatepost provider add بیفزایید.',
  offline: 'اتصال برقرار نیست. آنچه می‌بینید شاید تازه نباشد و پس از وصل شدن خودبه‌خود به‌روز می‌شود.',
};
