import type { jobs as english } from '../en/jobs.ts';
import type { Like } from '../texts.ts';

export const jobs: Like<typeof english> = {
  title: '进行中的更改',
  changing: '正在修改链接',
  removing: '正在移除链接',
  freeingAll: '正在移除链接上的所有设备',
  revoking: '链接将更换代码',
  undo: '撤销',
  stop: '停止',
  freeing: (hwid) => `正在移除设备 ${hwid}`,
  in: (s) => `${s} 秒后`,
  of: (seen, all) => `${seen} / ${all}`,
};
