import type { delivery as english } from '../en/delivery.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

export const delivery: Like<typeof english> = {
  gateways: 'دروازه‌ها',
  gateway: 'دروازه',
  states: { ready: 'آماده', stopped: 'متوقف', paused: 'در مکث', failing: 'دچار خطا' },
  notSetUp: 'راه‌اندازی نشده',
  someFail: (n, all) => `${n} از ${all} سرویس خطا دارند`,
  waiting: 'در انتظار',
  oldest: 'قدیمی‌ترین از',
  problem: 'آخرین خطا',
  retry: (when) => `تلاش بعدی ${when}.`,
  mend: 'اعتبارنامه‌ها را درست و سپس بارگذاری کنید: systemctl reload gatepost.',
  service: 'سرویس پوش',
  test: 'آزمودن یک دروازه',
  testHint: 'پیامی واقعی به یک دستگاه می‌فرستد که برنامه‌اش نشانی پوش ثبت کرده است.',
  send: 'فرستادن آزمایشی',
  verdicts: {
    accepted:
      'پذیرفته شد. اگر دستگاه تا یک دقیقه چیزی نشان نداد: آیا برنامه اجازهٔ اعلان دارد و آنلاین است؟',
    credentials: 'اعتبارنامهٔ ما را رد می‌کند و همهٔ پوش‌هایش منتظرند:',
    dead: 'نشانی این دستگاه مرده است و کنار گذاشته می‌شود:',
    failed: 'این پیام را رد می‌کند:',
    retry: 'فعلاً پذیرفته نشد؛ پوش دوباره فرستاده می‌شد:',
    wait: 'مکث می‌خواهد؛ پوش دوباره فرستاده می‌شد:',
    busy: 'اتصال آزادی نبود؛ پوش دوباره فرستاده می‌شد:',
  },
  webhooks: 'وب‌هوک‌های دچار خطا',
  noWebhooks: 'هیچ‌کدام: آخرین تلاش همه خوب بود.',
  address: 'نشانی',
  ofOperator: 'از آنِ اپراتور',
  since: (when) => `از ${when}`,
  open: 'باز کردن',
  figures: 'آمار',
  period: 'بازه',
  days: (n) => `${number.format(n)} روز`,
  messagesByDay: 'پیام‌های تحویل‌شده و منقضی به تفکیک روز',
  delivered: 'تحویل‌شده',
  expired: 'منقضی',
  columns: [
    ...['دیده‌شده', 'پذیرفته', 'ردشده', 'جای آزادشده', 'پیوند تازه'],
    ...['ارسال', 'تحویل‌شده', 'بازشده', 'منقضی'],
  ],
  noFigures: 'هنوز آماری نیست',
  noFiguresHint: 'با نخستین دستگاه‌ها و پیام‌ها پدید می‌آید.',
};
