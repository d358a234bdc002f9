import { signal } from '@preact/signals';

/** The overlay of the page. */
export const shown = signal<'palette' | 'keys' | null>(null);
