/** The layout of pages: titles, cards, facts, panels, and the notice of an empty list. */

import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { texts } from '../state.ts';
import { CloseIcon } from './icons.tsx';

/** The name of a page, with its buttons or a hint beside it. */
export function Title({ name, children }: { name: string; children?: ComponentChildren }) {
  return (
    <div class="title">
      <h1>{name}</h1>
      {children}
    </div>
  );
}

interface CardProps {
  title: string;
  hint?: string;
  children: ComponentChildren;
}

export function Card({ title, hint, children }: CardProps) {
  return (
    <section class="card">
      {hint === undefined ? (
        <h2>{title}</h2>
      ) : (
        <div>
          <h2>{title}</h2>
          <p class="hint">{hint}</p>
        </div>
      )}
      {children}
    </section>
  );
}

interface NothingProps {
  title: string;
  hint: string;
  children?: ComponentChildren;
}

/** The notice in place of an empty list. */
export function Nothing({ title, hint, children }: NothingProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{hint}</p>
      {children}
    </div>
  );
}

interface FactsProps {
  of: readonly (readonly [name: string, value: ComponentChildren])[];
  class?: string;
}

/** Names with their values. */
export function Facts({ of, class: look = 'facts' }: FactsProps) {
  return (
    <dl class={look}>
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface PanelProps {
  title: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}

/** Moves the focus to the head of the open panel. */
export function focusPanel(): void {
  document.getElementById('panel-title')?.focus();
}

/** A record beside its list; Escape closes it. */
export function Panel({ title, onClose, children }: PanelProps) {
  useEffect(() => {
    focusPanel();
    // Listens at the document: the focus may be on no element after a button was disabled or
    // removed.
    const close = (event: KeyboardEvent) => {
      const isBelow = document.querySelector('dialog[open], :popover-open') !== null;
      if (event.key === 'Escape' && !isBelow) onClose();
    };
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, []);
  return (
    <aside class="card message-panel" aria-labelledby="panel-title">
      <div class="panel-head">
        <h2 id="panel-title" tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="close" aria-label={texts.common.close} onClick={onClose}>
          <CloseIcon />
        </button>
      </div>
      {children}
    </aside>
  );
}
