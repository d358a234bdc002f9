import type { backups as english } from '../en/backups.ts';
import type { Like } from '../texts.ts';

export const backups: Like<typeof english> = {
  title: 'پشتیبان‌ها',
  schedule: 'برنامهٔ زمانی',
  scheduleHint:
    'تنظیمات backup.at، backup.keep و backup.passphrase چنین می‌گویند؛ زمان‌ها به UTC است.',
  never: 'هرگز',
  next: 'بعدی',
  keep: 'شمار نگه‌داری',
  folder: 'پوشه',
  encrypted: 'رمزگذاری',
  yes: 'دارد',
  no: 'ندارد',
  make: 'همین اکنون بساز',
  making: 'پشتیبان در حال ساخت است. با دادهٔ بسیار چند دقیقه طول می‌کشد.',
  failed: (when) => `آخرین پشتیبان ${when} ناموفق بود:`,
  file: 'پرونده',
  made: 'ساخته‌شده',
  state: 'بررسی',
  verify: 'بررسی کن',
  good: 'سالم',
  bad: 'ناسالم',
  none: 'هنوز پشتیبانی نیست',
  noneHint: 'همین اکنون بسازید یا backup.at را در پیکربندی بگذارید.',
  elsewhere: 'داده‌ها جای دیگری هستند',
  download: 'بارگیری رونوشت',
  downloadHint:
    'پایگاه داده چنان‌که اکنون هست، رمزشده با گذرعبارت شما در قالب age. ورودی در ده دقیقهٔ گذشته می‌خواهد.',
  passphrase: 'گذرعبارت',
  passphraseHint: 'دست‌کم ۱۲ نویسه. بدون آن رونوشت بازگردانده نمی‌شود.',
  prepare: 'ساختن رونوشت',
  save: (size) => `ذخیرهٔ رونوشت، ${size}`,
  saveHint: 'تا ده دقیقه در دسترس است. gatepost restore آن را سر جایش می‌گذارد.',
};
