import type { shell as english } from '../en/shell.ts';
import type { Like } from '../texts.ts';

export const shell: Like<typeof english> = {
  overview: 'Обзор',
  links: 'Ссылки',
  account: 'Учётная запись',
  provider: 'Провайдер',
  theme: 'Тема',
  auto: 'Система',
  light: 'Светлая',
  dark: 'Тёмная',
  languageName: 'Язык',
  leave: 'Выйти',
  navigation: 'Страницы',
  skip: 'К содержанию',
  noRole: 'Провайдера пока нет',
  noRoleHint: 'Попросите владельца о приглашении или добавьте его: gatepost provider add.',
  offline: 'Нет связи. Данные на экране могли устареть; они обновятся сами.',
};
