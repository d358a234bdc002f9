import type { reasons as english } from '../en/reasons.ts';
import type { Like } from '../texts.ts';

export const reasons: Like<typeof english> = {
  hwid_required: 'برنامه HWID نفرستاد',
  link_domain_not_bound: 'دامنه متصل نیست',
  link_disabled: 'پیوند غیرفعال است',
  link_limit_reached: 'پیوند پر است',
};
