import type { overview as english } from '../en/overview.ts';
import type { Like } from '../texts.ts';
import { count } from './count.ts';

export const overview: Like<typeof english> = {
  links: 'Ссылки',
  ofMax: (max) => `не более ${max}`,
  full: 'Заполнены',
  admitted: 'Впущено устройств',
  refused: 'Отказов',
  fortnight: 'за последние 14 дней',
  byDay: 'Впущенные устройства и отказы по дням',
  refusals: 'Ссылки с отказами за сутки',
  noRefusals: 'За последние 24 часа отказов не было.',
  refusalCount: (n) => count(n, 'отказ', 'отказа', 'отказов'),
  until: (date) => `подписка до ${date}`,
  noEnd: 'подписка без срока',
  plan: 'Тариф',
  suspended: 'приостановлена',
  suspendedHint:
    'Подписка приостановлена: менять и отправлять ничего нельзя. Ссылки по-прежнему впускают устройства.',
  endedHint:
    'Подписка закончилась: менять и отправлять ничего нельзя. Ссылки по-прежнему впускают устройства.',
  noDomain: 'Ни один домен не привязан: новые устройства не впускаются.',
  look: 'Посмотреть',
  mix: 'Устройства по системам и приложениям',
  mixLater: 'Устройств много, их считают раз в день; загляните через час.',
  noDevices: 'Устройств пока нет.',
  otherSystem: 'другая',
  otherApp: 'другое приложение',
  next: 'Ближайшие отправки',
  noNext: 'Ничего не запланировано.',
  notification: 'Уведомление',
  command: 'Команда',
  webhooksOff: (n) => `Выключено: ${count(n, 'вебхук', 'вебхука', 'вебхуков')}.`,
  toDevices: (n) => `на ${count(n, 'устройство', 'устройства', 'устройств')}`,
  quotas: 'Пределы',
  quota: {
    links: 'Ссылки',
    domains: 'Домены',
    webhooks: 'Вебхуки',
    keys: 'Ключи',
    sends: 'Отправки за эту минуту',
    kept_bytes: 'Хранимые сообщения',
    ledger_rows: 'Строки журнала получателей',
  },
  usedOf: (used, max) => `${used} / ${max}`,
};
