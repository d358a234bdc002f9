import type { command as english } from '../en/command.ts';
import type { Like } from '../texts.ts';

export const command: Like<typeof english> = {
  title: '新命令',
  what: '命令由应用执行，不会询问设备主人。',
  action: '应用执行的操作',
  unchanged: '保持不变',
  reset: '恢复应用默认',
  updateHint: '应用重新获取订阅。',
  changeType: '更改内容',
  domain: '全部设备的域名',
  url: '完整地址',
  changeValue: '新值',
  changeHint: '在所有设备迁移之前，旧地址须继续可用。',
  data: '导入内容',
  dataHint: '应用可识别的配置或地址。',
  newer: '较新应用的设置',
  newerHint: '旧版应用会忽略它们。不合规则的值也会照常发送。',
  custom: '其他设置',
  customWrong: '每一行都应为“键=值”。',
  customHint: '每行一个：键=值。JSON 形式的值按 JSON 发送。',
  actions: {
    'update-subscription': '更新订阅',
    'set-settings': '设置',
    'sub-change': '更换地址',
    'import-data': '导入',
  },
};
