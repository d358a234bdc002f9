import type { links as english } from '../en/links.ts';
import type { Like } from '../texts.ts';
import { count } from './count.ts';

export const links: Like<typeof english> = {
  search: 'Код, заметка, HWID или устройство',
  all: 'Все',
  full: 'Заполненные',
  disabled: 'Отключённые',
  code: 'Код',
  note: 'Заметка',
  devices: 'Устройства',
  status: 'Состояние',
  made: 'Создана',
  active: 'действует',
  off: 'отключена',
  add: 'Новая ссылка',
  limit: 'Не более устройств',
  limitHint: 'От 1 до 100.',
  noteHint: 'Только для вас: имя, заказ.',
  create: 'Создать',
  cancel: 'Отмена',
  ofLimit: (n, limit) => `${n} / ${limit}`,
  isReady: (code) => `Ссылка ${code} готова.`,
  more: 'Показать ещё',
  none: 'Ссылок пока нет',
  noneHint:
    'Ссылка впускает столько устройств, сколько вы разрешите. Создайте её и откройте на телефоне.',
  noMatch: 'Ничего не найдено',
  noMatchHint: 'Поиск идёт по кодам, заметкам, названиям устройств и началу HWID.',
  count: (n) => `Показано: ${count(n, 'ссылка', 'ссылки', 'ссылок')}`,
};
