import type { jobs as english } from '../en/jobs.ts';
import type { Like } from '../texts.ts';

export const jobs: Like<typeof english> = {
  title: '进行中的更改',
  changing: '正在修改链接',
  removing: '正在移除链接',
  freeingAll: '正在移除链接上的所有设备',
  revoking: '链接将更换代码',
  failed: '失败：',
  unknown: '一项更改',
  dismiss: '知道了',
  undo: '撤销',
  stop: '停止',
  freeing: (hwid) => `正在移除设备 ${hwid}`,
  in: (s) => `${s} 秒后`,
  of: (seen, all) => `${seen} / ${all}`,
  changed: (n, all) => `已完成：${all} 个中更改了 ${n} 个`,
  stopped: (n, all) => `已停止：${all} 个中更改了 ${n} 个`,
  problems: {
    no_right: '发起人已无此权限，或密钥已更换',
    subscription_required: '订阅已结束或暂停',
    more_links_match: '现在匹配的链接比显示时多；多出的保持不变',
    not_understood: '由程序的另一版本保存',
    install_not_found: '链接已不存在',
    install_code_error: '链接已不存在',
    fault: '服务器出错，原因见其日志',
  },
};
