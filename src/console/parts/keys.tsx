/** Keyboard shortcuts of each page; the palette and the list of keys are loaded at first use. */

import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { wordsFor } from '../state.ts';
import { isTyping } from './focus.ts';
import { loadFile } from './page-file.ts';
import { shown } from './shown.ts';

const parts = signal<{ Palette: ComponentType; Keys: ComponentType } | null>(null);

/** Opens the palette or the list of keys. */
export async function show(what: 'palette' | 'keys'): Promise<void> {
  shown.value = what;
  try {
    parts.value ??= await loadFile(() => import('./palette.tsx'));
  } catch (fault) {
    wordsFor(fault);
    shown.value = null;
  }
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  if ((event.ctrlKey || event.metaKey) && event.code === 'KeyK') {
    event.preventDefault();
    void show('palette');
    return;
  }
  // Letters are shortcuts only outside fields and dialogs.
  if (event.ctrlKey || event.metaKey || isTyping() || document.querySelector('dialog[open]'))
    return;
  if (event.key === '?') {
    event.preventDefault();
    void show('keys');
  }
  if (event.key === '/') {
    event.preventDefault();
    const field = document.querySelector<HTMLInputElement>('main input[type=search]');
    if (field === null) void show('palette');
    else field.focus();
  }
}

/** Listens to the keyboard, and shows the palette or the list of keys. */
export function KeysOfPage() {
  useEffect(() => {
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  if (shown.value === null || parts.value === null) return null;
  const { Palette, Keys } = parts.value;
  return shown.value === 'palette' ? <Palette /> : <Keys />;
}
