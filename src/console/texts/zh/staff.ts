import type { staff as english } from '../en/staff.ts';
import type { Like } from '../texts.ts';

export const staff: Like<typeof english> = {};
