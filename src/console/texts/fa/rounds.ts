import type { BaseTexts } from '../texts.ts';

export const texts: Pick<BaseTexts, 'rounds'> = {
  rounds: {
    title: 'آنچه ارسال شد',
    hint: 'برای هر یادآوری و هر روز یک سطر، به وقت UTC.',
    none: 'هنوز چیزی ارسال نشده است.',
    day: 'روز',
    reminder: 'یادآوری',
    sent: 'دستگاه‌ها',
    got: 'دریافت شد',
    ended: 'پیش از دریافت لغو شد',
    removed: 'یادآوری حذف‌شده',
    stopped: 'یادآوری‌ها متوقف شده است',
    stoppedHint: (moved, all, at) =>
      `در یک ساعت ${moved} اشتراک از ${all} اشتراک تمدید شد یا رو به پایان رفت (${at}). شاید پنل اطلاعات نادرست می‌دهد؛ نخست پنل را بررسی کنید.`,
    resume: 'ادامهٔ یادآوری‌ها',
    resumeHint: 'از این پس کاربران طبق اطلاعات کنونی پنل یادآوری می‌گیرند.',
  },
};
