/** The settings of the page of users: on or off, the provider's name, colour and support link. */

import type { JSX } from 'preact';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Field, Form, Select } from '../parts/form.tsx';
import { number } from '../parts/format.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { may, texts } from '../state.ts';

type Shown = Got<'page.show'>;

/** The colour of a page without its own. */
const USUAL = '#2456c9';

/** Returns the control of each setting; one without a control does not compile. */
function controlsOf(own: Shown['own']): Record<keyof Shown['own'], JSX.Element> {
  const { heads, my: words } = texts;
  const options = [
    ['0', words.off],
    ['1', words.on],
  ] as const;
  const { my, myColor, myCutOff, myName, myTraffic, supportUrl, webPageUrl } = own;
  const color = myColor ?? USUAL;
  const choice = (name: string, label: string, hint: string, value: 0 | 1) => (
    <>
      <Select label={label} name={name} value={String(value)} options={options} />
      <p class="hint">{hint}</p>
    </>
  );
  const address = (name: string, label: string, hint: string, value: string | null) => (
    <Field
      label={label}
      hint={hint}
      name={name}
      maxLength={255}
      dir="ltr"
      autocomplete="off"
      defaultValue={value ?? ''}
    />
  );
  return {
    my: <Select label={heads.page} name="my" value={String(my)} options={options} />,
    myName: (
      <Field
        label={heads.page_name}
        hint={words.nameHint}
        name="myName"
        maxLength={64}
        dir="auto"
        defaultValue={myName ?? ''}
      />
    ),
    myColor: <Field label={heads.page_color} name="myColor" type="color" defaultValue={color} />,
    myTraffic: choice('myTraffic', heads.page_traffic, words.trafficHint, myTraffic),
    myCutOff: choice('myCutOff', heads.page_cut_off, words.cutHint, myCutOff),
    supportUrl: address('supportUrl', heads.support_url, words.supportHint, supportUrl),
    webPageUrl: address('webPageUrl', heads.web_page_url, words.payHint, webPageUrl),
  };
}

const flag = (text: string | undefined) => (text === '1' ? 1 : 0);

function Settings({ at, shown, onSaved }: { at: string; shown: Shown; onSaved: () => unknown }) {
  return (
    <Form
      submit={texts.common.save}
      done={texts.common.saved}
      draft="page"
      keeps
      onSubmit={async ({ my, myColor = '', myCutOff, myTraffic, ...given }) => {
        const own = myColor === USUAL ? null : myColor;
        await call('page.set', {
          at,
          ...given,
          my: flag(my),
          myCutOff: flag(myCutOff),
          myTraffic: flag(myTraffic),
          myColor: own,
        });
        await onSaved();
      }}
    >
      {Object.values(controlsOf(shown.own))}
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
              <p>{shown.own.my === 1 ? words.on : words.off}</p>
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
