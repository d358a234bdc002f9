/** Names HWIDs for a link before they come: typed, or from a file. */

import { useSignal } from '@preact/signals';
import { call } from '../call.ts';
import { texts } from '../state.ts';
import { Curl } from './copy.tsx';
import { Field, Form, TextArea } from './form.tsx';
import { hwidsOf } from './hwid-file.ts';
import { FILE_BYTES_MAX } from './link-file.ts';
import { Problem } from './work.tsx';

/** HWIDs of a text: separated by blanks, commas or semicolons. */
const hwidsIn = (given: string) => given.split(/[\s,;"]+/).filter(Boolean);

interface NamingProps {
  at: string;
  id: number;
  /** The code of the link as the reader sees it. */
  code: string;
  onNamed: () => Promise<unknown>;
}

export function Naming({ at, code, id, onNamed }: NamingProps) {
  const words = texts.link;
  const problem = useSignal<string | null>(null);

  /** Puts the HWIDs of a file into the list, to be looked through. */
  async function read({ files, form }: HTMLInputElement): Promise<void> {
    const file = files?.[0];
    const list = form?.elements.namedItem('hwids');
    if (file === undefined || !(list instanceof HTMLTextAreaElement)) return;
    problem.value = file.size > FILE_BYTES_MAX ? texts.links.fileTooLarge : null;
    if (problem.value !== null) return;
    const hwids = hwidsOf(await file.text(), code);
    if (hwids.length === 0) problem.value = words.namesNone;
    list.value = hwids.join('\n');
    list.dispatchEvent(new Event('input', { bubbles: true }));
  }

  return (
    <details>
      <summary>{words.name}</summary>
      <p class="hint">{words.nameHint}</p>
      <Form
        submit={words.nameIt}
        draft={`names ${id}`}
        beside={
          <Curl
            at={at}
            call={({ hwids = '' }) => ({
              path: '/api/add-hwid',
              params: { install_id: id, hwid: hwidsIn(hwids).join(',') },
            })}
          />
        }
        onSubmit={async ({ hwids = '' }) => {
          await call('links.name', { at, installId: id, hwids: hwidsIn(hwids) });
          await onNamed();
        }}
      >
        <TextArea label={words.names} name="hwids" rows={4} />
        <Field
          label={texts.common.file}
          hint={words.namesFile}
          type="file"
          accept=".csv,.txt,text/csv,text/plain"
          onChange={({ currentTarget }) => read(currentTarget)}
        />
        <Problem of={problem} />
      </Form>
    </details>
  );
}
