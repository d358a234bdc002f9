import type { command as english } from '../en/command.ts';
import type { Like } from '../texts.ts';

export const command: Like<typeof english> = {};
