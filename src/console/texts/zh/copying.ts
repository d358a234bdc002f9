import type { copying as english } from '../en/copying.ts';
import type { Like } from '../texts.ts';

export const copying: Like<typeof english> = {
  copy: '复制',
  copied: '已复制',
  asCurl: '复制为 curl',
  failed: '无法复制：浏览器不允许。',
};
