import type { overview as english } from '../en/overview.ts';
import type { Like } from '../texts.ts';
import { count } from './count.ts';

export const overview: Like<typeof english> = {
  links: 'Ссылки',
  ofMax: (max) => `не более ${max}`,
  full: 'Заполнены',
  admitted: 'Впущено устройств',
  refused: 'Отказов',
  fortnight: 'за последние 14 дней',
  byDay: 'Впущенные устройства и отказы по дням',
  refusals: 'Ссылки с отказами за сутки',
  noRefusals: 'За последние 24 часа отказов не было.',
  refusalCount: (n) => count(n, 'отказ', 'отказа', 'отказов'),
  until: (date) => `подписка до ${date}`,
  noEnd: 'подписка без срока',
  plan: 'Тариф',
  suspended: 'приостановлена',
};
