import type { command as english } from '../en/command.ts';
import type { Like } from '../texts.ts';

export const command: Like<typeof english> = {
  title: 'Новая команда',
  what: 'Команду выполняет приложение, владельца не спрашивая.',
  action: 'Что делает приложение',
  unchanged: 'как есть',
  reset: 'вернуть своё',
  updateHint: 'Приложение заново получает подписку.',
  changeType: 'Что меняется',
  domain: 'домен у всех',
  url: 'весь адрес',
  changeValue: 'Новое значение',
  changeHint: 'Старое должно работать, пока не перейдут все устройства.',
  data: 'Что импортируется',
  dataHint: 'Конфигурация или адрес, как их читает приложение.',
  newer: 'Настройки новых приложений',
  newerHint: 'Старые приложения их не замечают. Неподходящее значение всё равно отправляется.',
  custom: 'Другие настройки',
  customWrong: 'Каждая строка: ключ=значение.',
  customHint: 'По одной в строке: ключ=значение. Значение в виде JSON отправляется как JSON.',
  actions: {
    'update-subscription': 'Обновить подписку',
    'set-settings': 'Настройки',
    'sub-change': 'Другой адрес',
    'import-data': 'Импорт',
  },
};
