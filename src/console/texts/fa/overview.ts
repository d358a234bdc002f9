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
  refusals: 'پیوندهایی که در ۲۴ ساعت گذشته دستگاهی را رد کردند',
  noRefusals: 'در ۲۴ ساعت گذشته هیچ پیوندی دستگاهی را رد نکرده است.',
  refusalCount: (n) => `${number.format(n)} بار رد`,
  until: (date) => `اشتراک تا ${date}`,
  noEnd: 'اشتراک بدون پایان',
  plan: 'طرح',
  suspended: 'تعلیق‌شده',
  suspendedHint:
    'اشتراک تعلیق شده است: چیزی را نمی‌توان تغییر داد یا فرستاد. پیوندها همچنان دستگاه می‌پذیرند.',
  endedHint:
    'اشتراک پایان یافته است: چیزی را نمی‌توان تغییر داد یا فرستاد. پیوندها همچنان دستگاه می‌پذیرند.',
  noDomain: 'هیچ دامنه‌ای پیوسته نیست: دستگاه تازه پذیرفته نمی‌شود.',
  look: 'دیدن',
  mix: 'دستگاه‌ها بر پایهٔ سیستم و برنامه',
  mixLater: 'دستگاه‌ها بسیارند و روزی یک بار شمرده می‌شوند؛ یک ساعت دیگر ببینید.',
  noDevices: 'هنوز دستگاهی نیست.',
  otherSystem: 'دیگر',
  otherApp: 'برنامه‌ای دیگر',
  next: 'ارسال‌های بعدی',
  noNext: 'چیزی زمان‌بندی نشده است.',
  notification: 'اعلان',
  command: 'فرمان',
  webhooksOff: (n) => `${number.format(n)} وب‌هوک غیرفعال است.`,
  toDevices: (n) => `به ${number.format(n)} دستگاه`,
  quotas: 'سقف‌ها',
  quota: {
    links: 'پیوندها',
    domains: 'دامنه‌ها',
    webhooks: 'وب‌هوک‌ها',
    keys: 'کلیدها',
    sends: 'ارسال‌های این دقیقه',
    kept_bytes: 'پیام‌های نگه‌داشته',
    ledger_rows: 'سطرهای دفتر گیرندگان',
  },
  usedOf: (used, max) => `${used} / ${max}`,
};
