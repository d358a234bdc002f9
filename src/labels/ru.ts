import type { Choices, Labels } from './en.ts';

export const labels: Labels = {
  install_limit: 'лимит устройств',
  status: 'состояние',
  note: 'заметка',
  subscription_key: 'ключ подписки',
  inactive_days: 'дней без использования',
  when_full: 'новое устройство на заполненной ссылке',
  cool_down_hours: 'часов между заменами',
  enforce: 'соблюдение лимита',
  without_hwid: 'приложения без HWID',
  same_phone: 'телефон с новым HWID',
  ride: 'что передаётся с подпиской',
  ride_desktop: 'уведомления для настольных систем',
  support_url: 'кнопка поддержки',
  web_page_url: 'кнопка страницы',
  buttons: 'когда передаются кнопки',
  page: 'страница клиента',
  page_name: 'название на странице',
  page_color: 'цвет страницы',
  name: 'название',
  plan: 'тариф',
  active_until: 'конец тарифа',
  suspended_at: 'приостановлен с',
  max_links: 'лимит ссылок',
};

export const choices: Choices = {
  status: { 5: 'отключена', 10: 'активна' },
  when_full: { refuse: 'получает отказ', 'replace-oldest': 'вытесняет самое старое' },
  enforce: { 1: 'действует', 0: 'только считает' },
  without_hwid: { refuse: 'получают отказ', pass: 'проходят', count: 'делят одно место' },
  same_phone: {
    off: 'новое устройство',
    ask: 'сначала спросить вас',
    replace: 'получает своё старое место',
  },
  ride: { off: 'ничего', notifications: 'только уведомления' },
  ride_desktop: { 0: 'не передаются', 1: 'тоже передаются' },
  buttons: { missing: 'если панель не передаёт своих', always: 'всегда' },
};
