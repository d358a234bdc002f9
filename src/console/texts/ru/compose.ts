import type { compose as english } from '../en/compose.ts';
import type { Like } from '../texts.ts';

export const compose: Like<typeof english> = {};
