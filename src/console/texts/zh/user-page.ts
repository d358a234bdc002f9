import type { userPage as english } from '../en/user-page.ts';
import type { Like } from '../texts.ts';

export const userPage: Like<typeof english> = {
  title: '用户页面',
  what: '持有链接的人可在此查看其设备并释放名额，无需账号。',
  state: '页面',
  on: '开启：所有链接的用户都可使用',
  off: '关闭：用户无法使用',
  name: '页面顶部的名称',
  nameHint: '用户熟悉的名称。留空则不显示。',
  color: '颜色',
  support: '客服链接',
  supportHint: '网页，或聊天地址，例如 tg://resolve?domain=…。在应用中也会显示为按钮。',
  save: '保存',
  saved: '已保存。',
  forbidden: '此服务器的运营者已为所有人关闭该页面。',
  coolDown: (hours) => `用户每 ${hours} 小时最多释放一个名额。`,
  preview: '打开最新链接的页面',
  noPreview: '页面开启、已有链接且地址已知后，即可预览。',
};
