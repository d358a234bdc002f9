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
  /** Cuts off a device whose servers were copied: the question, its effect, the answer. */
  cut: string;
  cutAsk: string;
  cutConfirm: string;
  every(hours: string): string;
  next(when: string): string;
  freed: string;
  cutDone: string;
  gone: string;
  cooling: string;
  /** A refused device, where a device may be removed now, and where one may be removed later. */
  waiting(device: string): string;
  waitingLater(device: string, when: string): string;
  /** The days that are left, in the words of Intl: `3 days`; the date of the end. */
  daysLeft(days: string): string;
  endsOn(date: string): string;
  ended(date: string): string;
  /** Traffic, in the units of the language. */
  used(bytes: string): string;
  usedOf(bytes: string, total: string): string;
  pay: string;
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
  taken: (count, limit) => `Devices: ${count} of ${limit}`,
  none: 'No device uses this subscription yet.',
  unnamed: 'Unknown device',
  shared: 'Apps without a device ID',
  here: 'this one',
  seen: (when) => `last seen ${when}`,
  free: 'Remove this device',
  confirm: 'Yes, remove it',
  cut: 'Its servers were copied',
  cutAsk:
    'The device is removed and may not come back. All servers of this subscription change within minutes: every other device must then update the subscription in its app. You can do this once a day.',
  cutConfirm: 'Yes, remove it and change all servers',
  every: (hours) => `You can remove one device every ${hours} h.`,
  next: (when) => `You can remove the next device ${when}.`,
  freed: 'The device is removed. Update the subscription in the app of the new device now.',
  cutDone:
    'The device is removed. The servers change within minutes: then update the subscription in the app of each of your devices.',
  gone: 'Nothing changed: the page was too old, or the device is removed already. Try again.',
  cooling: 'Nothing changed: a device was removed a short time ago.',
  waiting: (device) =>
    `${device} cannot connect: all devices are taken. Remove one below, then update the subscription in its app.`,
  waitingLater: (device, when) =>
    `${device} cannot connect: all devices are taken. You can remove one ${when}; for a faster change contact support.`,
  daysLeft: (days) => `${days} left`,
  endsOn: (date) => `The subscription ends on ${date}`,
  ended: (date) => `The subscription ended on ${date}`,
  used: (bytes) => `Traffic used: ${bytes}`,
  usedOf: (bytes, total) => `Traffic: ${bytes} of ${total}`,
  pay: 'Renew the subscription',
  support: 'Contact support',
  newer: 'Newer devices',
  older: 'More devices',
  ask: 'Code of your link, or your subscription link',
  askHint: 'You got it with the subscription; in the app it is the address of the subscription.',
  open: 'Open',
  notFound: 'There is no page for this. Check what you entered, or contact support.',
};

const ru: MyTexts = {
  title: 'Ваша подписка',
  taken: (count, limit) => `Устройств: ${count} из ${limit}`,
  none: 'Этой подпиской пока не пользуется ни одно устройство.',
  unnamed: 'Неизвестное устройство',
  shared: 'Приложения без идентификатора устройства',
  here: 'это устройство',
  seen: (when) => `последняя активность: ${when}`,
  free: 'Удалить устройство',
  confirm: 'Да, удалить',
  cut: 'С него скопировали серверы',
  cutAsk:
    'Устройство удаляется и больше не сможет подключиться. Все серверы этой подписки сменятся за несколько минут: на остальных устройствах затем нужно обновить подписку в приложении. Так можно сделать раз в сутки.',
  cutConfirm: 'Да, удалить и сменить серверы',
  every: (hours) => `Удалять можно одно устройство раз в ${hours} ч.`,
  next: (when) => `Следующее устройство можно удалить ${when}.`,
  freed: 'Устройство удалено. Обновите подписку в приложении на новом устройстве.',
  cutDone:
    'Устройство удалено. Серверы сменятся за несколько минут: затем обновите подписку в приложении на каждом своём устройстве.',
  gone: 'Ничего не изменилось: страница устарела или устройство уже удалено. Попробуйте ещё раз.',
  cooling: 'Ничего не изменилось: одно устройство недавно уже удаляли.',
  waiting: (device) =>
    `${device} не подключается: лимит устройств исчерпан. Удалите одно из них ниже и обновите подписку в приложении.`,
  waitingLater: (device, when) =>
    `${device} не подключается: лимит устройств исчерпан. Удалить одно из них можно ${when}; если нужно быстрее, напишите в поддержку.`,
  daysLeft: (days) => `Осталось: ${days}`,
  endsOn: (date) => `Подписка действует до ${date}`,
  ended: (date) => `Подписка закончилась ${date}`,
  used: (bytes) => `Израсходовано: ${bytes}`,
  usedOf: (bytes, total) => `Трафик: ${bytes} из ${total}`,
  pay: 'Продлить подписку',
  support: 'Написать в поддержку',
  newer: 'Более новые устройства',
  older: 'Ещё устройства',
  ask: 'Код ссылки или ссылка подписки',
  askHint: 'Вы получили их вместе с подпиской; в приложении это адрес подписки.',
  open: 'Открыть',
  notFound: 'Такой страницы нет. Проверьте, что вы ввели, или напишите в поддержку.',
};

