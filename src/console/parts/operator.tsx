/** Parts that the operator's pages share: search, table, slices, panel, and confirmation. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { go, path, query, texts, wordsFor } from '../state.ts';
import { CloseIcon, SearchIcon } from './icons.tsx';
import { useDialog } from './link-tools.tsx';
import { useLoaded } from './loaded.tsx';

const PAUSE_MS = 200;

/** A search field for `search` in the address. */
export function Search({ label, maxLength = 64 }: { label: string; maxLength?: number }) {
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  return (
    <div class="search">
      <SearchIcon />
      <input
        type="search"
        maxLength={maxLength}
        aria-label={label}
        placeholder={label}
        value={query.value.get('search') ?? ''}
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(pause.current);
          const here = path.value;
          pause.current = setTimeout(() => {
            // The person may have left the page meanwhile.
            if (path.value === here) go(here, { ...kept(), search: value || null }, 'replace');
          }, PAUSE_MS);
        }}
      />
    </div>
  );
}

/** Returns the parameters of the address, which `go` would drop. */
export const kept = () => Object.fromEntries(query.value);

/** A table with a header row; the column of the buttons has an empty name. */
export function Table({ heads, children }: { heads: string[]; children: ComponentChildren }) {
  return (
    <div class="op-table">
      <table class="rows op-rows scroller">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head || <span class="visually-hidden">{texts.staff.actions}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Shows a problem, once there is one. */
export function Problem({ of }: { of: Signal<string | null> }) {
  return (
    <p class="problem" role="alert" hidden={of.value === null}>
      {of.value}
    </p>
  );
}

interface Slice<R, P> {
  rows: R[];
  /** The start of the next slice; null: this is the last. */
  next: P | null;
}

/** Reads a list slice by slice, from the start whenever `key` changes. */
export function useSlices<R, P>(
  read: (from: P | null, signal: AbortSignal) => Promise<Slice<R, P>>,
  key: string,
) {
  const more = useSignal<Slice<R, P> | null>(null);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const loaded = useLoaded(async (signal) => {
    more.value = null;
    return read(null, signal);
  }, key);
  const first = loaded.value.value;
  const rows = [...(first?.rows ?? []), ...(more.value?.rows ?? [])];
  const next = more.value === null ? (first?.next ?? null) : more.value.next;

  async function readOn() {
    if (next === null || isBusy.value) return;
    isBusy.value = true;
    problem.value = null;
    try {
      const slice = await read(next, new AbortController().signal);
      if (loaded.value.value !== first) return;
      more.value = { rows: [...(more.value?.rows ?? []), ...slice.rows], next: slice.next };
    } catch (fault) {
      problem.value = wordsFor(fault);
    } finally {
      isBusy.value = false;
    }
  }

  return { loaded, rows, isMore: next !== null, isBusy, problem, readOn, again: loaded.load };
}

interface MoreProps {
  of: Pick<ReturnType<typeof useSlices>, 'isMore' | 'isBusy' | 'problem' | 'readOn'>;
}

/** The button that loads the next slice. */
export function More({ of }: MoreProps) {
  return (
    <div class="below">
      <Problem of={of.problem} />
      {of.isMore && (
        <button type="button" onClick={of.readOn} disabled={of.isBusy.value}>
          {texts.providers.more}
        </button>
      )}
    </div>
  );
}

export function Nothing({ title, hint }: { title: string; hint: string }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{hint}</p>
    </div>
  );
}

interface PanelProps {
  title: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}

/** A record beside its list; Escape closes it. */
export function Panel({ title, onClose, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
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
        <h2 id="panel-title" ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="close" aria-label={texts.messages.close} onClick={onClose}>
          <CloseIcon />
        </button>
      </div>
      {children}
    </aside>
  );
}

/** Names with their values. */
export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface AskProps {
  /** The text of the button that asks, and of the button that confirms. */
  label: string;
  title: string;
  children?: ComponentChildren;
  /** Returns a refusal as text, or null after a success. */
  onYes: () => Promise<unknown>;
}

/** A button that asks for confirmation before an action that cannot be undone. */
export function Ask({ label, title, children, onYes }: AskProps) {
  const { isOpen, props } = useDialog();
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  async function run() {
    isBusy.value = true;
    problem.value = await onYes().then(() => null, wordsFor);
    isBusy.value = false;
    if (problem.value === null) isOpen.value = false;
  }
  const open = () => {
    problem.value = null;
    isOpen.value = true;
  };
  return (
    <>
      <button type="button" onClick={open}>
        {label}
      </button>
      <dialog {...props} aria-label={title}>
        <h2>{isOpen.value && title}</h2>
        <div class="form">
          {isOpen.value && children}
          <Problem of={problem} />
          <div class="actions">
            <button class="main" type="button" onClick={run} disabled={isBusy.value}>
              {label}
            </button>
            <button type="button" onClick={() => (isOpen.value = false)}>
              {texts.links.cancel}
            </button>
          </div>
        </div>
      </dialog>
    </>
  );
}
