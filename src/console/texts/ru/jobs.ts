import type { jobs as english } from '../en/jobs.ts';
import type { Like } from '../texts.ts';

export const jobs: Like<typeof english> = {
  title: 'Идущие изменения',
  changing: 'Ссылки изменяются',
  removing: 'Ссылки удаляются',
  freeingAll: 'Со ссылки снимаются все устройства',
  revoking: 'Ссылка получает новый код',
  undo: 'Отменить',
  stop: 'Остановить',
  freeing: (hwid) => `Снимается устройство ${hwid}`,
  in: (s) => `через ${s} с`,
  of: (seen, all) => `${seen} из ${all}`,
};
