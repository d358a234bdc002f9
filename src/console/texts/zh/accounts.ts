import type { accounts as english } from '../en/accounts.ts';
import type { Like } from '../texts.ts';

export const accounts: Like<typeof english> = {
  title: '账户',
  what: '系统的运营者和观察者。服务商的员工在其自己的页面上。',
  you: '您',
  roles: { operator: '运营者', observer: '观察者' },
  rights: {
    operator: '可执行一切操作，包括在每个服务商处。',
    observer: '可查看一切，但不能更改。',
  },
  removeSure: (name) => `移除 ${name}？`,
  removeHint: '该账户失去此处的角色；若没有其他角色则会被删除。',
  rescue: '帮助账户',
  rescueHint: '按名称帮助任何账户，包括服务商的员工。',
  endSessions: '结束其会话',
  ended: (n) => `已结束 ${n} 个会话。`,
  reset: '重置密码和第二因素',
  resetHint: '其密码、第二因素和会话将失效。一个链接可登录一次。',
  entryHint: '此链接在十分钟内可登录一次，不会再次显示。',
};
