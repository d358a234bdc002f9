import type { copying as english } from '../en/copying.ts';
import type { Like } from '../texts.ts';

export const copying: Like<typeof english> = {
  copy: 'Скопировать',
  copied: 'Скопировано',
  asCurl: 'Скопировать как curl',
  failed: 'Не скопировано: браузер не разрешает.',
};
