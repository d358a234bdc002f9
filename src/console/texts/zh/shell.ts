import type { shell as english } from '../en/shell.ts';
import type { Like } from '../texts.ts';

export const shell: Like<typeof english> = {
  overview: '概览',
  links: '链接',
  account: '您的账户',
  provider: '服务商',
  theme: '主题',
  auto: '跟随系统',
  light: '浅色',
  dark: '深色',
  languageName: '语言',
  leave: '退出',
  navigation: '页面',
  skip: '跳到内容',
  noRole: '还没有服务商',
  noRoleHint: '请向所有者索取邀请，或用 gatepost provider add 添加。',
  offline: '连接已断开。页面上的数据可能不是最新的，恢复后会自动更新。',
};
