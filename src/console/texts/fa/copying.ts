import type { copying as english } from '../en/copying.ts';
import type { Like } from '../texts.ts';

export const copying: Like<typeof english> = {
  copy: 'رونوشت',
  copied: 'رونوشت شد',
  asCurl: 'رونوشت به‌صورت curl',
  failed: 'رونوشت نشد: مرورگر اجازه نمی‌دهد.',
};
