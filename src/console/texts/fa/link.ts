import type { link as english } from '../en/link.ts';
import type { Like } from '../texts.ts';

export const link: Like<typeof english> = {};
