import type { activity as english } from '../en/activity.ts';
import type { Like } from '../texts.ts';
import { count } from './count.ts';

const devices = (n: unknown) => count(Number(n), 'устройство', 'устройства', 'устройств');
const scopes: Readonly<Record<string, string>> = {
  read: 'чтение',
  links: 'ссылки',
  send: 'отправка',
  ties: 'привязка подписок',
  cuts: 'ссылки и смена доступа',
};
const cutStates: Readonly<Record<string, string>> = {
  done: 'выполнена',
  impossible: 'невозможна',
  differs: 'изменилось и другое поле',
  ended: 'не удалась за сутки',
  changed: 'доступ уже был новым',
};
const roles: Readonly<Record<string, string>> = {
  owner: 'владелец',
  sender: 'отправитель',
  support: 'поддержка',
  reader: 'читатель',
  operator: 'оператор',
  observer: 'наблюдатель',
};
const role = (name: unknown) => roles[`${name}`] ?? `${name}`;

export const activity: Like<typeof english> = {
  title: 'Действия',
  groups: {
    all: 'Все',
    links: 'Ссылки',
    messages: 'Сообщения',
    domains: 'Домены',
    people: 'Ключи и люди',
    webhooks: 'Вебхуки',
  },
  group: 'Что',
  actor: 'Кто',
  actors: {
    all: 'Кто угодно',
    account: 'Сотрудники',
    provider: 'Ключ провайдера',
    operator: 'Оператор',
    system: 'Сам Gatepost',
    user: 'Пользователи',
  },
  byKey: (key) => `ключ ${key}`,
  from: (address) => `с адреса ${address}`,
  folded: (n, by) => `Таких изменений вместе: ${n}, показано последнее; кто: ${by}`,
  unlisted: (n) => `До этого без записи: ${count(n, 'изменение', 'изменения', 'изменений')}`,
  none: 'Здесь пока пусто',
  noneHint: 'Запись остаётся от каждого изменения ссылок, доменов, сообщений, ключей и людей.',
  noMatch: 'Таких записей нет',
  noMatchHint: 'Выберите другой фильтр.',
  looking: 'Среди новых записей таких нет; можно искать среди прежних.',
  shown: (n) => `Показано: ${count(n, 'запись', 'записи', 'записей')}`,
  change: (field, before, after) => `${field}: ${before} → ${after}`,
  changed: (field) => `изменено: ${field}`,
  nothing: 'нет',
  usual: 'по умолчанию',
  values: {
    page: { on: 'включена' },
    enabled: { true: 'да', false: 'нет' },
  },
  sentences: {
    'install.add': ({ id, install_limit: n }) => `Создана ссылка ${id}, предел: ${devices(n)}`,
    'install.update': ({ id }) => `Изменена ссылка ${id}`,
    'install.import': ({ id, hwids }) => `Перенесена ссылка ${id}: ${devices(hwids)}`,
    'install.free': ({ id, hwids }) => `Со ссылки ${id} удалено: ${devices(hwids)}`,
    'install.update-many': ({ links, looked_at }) => `Изменено ссылок: ${links} из ${looked_at}`,
    'install.remove-many': ({ links }) => `Удалено ссылок: ${links}`,
    'install.revoke': ({ id, hwids }) =>
      `Ссылка ${id} получила новый код, удалено: ${devices(hwids)}`,
    'install.remove': ({ id, hwids }) => `Удалена ссылка ${id}, на ней: ${devices(hwids)}`,
    'install.tie': ({ id }) => `К ссылке ${id} привязана подписка`,
    'install.untie': ({ id }) => `От ссылки ${id} отвязана подписка`,
    'hwid.name': ({ install_id: id }) => `Для ссылки ${id} указаны устройства`,
    'hwid.delete': ({ install_id: id }) => `Со ссылки ${id} удалено устройство`,
    'hwid.ignore-copies': ({ install_id: id }) =>
      `Телефоны с одним HWID ссылки ${id} принадлежат одному человеку`,
    'cut.ask': ({ install_id: id, cut: n }) => `Смена доступа ссылки ${id} запрошена (${n})`,
    'cut.cancel': ({ install_id: id, cut: n }) => `Смена доступа ${n} ссылки ${id} отменена`,
    'cut.end': ({ install_id: id, cut: n, state }) =>
      `Смена доступа ${n} ссылки ${id}: ${cutStates[`${state}`] ?? state}`,
    'cut.resume': ({ host }) => `Смена доступа на ${host} снова разрешена`,
    'bar.lift': ({ install_id: id }) => `Отключённое устройство снова допущено к ссылке ${id}`,
    'domain.add': ({ id }) => `Привязан домен ${id}`,
    'domain.activate': ({ id }) => `Домен ${id} снова привязан`,
    'domain.rename': ({ id }) => `Домен ${id} назван иначе`,
    'domain.delete': ({ id }) => `Домен ${id} отключён`,
    'domain.import': ({ id }) => `Перенесён домен ${id}`,
    'notification.send': ({ id, ...about }) => `Отправлено сообщение ${id}: ${target(about)}`,
    'command.send': ({ id, action_type: action, ...about }) =>
      `Отправлена команда ${id}, ${action}: ${target(about)}`,
    'distribution.cancel': ({ id }) => `Отменено сообщение ${id}`,
    'distribution.block': ({ id }) => `Остановлено сообщение ${id}`,
    'provider.add': ({ plan }) => `Создан провайдер с тарифом ${plan}`,
    'provider.set': () => 'Изменены настройки провайдера',
    'provider.suspend': () => 'Тариф Gatepost приостановлен',
    'provider.resume': () => 'Тариф Gatepost возобновлён',
    'provider.ties': ({ ties }) =>
      ties === 'on' ? 'Привязка подписок включена' : 'Привязка подписок выключена',
    'provider.rotate-key': () => 'Провайдер получил новый ключ',
    'provider.visit': () => 'Открыты страницы провайдера',
    'database.download': () => 'Скачана копия базы данных',
    'provider.remove': ({ links }) =>
      `Началось удаление: ${count(Number(links), 'ссылка', 'ссылки', 'ссылок')}`,
    'account.add': ({ id, role: name }) => `Добавлена учётная запись ${id}: ${role(name)}`,
    'account.change-role': ({ id }) => `У учётной записи ${id} другая роль`,
    'account.remove-role': ({ id, role: name }) => `Учётная запись ${id} больше не ${role(name)}`,
    'account.set-password': ({ password }) =>
      password === 'set' ? 'Пароль задан' : 'Пароль убран',
    'account.set-second-factor': () => 'Изменён второй фактор',
    'account.use-recovery-code': ({ left }) => `Использован код восстановления, осталось ${left}`,
    'account.add-passkey': () => 'Добавлен ключ доступа',
    'account.rename-passkey': () => 'Ключ доступа назван иначе',
    'account.remove-passkey': () => 'Ключ доступа удалён',
    'account.invite': ({ role: name }) =>
      name ? `Приглашение на роль: ${role(name)}` : 'Сделана одноразовая ссылка для входа',
    'session.open': () => 'Вход в консоль',
    'session.end': ({ count: n }) => `Завершено: ${count(Number(n), 'сеанс', 'сеанса', 'сеансов')}`,
    'key.add': ({ key, scope }) => `Создан ключ ${key}: ${scopes[`${scope}`] ?? scope}`,
    'key.remove': ({ key }) => `Удалён ключ ${key}`,
    'bot.add': ({ host }) => `Боту на ${host} выдан секрет`,
    'bot.remove': ({ host }) => `Секрет бота на ${host} отозван`,
    'reminder.add': ({ id }) => `Напоминание ${id} добавлено`,
    'reminder.set': ({ id }) => `Напоминание ${id} изменено`,
    'reminder.remove': ({ id }) => `Напоминание ${id} удалено`,
    'reminder.resume': () => 'Напоминания возобновлены',
    'reminder.confirm': () => 'Изменения, сделанные ключами API, подтверждены',
    'webhook.add': ({ id }) => `Добавлен вебхук ${id}`,
    'webhook.update': ({ id }) => `Изменён вебхук ${id}`,
    'webhook.rotate': ({ id }) => `У вебхука ${id} новый секрет`,
    'webhook.remove': ({ id }) => `Удалён вебхук ${id}`,
    'upstream.add': ({ host }) => `Добавлен апстрим ${host}`,
    'upstream.update': ({ host }) => `Апстрим ${host} изменён`,
    'upstream.remove': ({ host }) => `Апстрим ${host} удалён`,
    'follow.accept': ({ host, missing }) =>
      `Слежение за панелью ${host} может продолжаться: пропавших пользователей ${missing}`,
    'device.forget': () => 'Устройство удалено отовсюду',
    'database.restore': () => 'База восстановлена из резервной копии',
    'database.move': () => 'База перенесена в другой вид',
    'clock.trust': ({ count }) => `Часы признаны верными: ${count}`,
    'audit.prune': ({ entries }) => `Удалено старых записей: ${entries}`,
  },
};

function target({ hwids, os }: Readonly<Record<string, unknown>>): string {
  return os ? `все на ${os}` : devices(hwids);
}
