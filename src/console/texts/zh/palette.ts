import type { palette as english } from '../en/palette.ts';
import type { Like } from '../texts.ts';

export const palette: Like<typeof english> = {};
