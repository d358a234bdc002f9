import type { palette as english } from '../en/palette.ts';
import type { Like } from '../texts.ts';

export const palette: Like<typeof english> = {
  name: '前往页面、记录或操作',
  hint: '页面、链接、备注、HWID、消息编号或操作',
  pages: '页面',
  actions: '操作',
  records: '记录',
  nothing: '没有匹配的内容。',
  keys: '快捷键',
  keyPalette: '打开此面板',
  keySearch: '在页面中搜索',
  keyMove: '在列表中移动',
  keyOpen: '打开所选内容',
  keyClose: '关闭已打开的内容',
  close: '关闭',
  open: '搜索',
  theme: (name) => `主题：${name}`,
  message: (id) => `消息 ${id}`,
};
