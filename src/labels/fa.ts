import type { Choices, Labels } from './en.ts';

export const labels: Labels = {
  install_limit: 'محدودیت دستگاه',
  status: 'وضعیت',
  note: 'یادداشت',
  subscription_key: 'شناسهٔ اشتراک',
  inactive_days: 'روزهای بدون استفاده',
  when_full: 'دستگاه جدید روی لینک پر',
  cool_down_hours: 'ساعت بین جایگزینی‌ها',
  enforce: 'اعمال محدودیت',
  without_hwid: 'برنامه‌های بدون HWID',
  same_phone: 'گوشی با HWID جدید',
  ride: 'آنچه همراه اشتراک ارسال می‌شود',
  ride_desktop: 'اعلان‌ها برای سیستم‌های رومیزی',
  support_url: 'دکمهٔ پشتیبانی',
  web_page_url: 'دکمهٔ صفحه',
  buttons: 'زمان ارسال دکمه‌ها',
  page: 'صفحهٔ کاربر',
  page_name: 'نام روی صفحه',
  page_color: 'رنگ صفحه',
  name: 'نام',
  plan: 'پلن',
  active_until: 'پایان پلن',
  suspended_at: 'زمان تعلیق',
  max_links: 'حداکثر لینک‌ها',
};

export const choices: Choices = {
  status: { 5: 'غیرفعال', 10: 'فعال' },
  when_full: { refuse: 'رد می‌شود', 'replace-oldest': 'جای قدیمی‌ترین را می‌گیرد' },
  enforce: { 1: 'اعمال می‌شود', 0: 'فقط می‌شمارد' },
  without_hwid: {
    refuse: 'رد می‌شوند',
    pass: 'پذیرفته می‌شوند',
    count: 'با هم یک دستگاه حساب می‌شوند',
  },
  same_phone: {
    off: 'دستگاه جدید است',
    ask: 'ابتدا از شما می‌پرسد',
    replace: 'جایگزین دستگاه قبلی می‌شود',
  },
  ride: { off: 'هیچ', notifications: 'فقط اعلان‌ها' },
  ride_desktop: { 0: 'همراه اشتراک ارسال نمی‌شوند', 1: 'همراه اشتراک ارسال می‌شوند' },
  buttons: { missing: 'وقتی پنل دکمه‌ای نمی‌فرستد', always: 'همیشه' },
};
