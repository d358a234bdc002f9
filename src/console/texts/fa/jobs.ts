import type { jobs as english } from '../en/jobs.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

export const jobs: Like<typeof english> = {
  title: 'تغییرهای در جریان',
  changing: 'پیوندها تغییر می‌کنند',
  removing: 'پیوندها برداشته می‌شوند',
  freeingAll: 'همهٔ دستگاه‌های یک پیوند برداشته می‌شوند',
  revoking: 'پیوند کد تازه می‌گیرد',
  failed: 'انجام نشد:',
  unknown: 'یک تغییر',
  dismiss: 'پنهان کردن',
  undo: 'بازگرداندن',
  stop: 'ایست',
  freeing: (hwid) => `دستگاه \u2068${hwid}\u2069 برداشته می‌شود`,
  in: (s) => `پس از ${number.format(s)} ثانیه`,
  of: (seen, all) => `${seen} از ${all}`,
  changed: (n, all) => `انجام شد: ${n} از ${all} تغییر کرد`,
  stopped: (n, all) => `متوقف شد: ${n} از ${all} تغییر کرد`,
  problems: {
    no_right: 'آغازکننده دیگر این اختیار را ندارد، یا کلید عوض شده است',
    subscription_required: 'اشتراک پایان یافته یا تعلیق شده است',
    more_links_match: 'اکنون پیوندهای بیشتری می‌خورند؛ به بیشترها دست زده نشد',
    not_understood: 'نسخهٔ دیگری از برنامه آن را ذخیره کرده است',
    install_not_found: 'پیوند دیگر نیست',
    install_code_error: 'پیوند دیگر نیست',
    fault: 'در سرور خطایی رخ داد؛ دلیل در گزارش آن است',
  },
};
