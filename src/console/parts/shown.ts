import { signal } from '@preact/signals';

/** What lies over the page. */
export const shown = signal<'palette' | 'keys' | null>(null);
