/** Parts of lists: search, table and slices. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { goHere, path, query, texts } from '../state.ts';
import { Button } from './button.tsx';
import { SearchIcon } from './icons.tsx';
import { useLoaded } from './loaded.tsx';
import { Problem, useWork } from './work.tsx';

const PAUSE_MS = 200;

interface SearchProps {
  label: string;
  maxLength?: number;
  title?: string;
  children?: ComponentChildren;
}

/** A search field for `search` in the address. */
export function Search({ label, maxLength = 64, title = '', children }: SearchProps) {
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  return (
    <div class="search">
      <SearchIcon />
      <input
        type="search"
        maxLength={maxLength}
        aria-label={label}
        placeholder={label}
        title={title}
        value={query.value.get('search') ?? ''}
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(pause.current);
          const here = path.value;
          pause.current = setTimeout(() => {
            // The person may have left the page meanwhile.
            if (path.value === here) goHere({ search: value || null });
          }, PAUSE_MS);
        }}
      />
      {children}
    </div>
  );
}

/** A table with a header row; the column of the buttons has an empty name. */
export function Table({ heads, children }: { heads: string[]; children: ComponentChildren }) {
  return (
    <div class="op-table">
      <table class="rows op-rows scroller">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head || <span class="visually-hidden">{texts.common.actions}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface Slice<R> {
  rows: R[];
  /** The start of the next slice; null: this is the last. */
  nextId: number | null;
}

/** Reads a list slice by slice, from the start whenever `key` changes. */
export function useSlices<R>(
  read: (fromId: number | null, signal: AbortSignal) => Promise<Slice<R>>,
  key: string,
) {
  const more = useSignal<Slice<R> | null>(null);
  const { isBusy, problem, run } = useWork();
  const loaded = useLoaded(async (signal) => {
    more.value = null;
    return read(null, signal);
  }, key);
  const first = loaded.value.value;
  const rows = [...(first?.rows ?? []), ...(more.value?.rows ?? [])];
  const { nextId } = more.value ?? first ?? { nextId: null };

  async function readOn() {
    if (nextId === null || isBusy.value) return;
    await run(async () => {
      const slice = await read(nextId, new AbortController().signal);
      if (loaded.value.value !== first) return;
      more.value = { rows: [...(more.value?.rows ?? []), ...slice.rows], nextId: slice.nextId };
    });
  }

  return { loaded, rows, isMore: nextId !== null, isBusy, problem, readOn, again: loaded.load };
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
        <Button label={texts.common.more} onClick={of.readOn} disabled={of.isBusy.value} />
      )}
    </div>
  );
}
