import type { accounts as english } from '../en/accounts.ts';
import type { Like } from '../texts.ts';
import { count } from './count.ts';

export const accounts: Like<typeof english> = {
  title: 'Учётные записи',
  what: 'Операторы и наблюдатели. Сотрудники провайдера — на его страницах.',
  you: 'вы',
  roles: { operator: 'Оператор', observer: 'Наблюдатель' },
  rights: {
    operator: 'может всё, также у каждого провайдера.',
    observer: 'видит всё и ничего не меняет.',
  },
  removeSure: (name) => `Удалить ${name}?`,
  removeHint: 'Запись потеряет роль здесь; без другой роли она удалится.',
  rescue: 'Помочь учётной записи',
  rescueHint: 'Любой, по имени; также сотруднику провайдера.',
  endSessions: 'Завершить её сеансы',
  ended: (n) => `Завершено: ${count(n, 'сеанс', 'сеанса', 'сеансов')}.`,
  reset: 'Сбросить пароль и второй фактор',
  resetHint: 'Пароль, второй фактор и сеансы перестанут действовать. Ссылка впустит один раз.',
  entryHint: 'Ссылка впустит один раз в ближайшие десять минут. Больше она не покажется.',
};
