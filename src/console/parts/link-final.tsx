/** The final link: the subscription address with the code, and its QR code. */

import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { texts } from '../state.ts';
import { Dropdown } from './choice.tsx';
import { Copy } from './copy.tsx';
import { Field, Form } from './form.tsx';
import { keepHost, keptHost } from './kept-host.ts';
import { QrCode, qrFiles } from './qr.tsx';

type Forms = Got<'links.final'>;

/** Shows a text as a QR code, with buttons to copy and save it. */
export function LinkQr({ text, label }: { text: string; label: string }) {
  const files = useMemo(() => qrFiles(text), [text]);
  return (
    <>
      <QrCode text={text} label={label} />
      <bdi class="code">{text}</bdi>
      <div class="actions">
        <Copy text={() => text} />
        {files && (
          <>
            <a class="button" download="link.svg" href={files.svg}>
              SVG
            </a>
            <a class="button" download="link.png" href={files.png}>
              PNG
            </a>
          </>
        )}
      </div>
    </>
  );
}

function Shown({ forms }: { forms: Forms }) {
  const words = texts.link;
  const apps: Readonly<Record<string, string>> = { plain: words.anyApp, query: words.anyQuery };
  const chosen = useSignal<string>(forms[0]?.app ?? '');
  const text = forms.find(({ app }) => app === chosen.value)?.text ?? '';
  return (
    <div class="final">
      <Dropdown
        label={words.form}
        options={forms.map(({ app }) => [app, apps[app] ?? app])}
        value={chosen.value}
        onChoice={(app) => (chosen.value = app)}
      />
      <LinkQr text={text} label={words.qr} />
    </div>
  );
}

export function FinalLink({ at, id }: { at: string; id: number }) {
  const words = texts.link;
  const forms = useSignal<Forms | null>(null);
  const host = keptHost(at);
  return (
    <section>
      <h3>{words.final}</h3>
      <Form
        submit={words.make}
        onSubmit={async ({ url = '', title = '' }) => {
          forms.value = await call('links.final', { at, id, url, title: title || null });
          keepHost(at, url);
        }}
      >
        <Field
          label={words.address}
          hint={words.addressHint}
          name="url"
          type="url"
          dir="ltr"
          maxLength={2_000}
          placeholder={host && `${host}…`}
          required
        />
        <Field label={words.shownName} name="title" maxLength={64} dir="auto" />
      </Form>
      {forms.value && <Shown forms={forms.value} />}
    </section>
  );
}
