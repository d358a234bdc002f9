import type { staff as english } from '../en/staff.ts';
import type { Like } from '../texts.ts';
import { count } from './count.ts';

export const staff: Like<typeof english> = {
  title: 'Ключи и сотрудники',
  people: 'Сотрудники',
  peopleHint: 'У каждого своя учётная запись и своя роль.',
  noneYet: 'Ролей здесь пока нет ни у кого. Основной ключ входит как владелец.',
  name: 'Имя',
  role: 'Роль',
  signsIn: 'Как входит',
  lastSeen: 'Последний вход',
  actions: 'Действия',
  never: 'ещё не входил',
  remove: 'Убрать',
  invite: 'Пригласить',
  invitationHint:
    'Отправьте этот адрес человеку. Он действует один раз, в течение десяти минут, и больше не будет показан.',
  byPasskey: 'ключ доступа',
  byPassword: 'пароль',
  byBoth: 'пароль и код',
  byNothing: 'пока никак',
  keys: 'Ключи для частей API',
  keysHint:
    'Дайте каждой программе свой ключ, и прав не больше, чем ей нужно. Вебхуки, ключи, сотрудники и домены требуют основного ключа.',
  keyNameHint: 'Программа, которая им пользуется.',
  scope: 'Право',
  made: 'Создан',
  ends: 'Срок',
  noEnd: 'без срока',
  addKey: 'Создать ключ',
  keyOnce: 'Это его auth_key. Больше он не будет показан.',
  sureMemberHint: 'Роль кончится сразу, и на открытых страницах.',
  sureKeyHint: 'Программе с этим ключом будет сразу отказано.',
  sureMember: (name) => `Забрать роль у ${name}?`,
  sureKey: (name) => `Убрать ключ ${name}?`,
  roles: {
    owner: 'Владелец',
    sender: 'Отправитель',
    support: 'Поддержка',
    reader: 'Наблюдатель',
  },
  rights: {
    owner: 'всё, также ключи и сотрудники',
    sender: 'ссылки и сообщения',
    support: 'смотрит, освобождает места, объясняет отказы',
    reader: 'только смотрит',
  },
  scopes: {
    read: 'смотреть',
    links: 'менять ссылки',
    send: 'отправлять сообщения',
  },
  roleOf: (name) => `Роль: ${name}`,
  in: (days) => `через ${count(days, 'день', 'дня', 'дней')}`,
};
