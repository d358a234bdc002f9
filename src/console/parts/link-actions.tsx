/** Actions on all matching links: files, and changes by jobs. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { may, nowMs, texts, wordsFor } from '../state.ts';
import { MoreIcon } from './icons.tsx';
import { ChangeLinks } from './link-bulk.tsx';
import { save, writtenFile } from './link-file.ts';
import { ImportLinks } from './link-import.tsx';
import type { LinkFilter } from './link-query.ts';
import { useDialog } from './link-tools.tsx';
import { Menu } from './menu.tsx';

interface ActionsProps {
  at: string;
  filter: LinkFilter;
  onMade: () => void;
}

export function Actions({ at, filter, onMade }: ActionsProps) {
  const importing = useDialog();
  const changing = useDialog();
  const words = texts.links;
  return (
    <>
      <Menu label={words.more} icon={<MoreIcon />}>
        {may('links.add-many') && (
          <button type="button" onClick={() => (importing.isOpen.value = true)}>
            {words.import}
          </button>
        )}
        <Export at={at} filter={filter} />
        {may('links.bulk') && (
          <button type="button" onClick={() => (changing.isOpen.value = true)}>
            {words.bulk}
          </button>
        )}
      </Menu>
      <dialog {...changing.props} aria-label={words.bulk}>
        <h2>{words.bulk}</h2>
        {changing.isOpen.value && (
          <ChangeLinks at={at} filter={filter} onClose={() => (changing.isOpen.value = false)} />
        )}
      </dialog>
      <dialog {...importing.props} aria-label={words.import}>
        <h2>{words.import}</h2>
        {importing.isOpen.value && (
          <ImportLinks at={at} onMade={onMade} onClose={() => (importing.isOpen.value = false)} />
        )}
      </dialog>
    </>
  );
}

/** Saves the matching links as a file, with its progress in a dialog. */
function Export({ at, filter }: Pick<ActionsProps, 'at' | 'filter'>) {
  const { isOpen, props } = useDialog();
  const count = useSignal(0);
  const problem = useSignal<string | null>(null);
  const leaving = useRef(new AbortController());
  const words = texts.links;

  async function write(): Promise<void> {
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    [isOpen.value, count.value, problem.value] = [true, 0, null];
    try {
      const parts = await writtenFile(at, filter, (n) => (count.value = n), signal);
      save(`links-${new Date(nowMs()).toISOString().slice(0, 10)}.csv`, parts);
      isOpen.value = false;
    } catch (fault) {
      if (!signal.aborted) problem.value = wordsFor(fault);
    }
  }

  const close = () => {
    leaving.current.abort();
    props.onClose();
  };
  return (
    <>
      <button type="button" onClick={write}>
        {words.export}
      </button>
      <dialog {...props} onClose={close} aria-label={words.export}>
        <h2>{words.export}</h2>
        <p role="status">{words.written(count.value)}</p>
        <p class="problem" role="alert" hidden={problem.value === null}>
          {problem.value}
        </p>
        <div class="actions">
          <button type="button" onClick={close}>
            {words.cancel}
          </button>
        </div>
      </dialog>
    </>
  );
}