const zh: MyTexts = {
  title: '您的订阅',
  taken: (count, limit) => `设备：${count} / ${limit}`,
  none: '还没有设备使用该订阅。',
  unnamed: '未知设备',
  shared: '不发送设备标识的应用',
  here: '本设备',
  seen: (when) => `最后在线：${when}`,
  free: '删除此设备',
  confirm: '确认删除',
  cut: '该设备的服务器被复制',
  cutAsk:
    '该设备将被删除且不能再次加入。此订阅的所有服务器将在几分钟内更换：其他设备随后需要在应用中更新订阅。每天只能进行一次。',
  cutConfirm: '是的，删除并更换服务器',
  every: (hours) => `每 ${hours} 小时可删除一台设备。`,
  next: (when) => `${when}可删除下一台设备。`,
  freed: '设备已删除。请立即在新设备的应用中更新订阅。',
  cutDone: '设备已删除。服务器将在几分钟内更换：随后请在您的每台设备的应用中更新订阅。',
  gone: '没有任何更改：页面已过期，或该设备已删除。请重试。',
  cooling: '没有任何更改：不久前刚删除过一台设备。',
  waiting: (device) => `${device} 无法连接：设备数已满。请在下方删除一台，然后在其应用中更新订阅。`,
  waitingLater: (device, when) =>
    `${device} 无法连接：设备数已满。${when}可删除一台；如需尽快更换，请联系客服。`,
  daysLeft: (days) => `剩余 ${days}`,
  endsOn: (date) => `订阅将于${date}到期`,
  ended: (date) => `订阅已于${date}到期`,
  used: (bytes) => `已用流量：${bytes}`,
  usedOf: (bytes, total) => `流量：${bytes} / ${total}`,
  pay: '续费',
  support: '联系客服',
  newer: '较新的设备',
  older: '更多设备',
  ask: '链接码或订阅链接',
  askHint: '购买订阅时获得；在应用中即订阅的地址。',
  open: '打开',
  notFound: '没有对应的页面。请检查输入内容，或联系客服。',
};

const fa: MyTexts = {
  title: 'اشتراک شما',
  taken: (count, limit) => `${count} دستگاه از ${limit} دستگاه`,
  none: 'هنوز هیچ دستگاهی از این اشتراک استفاده نمی‌کند.',
  unnamed: 'دستگاه ناشناس',
  shared: 'برنامه‌های بدون شناسهٔ دستگاه',
  here: 'همین دستگاه',
  seen: (when) => `آخرین فعالیت: ${when}`,
  free: 'حذف این دستگاه',
  confirm: 'بله، حذف شود',
  cut: 'سرورهایش کپی شده است',
  cutAsk:
    'این دستگاه حذف می‌شود و دیگر نمی‌تواند برگردد. همهٔ سرورهای این اشتراک تا چند دقیقه عوض می‌شوند: سپس باید در برنامهٔ هر دستگاه دیگر اشتراک را به‌روزرسانی کنید. این کار روزی یک بار ممکن است.',
  cutConfirm: 'بله، حذف و تعویض سرورها',
  every: (hours) => `هر ${hours} ساعت می‌توانید یک دستگاه را حذف کنید.`,
  next: (when) => `دستگاه بعدی را ${when} می‌توانید حذف کنید.`,
  freed: 'دستگاه حذف شد. اکنون اشتراک را در برنامهٔ دستگاه جدید به‌روز کنید.',
  cutDone:
    'دستگاه حذف شد. سرورها تا چند دقیقه عوض می‌شوند: سپس در برنامهٔ هر یک از دستگاه‌های خود اشتراک را به‌روزرسانی کنید.',
  gone: 'چیزی تغییر نکرد: صفحه قدیمی بود یا دستگاه پیش‌تر حذف شده است. دوباره امتحان کنید.',
  cooling: 'چیزی تغییر نکرد: اندکی پیش دستگاهی حذف شده است.',
  waiting: (device) =>
    `${device} وصل نمی‌شود: ظرفیت دستگاه‌ها پر است. یکی را در پایین حذف کنید و سپس اشتراک را در برنامهٔ آن به‌روز کنید.`,
  waitingLater: (device, when) =>
    `${device} وصل نمی‌شود: ظرفیت دستگاه‌ها پر است. ${when} می‌توانید یکی را حذف کنید؛ اگر زودتر لازم دارید به پشتیبانی پیام دهید.`,
  daysLeft: (days) => `${days} مانده`,
  endsOn: (date) => `اشتراک تا ${date} فعال است`,
  ended: (date) => `اشتراک در ${date} تمام شد`,
  used: (bytes) => `حجم مصرف‌شده: ${bytes}`,
  usedOf: (bytes, total) => `حجم: ${bytes} از ${total}`,
  pay: 'تمدید اشتراک',
  support: 'پیام به پشتیبانی',
  newer: 'دستگاه‌های جدیدتر',
  older: 'دستگاه‌های بیشتر',
  ask: 'کد لینک یا لینک اشتراک شما',
  askHint: 'آن را همراه اشتراک گرفته‌اید؛ در برنامه همان آدرس اشتراک است.',
  open: 'باز کردن',
  notFound: 'صفحه‌ای برای این نیست. آنچه را نوشتید بررسی کنید یا به پشتیبانی پیام دهید.',
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
