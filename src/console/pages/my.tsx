/** The settings of the page of users: on or off, the provider's name, colour and support link. */

import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Field, Form, Select } from '../parts/form.tsx';
import { number } from '../parts/format.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { may, texts } from '../state.ts';

type Shown = Got<'page.show'>;

/** The colour of a page without its own. */
const USUAL = '#2456c9';

function Settings({ at, shown, onSaved }: { at: string; shown: Shown; onSaved: () => unknown }) {
  const words = texts.my;
  return (
    <Form
      submit={texts.common.save}
      done={texts.common.saved}
      keeps
      onSubmit={async ({ on, name = '', color = '', supportUrl = '' }) => {
        const own = color === USUAL ? '' : color;
        await call('page.set', { at, isOn: on === 'on', name, color: own, supportUrl });
        await onSaved();
      }}
    >
      <Select
        label={texts.heads.page}
        name="on"
        value={shown.isOn ? 'on' : 'off'}
        options={[
          ['off', words.off],
          ['on', words.on],
        ]}
      />
      <Field
        label={texts.heads.page_name}
        hint={words.nameHint}
        name="name"
        maxLength={64}
        dir="auto"
        defaultValue={shown.name ?? ''}
      />
      <Field
        label={texts.heads.page_color}
        name="color"
        type="color"
        defaultValue={shown.color ?? USUAL}
      />
      <Field
        label={texts.heads.support_url}
        hint={words.supportHint}
        name="supportUrl"
        maxLength={255}
        dir="ltr"
        autocomplete="off"
        defaultValue={shown.supportUrl ?? ''}
      />
    </Form>
  );
}

export function MyPage({ at }: { at: string }) {
  const words = texts.my;
  const loaded = useLoaded((signal) => call('page.show', { at }, signal), at);
  const shown = loaded.value.value;
  return (
    <>
      <h1>{words.title}</h1>
      <p class="hint">{words.what}</p>
      <Status of={loaded}>
        {shown && (
          <section class="card">
            {shown.isForbidden && <p class="notice">{words.forbidden}</p>}
            {may('page.set') ? (
              <Settings key={at} at={at} shown={shown} onSaved={() => loaded.load()} />
            ) : (
              <p>{shown.isOn ? words.on : words.off}</p>
            )}
            <p class="hint">{words.coolDown(number(shown.coolDownHours))}</p>
            {shown.previewUrl === null ? (
              <p class="hint">{words.noPreview}</p>
            ) : (
              <p>
                <a class="button" href={shown.previewUrl} target="_blank" rel="noreferrer">
                  {words.preview}
                </a>
              </p>
            )}
          </section>
        )}
      </Status>
    </>
  );
}
