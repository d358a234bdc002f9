import type { account as english } from '../en/account.ts';
import type { Like } from '../texts.ts';

export const account: Like<typeof english> = {
  title: 'Учётная запись',
  finish:
    'Вы вошли по одноразовой ссылке. Задайте пароль или добавьте ключ доступа, чтобы вернуться.',
  password: 'Пароль',
  passwordHint: 'Не менее 10 знаков. При смене пароля другие сеансы завершаются.',
  setPassword: 'Задать пароль',
  isSet: 'Пароль задан.',
  passkeys: 'Ключи доступа',
  passkeyHint: 'Отпечаток, лицо или аппаратный ключ. Нужно имя узла, а не IP-адрес.',
  passkeyName: 'Название этого устройства',
  addPasskey: 'Добавить ключ доступа',
  remove: 'Удалить',
  rename: 'Переименовать',
  byKey: 'Вы вошли с основным ключом провайдера. Смена ключа завершает все его сеансы.',
  surePasskey: (name) => `Убрать ключ доступа ${name}?`,
  surePasskeyHint: 'Войти с ним будет нельзя.',
  sessions: 'Сеансы',
  thisOne: 'этот браузер',
  end: 'Завершить',
  factor: 'Приложение с кодами',
  factorHint: 'Код в дополнение к паролю.',
  beginFactor: 'Настроить',
  scan: 'Отсканируйте это приложением и введите код, который оно покажет.',
  confirm: 'Подтвердить',
  inForce: 'Кроме пароля спрашивается код.',
  removeFactor: 'Отключить',
  recovery: 'Сохраните коды восстановления: каждый действует один раз, больше они не показываются.',
  seen: (time) => `последний раз ${time}`,
  agent: (browser, system) => `${browser}, ${system}`,
};
