import type { signIn as english } from '../en/sign-in.ts';
import type { Like } from '../texts.ts';

export const signIn: Like<typeof english> = {
  title: 'Вход',
  hint: 'Ссылки, устройства и сообщения вашего сервиса.',
  byAccount: 'Учётная запись',
  byKey: 'Ключ провайдера',
  name: 'Имя',
  password: 'Пароль',
  code: 'Код из приложения',
  codeHint: 'Шесть цифр или один из кодов восстановления.',
  providerCode: 'Код провайдера',
  key: 'Ключ',
  keyHint: 'Ключ auth_key от API. Он проверяется один раз и здесь не хранится.',
  enter: 'Войти',
  passkey: 'Войти с ключом доступа',
  invited: 'Вас пригласили',
  invitedHint: 'Выберите имя для входа.',
  accept: 'Принять',
};
