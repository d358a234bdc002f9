/** The texts of the page of news, in the languages of refusals. */

import type { MyLanguage } from './texts.ts';

export interface NewsTexts {
  title: string;
  /** The button on the page of a link that opens the news. */
  lead: string;
  about: string;
  get: string;
  on: string;
  stop: string;
  stopAll: string;
  none: string;
  places: string;
  openLink: string;
  denied: string;
  full: string;
  failed: string;
  unable: string;
  apple: string;
  appleShare: string;
  appleAdd: string;
  noScript: string;
}

const en: NewsTexts = {
  title: 'Messages',
  lead: 'Receive news on this phone',
  about:
    'You then get messages here about maintenance and outages. It does not use one of your devices.',
  get: 'Receive news on this phone',
  on: 'You receive news in this browser.',
  stop: 'Stop in this browser',
  stopAll: 'Stop in all browsers',
  none: 'There is no news yet.',
  places: 'Devices of the subscription',
  openLink: 'Open',
  denied: 'The browser does not allow notifications from here. Allow them in its settings.',
  full: 'Five browsers receive news already. Stop in all of them, then turn it on here.',
  failed: 'It did not work. Try again later.',
  unable: 'This browser cannot receive news.',
  apple: 'On iPhone and iPad (from iOS 16.4) news comes to apps on the home screen:',
  appleShare: 'Tap the share sign.',
  appleAdd: 'Choose “Add to Home Screen”, and open the page from there.',
  noScript: 'Scripts are switched off in this browser: it cannot receive news.',
};

const ru: NewsTexts = {
  title: 'Новости',
  lead: 'Получать новости на этом телефоне',
  about:
    'Сюда будут приходить сообщения о работах и сбоях. Устройством в вашем лимите это не считается.',
  get: 'Получать новости на этом телефоне',
  on: 'Вы получаете новости в этом браузере.',
  stop: 'Отключить в этом браузере',
  stopAll: 'Отключить во всех браузерах',
  none: 'Новостей пока нет.',
  places: 'Устройства подписки',
  openLink: 'Открыть',
  denied: 'Браузер не разрешает уведомления с этого сайта. Разрешите их в его настройках.',
  full: 'Новости уже приходят в пять браузеров. Отключите их во всех, затем включите здесь.',
  failed: 'Не получилось. Попробуйте позже.',
  unable: 'Этот браузер не может получать новости.',
  apple: 'На iPhone и iPad (с iOS 16.4) новости приходят в приложения на экране «Домой»:',
  appleShare: 'Нажмите знак «Поделиться».',
  appleAdd: 'Выберите «На экран „Домой“» и откройте страницу оттуда.',
  noScript: 'В этом браузере отключены скрипты: он не может получать новости.',
};

const zh: NewsTexts = {
  title: '通知',
  lead: '在此手机上接收通知',
  about: '您将在此收到维护和故障通知。这不会占用设备数。',
  get: '在此手机上接收通知',
  on: '此浏览器正在接收通知。',
  stop: '在此浏览器停止',
  stopAll: '在所有浏览器停止',
  none: '还没有通知。',
  places: '订阅的设备',
  openLink: '打开',
  denied: '浏览器不允许此网站发送通知。请在浏览器设置中允许。',
  full: '已有五个浏览器在接收通知。请先全部停止，再在此开启。',
  failed: '未能成功。请稍后再试。',
  unable: '此浏览器无法接收通知。',
  apple: '在 iPhone 和 iPad 上（iOS 16.4 起），通知会发送到主屏幕上的应用：',
  appleShare: '点按分享图标。',
  appleAdd: '选择“添加到主屏幕”，然后从主屏幕打开此页面。',
  noScript: '此浏览器已关闭脚本，无法接收通知。',
};

const fa: NewsTexts = {
  title: 'خبرها',
  lead: 'دریافت خبرها در این گوشی',
  about: 'خبر تعمیرات و اختلال‌ها اینجا به شما می‌رسد. جزو دستگاه‌های شما شمرده نمی‌شود.',
  get: 'دریافت خبرها در این گوشی',
  on: 'خبرها در این مرورگر می‌رسند.',
  stop: 'توقف در این مرورگر',
  stopAll: 'توقف در همهٔ مرورگرها',
  none: 'هنوز خبری نیست.',
  places: 'دستگاه‌های اشتراک',
  openLink: 'باز کردن',
  denied: 'مرورگر اجازهٔ اعلان از اینجا را نمی‌دهد. در تنظیمات آن اجازه دهید.',
  full: 'پنج مرورگر خبر می‌گیرند. در همه متوقف کنید و سپس اینجا روشن کنید.',
  failed: 'انجام نشد. بعداً دوباره امتحان کنید.',
  unable: 'این مرورگر نمی‌تواند خبر بگیرد.',
  apple: 'در آیفون و آیپد (از iOS 16.4) خبرها به برنامه‌های صفحهٔ اصلی می‌رسند:',
  appleShare: 'نشان اشتراک‌گذاری را لمس کنید.',
  appleAdd: '«افزودن به صفحهٔ اصلی» را انتخاب کنید و صفحه را از آنجا باز کنید.',
  noScript: 'اسکریپت‌ها در این مرورگر خاموش‌اند: خبر نمی‌گیرد.',
};

export const NEWS_TEXTS: Readonly<Record<MyLanguage, NewsTexts>> = { en, ru, zh, fa };
