import type { refusals as english } from '../en/refusals.ts';
import type { Like } from '../texts.ts';

export const refusals: Like<typeof english> = {
  offline: 'Сервер не отвечает. Введённое осталось на месте.',
  fault: 'На сервере что-то пошло не так, причина в его журнале.',
  sign_in_wrong: 'Неверно. Проверьте, что вы ввели.',
  code_needed: 'Введите код из приложения.',
  code_wrong: 'Код неверен или уже использован.',
  too_many_requests: 'Слишком много попыток. Подождите минуту.',
  signed_out: 'Сеанс завершён.',
  no_right: 'Ваша роль этого не позволяет.',
  sign_in_afresh: 'Сначала войдите заново: способы входа меняют в течение десяти минут после него.',
  account_exists: 'Это имя занято.',
  passkey_wrong: 'Ключ доступа не удалось проверить. Попробуйте ещё раз.',
  passkey_exists: 'Этот ключ доступа уже есть.',
  subscription_required: 'Подписка закончилась или приостановлена.',
  install_code_limit_reached: 'Ссылок уже столько, сколько разрешено.',
  outdated: 'Установлена новая версия. Загрузите страницу заново.',
};
