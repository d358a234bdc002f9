/** Changes, disables or removes all matching links, after a preview. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Given, Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { texts, wordsFor } from '../state.ts';
import { Button } from './button.tsx';
import { Choice } from './choice.tsx';
import { Field, givenIn, Hidden, Select } from './form.tsx';
import { number } from './format.ts';
import { jobsChanged } from './job.tsx';
import { AsTheyLeave, LimitField } from './link-limit.tsx';
import { isEvery, type LinkFilter } from './link-query.ts';
import { Restored, useDraft } from './use-draft.tsx';
import { Problem } from './work.tsx';

type Change = Given<'links.bulk'>['change'];
type Preview = Got<'links.bulk-preview'>;

/** Returns the change that the fields describe; null: remove the links. */
function changeIn(given: Readonly<Record<string, string>>): Change {
  if (given['what'] === 'remove') return null;
  const { leave = '', limit = '', status = '', note = '', 'note way': way = '' } = given;
  return {
    ...(limit !== '' && { limit: Number(limit), asTheyLeave: leave === '1' }),
    ...(status !== '' && { status: status === '5' ? 5 : 10 }),
    ...(way !== '' && { note: way === 'clear' ? '' : note.trim() }),
  };
}

function Fields() {
  const what = useSignal<'change' | 'remove'>('change');
  const noteWay = useSignal('');
  const words = texts.links;
  return (
    <>
      <Choice
        label={words.bulk}
        names={{ change: texts.common.change, remove: words.remove }}
        value={what.value}
        onChoice={(one) => (what.value = one)}
      />
      <Hidden
        name="what"
        value={what.value}
        onRestore={(value) => (what.value = value === 'remove' ? value : 'change')}
      />
      {what.value === 'remove' ? (
        <p class="notice">{words.removeHint}</p>
      ) : (
        <>
          <div class="pair">
            <LimitField hint={words.emptyKeeps} />
            <Select
              label={texts.heads.status}
              name="status"
              options={[
                ['', texts.common.asItIs],
                ['10', words.active],
                ['5', words.off],
              ]}
              value=""
            />
          </div>
          <AsTheyLeave />
          <Select
            label={texts.heads.note}
            name="note way"
            options={[
              ['', texts.common.asItIs],
              ['write', words.writeNote],
              ['clear', words.clearNote],
            ]}
            value={noteWay.value}
            onChoice={(way) => (noteWay.value = way)}
          />
          {noteWay.value === 'write' && (
            <Field label={words.writeNote} name="note" maxLength={255} required />
          )}
        </>
      )}
    </>
  );
}

interface ShownProps {
  of: Preview;
  isRemoval: boolean;
  /** True without a filter. */
  isAll: boolean;
}

function Shown({ of, isAll, isRemoval }: ShownProps) {
  const words = texts.links;
  const { count, deviceCount, examples, refusedCount } = of;
  return (
    <section class="reach" aria-label={words.preview}>
      <h3>{isRemoval ? words.willRemove(count) : words.willChange(count)}</h3>
      {isAll && count > 0 && <p class="problem">{words.areAll}</p>}
      {isRemoval && deviceCount > 0 && <p class="problem">{words.cannotUpdate(deviceCount)}</p>}
      {refusedCount > 0 && <p class="problem">{words.stayAsTheyAre(refusedCount)}</p>}
      <ul class="examples">
        {examples.map(({ deviceCount: devices, id, installCode, installLimit, note }) => (
          <li key={id}>
            <bdi class="code">{installCode}</bdi> <bdi>{note}</bdi>{' '}
            <span class="number">{words.ofLimit(number(devices), number(installLimit))}</span>
          </li>
        ))}
      </ul>
      <p class="hint">{words.tenSeconds}</p>
    </section>
  );
}

interface BulkProps {
  at: string;
  filter: LinkFilter;
  onClose: () => void;
}

/** Applies exactly what the preview showed: another content needs another preview. */
export function ChangeLinks({ at, filter, onClose }: BulkProps) {
  const form = useRef<HTMLFormElement>(null);
  const shown = useSignal<{ content: string; change: Change; of: Preview } | null>(null);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const draft = useDraft(form, 'many links');
  const words = texts.links;
  const change = () => changeIn(form.current === null ? {} : givenIn(form.current));

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (isBusy.value) return;
    const wanted = change();
    const content = JSON.stringify(wanted);
    [isBusy.value, problem.value] = [true, null];
    try {
      const known = shown.value;
      if (known?.content === content) {
        await call('links.bulk', { at, filter, change: wanted, shownCount: known.of.count });
        jobsChanged();
        onClose();
      } else {
        const of = await call('links.bulk-preview', { at, filter, change: wanted });
        const isSame = JSON.stringify(change()) === content;
        shown.value = isSame ? { content, change: wanted, of } : null;
      }
    } catch (fault) {
      [shown.value, problem.value] = [null, wordsFor(fault)];
    }
    isBusy.value = false;
  }

  const count = shown.value?.of.count ?? 0;
  const isRemoval = shown.value?.change === null;
  return (
    <form
      ref={form}
      class="form"
      aria-busy={isBusy.value}
      onSubmit={submit}
      onInput={() => {
        shown.value = null;
        draft.keep();
      }}
    >
      <Restored of={draft} />
      <Fields />
      {shown.value && <Shown of={shown.value.of} isAll={isEvery(filter)} isRemoval={isRemoval} />}
      <Problem of={problem} />
      <div class="actions">
        <button
          class="main"
          type="submit"
          disabled={isBusy.value || (shown.value !== null && count === 0)}
        >
          {shown.value === null
            ? words.preview
            : isRemoval
              ? words.removeMany(count)
              : words.changeMany(count)}
        </button>
        <Button label={texts.common.cancel} onClick={onClose} />
      </div>
    </form>
  );
}
