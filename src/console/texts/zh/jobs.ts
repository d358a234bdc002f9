import type { jobs as english } from '../en/jobs.ts';
import type { Like } from '../texts.ts';

export const jobs: Like<typeof english> = {};
