import { textsIn } from '../texts.ts' with { type: 'macro' };

/** The migrations in order: never edited once released, only added to. */
export const MIGRATIONS: readonly string[] = textsIn('postgres');
