import type { texts as english } from '../en/frame.ts';
import type { Like } from '../texts.ts';

const common: Like<typeof english.common> = {
  save: 'Сохранить',
  saved: 'Сохранено.',
  close: 'Закрыть',
  cancel: 'Отмена',
  remove: 'Удалить',
  enable: 'Включить',
  disable: 'Отключить',
  change: 'Изменить',
  more: 'Показать ещё',
  further: 'Искать дальше',
  stop: 'Остановить',
  goOn: 'Продолжить',
  name: 'Имя',
  password: 'Пароль',
  key: 'Ключ',
  plan: 'Тариф',
  state: 'Состояние',
  file: 'Файл',
  actions: 'Действия',
  asItIs: 'как есть',
  system: 'Система',
  address: 'Адрес',
  off: 'отключён',
  restored: 'Здесь то, что вы ввели раньше.',
  throwAway: 'Стереть',
  numbered: (id) => `№ ${id}`,
};

const shell: Like<typeof english.shell> = {
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
  noRoleHint: 'Попросите у владельца приглашение или создайте провайдера: gatepost provider add.',
  noRightHint: 'Другую роль может дать владелец.',
  offline: 'Нет связи. Данные на экране могли устареть; они обновятся сами.',
};

const signIn: Like<typeof english.signIn> = {
  title: 'Вход',
  hint: 'Ссылки, устройства и сообщения вашего сервиса.',
  byAccount: 'Учётная запись',
  byKey: 'Ключ провайдера',
  code: 'Код из приложения',
  codeHint: 'Шесть цифр или один из кодов восстановления.',
  providerCode: 'Код провайдера',
  keyHint: 'Ключ auth_key от API. Он проверяется один раз и здесь не хранится.',
  enter: 'Войти',
  passkey: 'Войти с ключом доступа',
  invited: 'Вас пригласили',
  invitedHint: 'Выберите имя для входа.',
  linkOver: 'Ссылка больше не действует или уже использована. Попросите новую.',
  signedInAs: (name) => `Вы вошли как ${name}. Открытая ссылка — для отдельного входа.`,
  leaveFor: 'Выйти и открыть ссылку',
  accept: 'Принять',
};

const account: Like<typeof english.account> = {
  title: 'Учётная запись',
  finish:
    'Войти снова вы пока не сможете. Задайте пароль или добавьте ключ доступа в течение десяти минут после перехода по ссылке; позже понадобится новая ссылка.',
  passwordHint: 'Не менее 10 знаков. При смене пароля другие сеансы завершаются.',
  setPassword: 'Задать пароль',
  isSet: 'Пароль задан.',
  passkeys: 'Ключи доступа',
  passkeyHint: 'Отпечаток, лицо или аппаратный ключ. Нужно имя узла, а не IP-адрес.',
  passkeyName: 'Название этого устройства',
  addPasskey: 'Добавить ключ доступа',
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

const palette: Like<typeof english.palette> = {
  name: 'Перейти к странице, записи или действию',
  hint: 'Страница, ссылка, заметка, HWID, номер сообщения или действие',
  pages: 'Страницы',
  records: 'Записи',
  nothing: 'Ничего не найдено.',
  keys: 'Клавиши',
  keyPalette: 'эта палитра',
  keySearch: 'поиск на странице',
  keyMove: 'движение по списку',
  keyOpen: 'открыть выбранное',
  keyClose: 'закрыть открытое',
  keyUndo: 'отменить удаление устройств или массовое изменение',
  open: 'Поиск',
  theme: (name) => `Тема: ${name}`,
  message: (id) => `Сообщение ${id}`,
};

const copying: Like<typeof english.copying> = {
  copy: 'Скопировать',
  copied: 'Скопировано',
  asCurl: 'Скопировать как curl',
  failed: 'Не скопировано: браузер не разрешает.',
};

/** The rules of fields. */
const misfit: Like<typeof english.misfit> = {
  somewhere: 'Одно из введённых значений не подходит:',
  length: (a, b) => `от ${a} до ${b} символов`,
  range: (a, b) => `целое число от ${a} до ${b}`,
  address: 'полный адрес https, доступный из интернета',
  empty: 'поле не может быть пустым',
  placeholder: (name) => `неизвестный шаблон ${name}`,
  other: 'это значение не подходит',
};

export const texts = { common, shell, signIn, account, palette, copying, misfit };
