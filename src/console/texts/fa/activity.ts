import type { activity as english } from '../en/activity.ts';
import type { Like } from '../texts.ts';

export const activity: Like<typeof english> = {};
