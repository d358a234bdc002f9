import type { BaseTexts } from '../texts.ts';

export const texts: Pick<BaseTexts, 'rounds'> = {
  rounds: {
    title: '已发送',
    hint: '每条提醒每天一行（UTC）。',
    none: '暂无。',
    day: '日期',
    reminder: '提醒',
    sent: '设备数',
    got: '已收到',
    ended: '提前结束',
    removed: '已删除的提醒',
    stopped: '提醒已停止',
    stoppedHint: (moved, all, at) =>
      `${at}，一小时内 ${all} 个订阅中有 ${moved} 个续期或即将到期。面板数据可能有误，请先检查面板。`,
    resume: '恢复发送',
    resumeHint: '将按面板当前的数据重新提醒用户。',
  },
};
