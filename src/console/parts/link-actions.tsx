/** Actions on all matching links: files, and changes by jobs. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { may, nowMs, texts, wordsFor } from '../state.ts';
import { Button } from './button.tsx';
import { Dialog, useDialog } from './dialog.tsx';
import { MoreIcon } from './icons.tsx';
import { ChangeLinks } from './link-bulk.tsx';
import { save, writtenFile } from './link-file.ts';
import { ImportLinks } from './link-import.tsx';
import type { LinkFilter } from './link-query.ts';
import { Ties } from './link-ties.tsx';
import { Menu } from './menu.tsx';
import { Problem } from './work.tsx';

interface ActionsProps {
  at: string;
  filter: LinkFilter;
  onMade: () => void;
}

export function Actions({ at, filter, onMade }: ActionsProps) {
  const importing = useDialog();
  const changing = useDialog();
  const tying = useDialog(onMade);
  const words = texts.links;
  return (
    <>
      <Menu label={words.more} icon={<MoreIcon />}>
        {may('links.add-many') && <Button label={words.import} onClick={importing.open} />}
        <Export at={at} filter={filter} />
        {may('ties.make') && <Button label={words.ties} onClick={tying.open} />}
        {may('links.bulk') && <Button label={words.bulk} onClick={changing.open} />}
      </Menu>
      <Dialog of={tying} title={words.ties}>
        <Ties at={at} />
        <div class="actions">
          <Button label={texts.common.close} onClick={tying.close} />
        </div>
      </Dialog>
      <Dialog of={changing} title={words.bulk}>
        <ChangeLinks at={at} filter={filter} onClose={changing.close} />
      </Dialog>
      <Dialog of={importing} title={words.import}>
        <ImportLinks at={at} onMade={onMade} onClose={importing.close} />
      </Dialog>
    </>
  );
}

/** Saves the matching links as a file, with its progress in a dialog. */
function Export({ at, filter }: Pick<ActionsProps, 'at' | 'filter'>) {
  const count = useSignal(0);
  const problem = useSignal<string | null>(null);
  const leaving = useRef(new AbortController());
  const dialog = useDialog(() => leaving.current.abort());
  const words = texts.links;

  async function write(): Promise<void> {
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    dialog.open();
    [count.value, problem.value] = [0, null];
    try {
      const parts = await writtenFile(at, filter, (n) => (count.value = n), signal);
      save(`links-${new Date(nowMs()).toISOString().slice(0, 10)}.csv`, parts);
      dialog.close();
    } catch (fault) {
      if (!signal.aborted) problem.value = wordsFor(fault);
    }
  }

  return (
    <>
      <Button label={words.export} onClick={write} />
      <Dialog of={dialog} title={words.export}>
        <p role="status">{words.written(count.value)}</p>
        <Problem of={problem} />
        <div class="actions">
          <Button label={texts.common.cancel} onClick={dialog.close} />
        </div>
      </Dialog>
    </>
  );
}
