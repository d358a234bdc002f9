import type { reasons as english } from '../en/reasons.ts';
import type { Like } from '../texts.ts';

export const reasons: Like<typeof english> = {
  hwid_required: '应用未发送 HWID',
  link_domain_not_bound: '域名未绑定',
  link_disabled: '链接已停用',
  link_limit_reached: '链接已满',
};
