/** Reminders to copy, in the words of a seller who writes to customers. */

import type { OwnReminder } from './port/reminder.ts';

type Draft = Pick<OwnReminder, 'kind' | 'amount' | 'texts'>;

export const DEFAULT_REMINDERS: readonly Draft[] = [
  {
    kind: 'before_end',
    amount: 72,
    texts: {
      en: 'Your subscription ends on {end_date}: you have {days_left} left. Renew it early and you won’t be cut off.',
      ru: 'Ваша подписка действует до {end_date}, осталось {days_left}. Продлите её заранее, чтобы связь не прервалась.',
      zh: '您的订阅将于 {end_date} 到期，还剩 {days_left}。提前续费，使用不会中断。',
      fa: 'اشتراک شما تا {end_date} اعتبار دارد و {days_left} از آن مانده است. زودتر تمدید کنید تا اتصالتان قطع نشود.',
    },
  },
  {
    kind: 'before_end',
    amount: 24,
    texts: {
      en: 'Less than a day of your subscription is left. Renew it today and you stay connected.',
      ru: 'До конца подписки меньше суток. Продлите её сегодня, и всё продолжит работать.',
      zh: '您的订阅不到一天就要到期了。今天续费，就不会断线。',
      fa: 'کمتر از یک روز تا پایان اشتراک شما مانده است. همین امروز تمدید کنید تا وصل بمانید.',
    },
  },
  {
    kind: 'traffic',
    amount: 80,
    texts: {
      en: 'You have {traffic_left} of traffic left. If that won’t last, top up in good time.',
      ru: 'У вас осталось {traffic_left} трафика. Если этого мало, пополните его заранее.',
      zh: '您的流量还剩 {traffic_left}。如果不够用，请提前充值。',
      fa: 'از حجم شما {traffic_left} مانده است. اگر کافی نیست، زودتر حجم اضافه کنید.',
    },
  },
  {
    kind: 'traffic',
    amount: 95,
    texts: {
      en: 'Your traffic is almost used up: {traffic_left} left. Top up or renew now, before the connection stops.',
      ru: 'Трафик почти закончился: осталось {traffic_left}. Пополните его или продлите подписку, пока связь не прервалась.',
      zh: '您的流量即将用完，仅剩 {traffic_left}。请尽快充值或续费，以免断线。',
      fa: 'حجم شما رو به پایان است و فقط {traffic_left} مانده. پیش از قطع شدن اتصال، حجم اضافه کنید یا اشتراک را تمدید کنید.',
    },
  },
  {
    kind: 'after_end',
    amount: 1,
    texts: {
      en: 'Your subscription has ended. Renew it and you are back online, with nothing to set up again.',
      ru: 'Ваша подписка закончилась. Продлите её, и всё снова заработает: заново настраивать ничего не нужно.',
      zh: '您的订阅已到期。续费后即可恢复使用，无需重新设置。',
      fa: 'اشتراک شما تمام شده است. با تمدید آن دوباره وصل می‌شوید و نیازی به تنظیم دوباره نیست.',
    },
  },
];

/** The text of a reminder about silence to copy; it is not among those that are added at once. */
export const INACTIVE_REMINDER: Draft = {
  kind: 'inactive',
  amount: 14,
  texts: {
    en: 'Your subscription has not been updated for a while. Open the app and update it to get the latest servers.',
    ru: 'Вы давно не обновляли подписку. Откройте приложение и обновите её, чтобы получить свежие серверы.',
    zh: '您的订阅已有一段时间没有更新。打开应用更新一下，获取最新的服务器。',
    fa: 'مدتی است اشتراک شما به‌روز نشده است. برنامه را باز و اشتراک را به‌روز کنید تا سرورهای تازه را بگیرید.',
  },
};
