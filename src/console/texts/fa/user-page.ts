import type { userPage as english } from '../en/user-page.ts';
import type { Like } from '../texts.ts';

export const userPage: Like<typeof english> = {
  title: 'صفحهٔ کاربر',
  what: 'دارندهٔ لینک آنجا دستگاه‌ها را می‌بیند و جایی را آزاد می‌کند، بدون حساب.',
  state: 'صفحه',
  on: 'روشن: کاربران همهٔ لینک‌ها آن را دارند',
  off: 'خاموش: هیچ کاربری آن را ندارد',
  name: 'نام بالای صفحه',
  nameHint: 'نامی که کاربران شما را با آن می‌شناسند. خالی: بدون نام.',
  color: 'رنگ',
  support: 'لینک پشتیبانی',
  supportHint: 'یک صفحه یا گفتگو مانند tg://resolve?domain=…؛ در برنامه‌ها دکمه هم هست.',
  save: 'ذخیره',
  saved: 'ذخیره شد.',
  forbidden: 'اپراتور این سرور صفحه را برای همه خاموش کرده است.',
  coolDown: (hours) => `کاربر در هر ${hours} ساعت حداکثر یک جا را آزاد می‌کند.`,
  preview: 'باز کردن صفحهٔ تازه‌ترین لینک',
  noPreview: 'پیش‌نمایش وقتی هست که صفحه روشن باشد، لینکی باشد و نشانی آن معلوم باشد.',
};
