import type { jobs as english } from '../en/jobs.ts';
import type { Like } from '../texts.ts';

export const jobs: Like<typeof english> = {
  title: 'Идущие изменения',
  changing: 'Ссылки изменяются',
  removing: 'Ссылки удаляются',
  freeingAll: 'Со ссылки снимаются все устройства',
  revoking: 'Ссылка получает новый код',
  failed: 'Не удалось:',
  unknown: 'Изменение',
  dismiss: 'Скрыть',
  undo: 'Отменить',
  stop: 'Остановить',
  freeing: (hwid) => `Снимается устройство ${hwid}`,
  in: (s) => `через ${s} с`,
  of: (seen, all) => `${seen} из ${all}`,
  changed: (n, all) => `готово: изменено ${n} из ${all}`,
  stopped: (n, all) => `остановлено: изменено ${n} из ${all}`,
  problems: {
    no_right: 'у начавшего больше нет на это права, или ключ сменили',
    subscription_required: 'подписка закончилась или приостановлена',
    more_links_match: 'подходит больше ссылок, чем было показано; лишние не тронуты',
    not_understood: 'его сохранила другая версия программы',
    install_not_found: 'ссылки больше нет',
    install_code_error: 'ссылки больше нет',
    fault: 'на сервере что-то пошло не так, причина в его журнале',
  },
};
