/** The texts of the page of users, in the languages of refusals. */

export interface MyTexts {
  /** The title of a page without a name. */
  title: string;
  /** Numbers have the digits of the language. */
  taken(count: string, limit: string): string;
  none: string;
  unnamed: string;
  /** The name of the device that stands for all apps without a HWID. */
  shared: string;
  here: string;
  /** When a device was seen, in the words of Intl: `today`, `2 days ago`. */
  seen(when: string): string;
  free: string;
  confirm: string;
  every(hours: string): string;
  next(when: string): string;
  freed: string;
  gone: string;
  cooling: string;
  waiting(device: string): string;
  support: string;
  newer: string;
  older: string;
  /** The form for people without the address of their page. */
  ask: string;
  askHint: string;
  open: string;
  notFound: string;
}

const en: MyTexts = {
  title: 'Your subscription',
  taken: (count, limit) => `${count} of ${limit} places taken`,
  none: 'No device uses this subscription yet.',
  unnamed: 'Unknown device',
  shared: 'Apps that do not name their device',
  here: 'this one',
  seen: (when) => `last seen ${when}`,
  free: 'Free this place',
  confirm: 'Yes, free it',
  every: (hours) => `A place can be freed once in ${hours} h.`,
  next: (when) => `The next place can be freed ${when}.`,
  freed: 'The place is free. Refresh the subscription in the app of the new device now.',
  gone: 'Nothing changed: the page was too old, or the place is free already. Try again.',
  cooling: 'Nothing changed: a place was freed a short time ago.',
  waiting: (device) =>
    `${device} has no place. Free one below, then refresh the subscription in its app.`,
  support: 'Ask for help',
  newer: 'Newer devices',
  older: 'More devices',
  ask: 'Code of your link, or address of your subscription',
  askHint: 'Your provider gave it to you; in the app it is the address of the subscription.',
  open: 'Open',
  notFound: 'There is no page for this. Check what you entered, or ask your provider.',
};

const ru: MyTexts = {
  title: 'Ваша подписка',
  taken: (count, limit) => `Занято мест: ${count} из ${limit}`,
  none: 'Этой подпиской пока не пользуется ни одно устройство.',
  unnamed: 'Неизвестное устройство',
  shared: 'Приложения, которые не называют устройство',
  here: 'это устройство',
  seen: (when) => `последний раз ${when}`,
  free: 'Освободить место',
  confirm: 'Да, освободить',
  every: (hours) => `Освобождать место можно раз в ${hours} ч.`,
  next: (when) => `Следующее место можно освободить ${when}.`,
  freed: 'Место свободно. Обновите подписку в приложении на новом устройстве.',
  gone: 'Ничего не изменилось: страница устарела или место уже свободно. Попробуйте ещё раз.',
  cooling: 'Ничего не изменилось: место недавно уже освобождали.',
  waiting: (device) =>
    `Для устройства ${device} нет места. Освободите одно и обновите подписку в приложении.`,
  support: 'Написать в поддержку',
  newer: 'Более новые устройства',
  older: 'Ещё устройства',
  ask: 'Код ссылки или адрес подписки',
  askHint: 'Их дал вам провайдер; в приложении это адрес подписки.',
  open: 'Открыть',
  notFound: 'Такой страницы нет. Проверьте, что вы ввели, или спросите у провайдера.',
};

const zh: MyTexts = {
  title: '您的订阅',
  taken: (count, limit) => `已占用 ${count} / ${limit} 个名额`,
  none: '还没有设备使用该订阅。',
  unnamed: '未知设备',
  shared: '不发送设备标识的应用',
  here: '本设备',
  seen: (when) => `最后在线：${when}`,
  free: '释放名额',
  confirm: '确认释放',
  every: (hours) => `每 ${hours} 小时可释放一个名额。`,
  next: (when) => `${when}可释放下一个名额。`,
  freed: '名额已释放。请立即在新设备的应用中刷新订阅。',
  gone: '没有任何更改：页面已过期，或该名额已空出。请重试。',
  cooling: '没有任何更改：不久前刚释放过一个名额。',
  waiting: (device) => `${device} 没有名额。请在下方释放一个，然后在其应用中刷新订阅。`,
  support: '联系客服',
  newer: '较新的设备',
  older: '更多设备',
  ask: '链接代码或订阅地址',
  askHint: '由服务商提供；在应用中即订阅的地址。',
  open: '打开',
  notFound: '没有对应的页面。请检查输入内容，或联系服务商。',
};

const fa: MyTexts = {
  title: 'اشتراک شما',
  taken: (count, limit) => `${count} جا از ${limit} جا گرفته شده است`,
  none: 'هنوز هیچ دستگاهی از این اشتراک استفاده نمی‌کند.',
  unnamed: 'دستگاه ناشناس',
  shared: 'برنامه‌هایی که دستگاه خود را نمی‌گویند',
  here: 'همین دستگاه',
  seen: (when) => `آخرین بار ${when}`,
  free: 'آزاد کردن جا',
  confirm: 'بله، آزاد شود',
  every: (hours) => `هر ${hours} ساعت یک جا را می‌توان آزاد کرد.`,
  next: (when) => `جای بعدی را ${when} می‌توان آزاد کرد.`,
  freed: 'جا آزاد شد. اکنون اشتراک را در برنامهٔ دستگاه تازه به‌روز کنید.',
  gone: 'چیزی تغییر نکرد: صفحه کهنه بود یا جا از پیش آزاد است. دوباره امتحان کنید.',
  cooling: 'چیزی تغییر نکرد: اندکی پیش جایی آزاد شده است.',
  waiting: (device) =>
    `${device} جا ندارد. در پایین یکی را آزاد کنید و سپس اشتراک را در برنامهٔ آن به‌روز کنید.`,
  support: 'پشتیبانی',
  newer: 'دستگاه‌های تازه‌تر',
  older: 'دستگاه‌های بیشتر',
  ask: 'کد لینک یا نشانی اشتراک شما',
  askHint: 'ارائه‌دهنده آن را به شما داده است؛ در برنامه همان نشانی اشتراک است.',
  open: 'باز کردن',
  notFound: 'صفحه‌ای برای این نیست. آنچه نوشتید را بررسی کنید یا از ارائه‌دهنده بپرسید.',
};

export const MY_TEXTS = { en, ru, zh, fa } as const;

export type MyLanguage = keyof typeof MY_TEXTS;

/** Returns the first tag with texts, else English. */
export function myLanguage(tags: readonly string[]): MyLanguage {
  for (const tag of tags) {
    const language = tag.slice(0, 2).toLowerCase();
    if (Object.hasOwn(MY_TEXTS, language)) return language as MyLanguage;
  }
  return 'en';
}
