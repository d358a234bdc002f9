import type { domains as english } from '../en/domains.ts';
import type { Like } from '../texts.ts';

export const domains: Like<typeof english> = {};
