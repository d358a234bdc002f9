import type { reasons as english } from '../en/reasons.ts';
import type { Like } from '../texts.ts';

export const reasons: Like<typeof english> = {
  hwid_required: 'приложение не прислало HWID',
  link_domain_not_bound: 'домен не привязан',
  link_disabled: 'ссылка отключена',
  link_limit_reached: 'ссылка заполнена',
};
