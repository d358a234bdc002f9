/** Upstreams of the gate: those of the file, and those added here after a check. */

import { useSignal } from '@preact/signals';
import type { Given, Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Ask } from '../../parts/dialog.tsx';
import { Field, Form, Select, TextArea } from '../../parts/form.tsx';
import { date, number, time } from '../../parts/format.ts';
import { Card, Nothing } from '../../parts/layout.tsx';
import { Table } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { may, texts } from '../../state.ts';

type Listed = Got<'upstreams.list'>;
type Panels = Listed['panels'];
type Kept = Listed['kept'][number];
type Upstream = Given<'upstreams.check'>;
type Found = Got<'upstreams.check'>;
type Typed = Readonly<Record<string, string>>;

/** Keys with their own field, and their defaults in the configuration file. */
const USUAL: Typed = {
  host: '',
  url: '',
  provider: '',
  default_limit: '3',
  key_path: '/sub/{key}',
  key: 'plain',
  enforce: 'true',
  browsers: 'refuse',
  other_paths: 'refuse',
  panel: '',
  refused_as: 'own',
};

const linesOf = (value: unknown) => (Array.isArray(value) ? value.join('\n') : String(value));

/** Reads the fields. Omits values that equal the default, except keys that the file requires. */
function upstreamIn({ more = '', ...typed }: Typed): Upstream {
  const { host = '', url = '', provider = '', default_limit } = typed;
  const paths = (typed['key_path'] ?? '').split('\n').map((line) => line.trim());
  const keyPath = paths.filter((line) => line !== '');
  const others = ['key', 'browsers', 'other_paths', 'panel', 'refused_as'].flatMap((key) => {
    const value = typed[key] ?? '';
    return value === USUAL[key] ? [] : [[key, value] as const];
  });
  return {
    keys: {
      host,
      url,
      provider,
      default_limit: Number(default_limit),
      ...(linesOf(keyPath) !== USUAL['key_path'] && { key_path: keyPath }),
      ...(typed['enforce'] === 'false' && { enforce: false }),
      ...Object.fromEntries(others),
    },
    more,
  };
}

/** Returns the keys without a field, as lines of the file. */
const moreOf = (keys: Kept['keys']) =>
  Object.entries(keys)
    .filter(([key]) => !Object.hasOwn(USUAL, key))
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    .join('\n');

function Findings({ of }: { of: Found }) {
  const words = texts.upstreams;
  const { addresses, binding, certificate, certificateEndsAtMs: endsMs, panel } = of;
  const said = words.panel[panel.state];
  const hasName = addresses.length > 0;
  const findings: [isGood: boolean, text: string][] = [
    [hasName, hasName ? words.name.found(addresses.join(', ')) : words.name.missing],
    [
      certificate !== 'not_covered',
      endsMs === null ? words.certificate[certificate] : words.coveredUntil(date(endsMs)),
    ],
    [panel.state === 'answers', typeof said === 'string' ? said : said(panel.detail)],
    [binding === 'active' || binding === 'not_bound', words.binding[binding]],
  ];
  return (
    <section aria-label={words.found} role="status">
      <ul class="verdicts">
        {findings.map(([isGood, text]) => (
          <li key={text} class={isGood ? 'good' : 'problem'}>
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
      <pre class="code" dir="ltr">
        {of.toml}
      </pre>
      <Copy text={() => of.toml} label={words.toml} />
    </section>
  );
}

/** The fields of an upstream; the first two and the limit are required. */
function Fields({ from, isNew, panels }: { from: Typed; isNew: boolean; panels: Panels }) {
  const words = texts.upstreams;
  const passing = [
    ['refuse', words.refuses],
    ['pass', words.passes],
  ] as const;
  type Choices = readonly (readonly [value: string, label: string])[];
  const choice = (name: string, label: string, options: Choices) => (
    <Select label={label} name={name} options={options} value={from[name] ?? ''} />
  );
  const text = (name: string) => ({ name, defaultValue: from[name] ?? '', dir: 'ltr' as const });
  return (
    <>
      <div class="fields">
        <Field
          label={words.host}
          hint={words.hostHint}
          maxLength={253}
          readOnly={!isNew}
          {...text('host')}
          required
        />
        <Field label={words.url} hint={words.urlHint} maxLength={2_048} {...text('url')} required />
        <Field label={words.provider} maxLength={8} {...text('provider')} required />
        <Field
          label={words.limit}
          type="number"
          min={1}
          max={100}
          {...text('default_limit')}
          required
        />
      </div>
      <TextArea
        label={words.path}
        hint={words.pathHint}
        rows={2}
        maxLength={2_048}
        {...text('key_path')}
      />
      <div class="fields">
        {choice('key', words.key, [
          ['plain', words.keyPlain],
          ...panels.flatMap(({ keys, name, title }) => {
            if (keys === 'plain') return [];
            return [
              [name, keys === 'uuid' ? words.keyUuid(title) : words.keySigned(title)] as const,
            ];
          }),
        ])}
        {choice('enforce', words.enforce, [
          ['true', words.enforces],
          ['false', words.counts],
        ])}
        {choice('browsers', words.browsers, passing)}
        {choice('other_paths', words.otherPaths, passing)}
        {choice('panel', words.panelKind, [
          ['', words.panelOther],
          ...panels.map(({ name, title }) => [name, title] as const),
        ])}
        {choice('refused_as', words.refusedAs, [
          ['own', words.refusedAsOwn],
          ['panel', words.refusedAsPanel],
        ])}
      </div>
      <TextArea
        label={words.more}
        hint={words.moreHint}
        rows={2}
        maxLength={4_096}
        {...text('more')}
      />
    </>
  );
}

interface EditProps {
  /** The upstream to change; null: a new one. */
  kept: Kept | null;
  panels: Panels;
  onDone: () => Promise<unknown>;
}

/** The form of an upstream: the first click checks it, the second saves what was checked. */
function Edit({ kept, panels, onDone }: EditProps) {
  const words = texts.upstreams;
  const checked = useSignal<{ given: string; found: Found } | null>(null);
  const isSaved = useSignal(false);
  const isNew = kept === null;
  const from: Typed =
    kept === null
      ? USUAL
      : {
          ...USUAL,
          ...Object.fromEntries(Object.entries(kept.keys).map(([key, one]) => [key, linesOf(one)])),
          more: moreOf(kept.keys),
        };
  async function submit(typed: Typed) {
    const upstream = upstreamIn(typed);
    const given = JSON.stringify(upstream);
    isSaved.value = false;
    if (checked.value?.given !== given) {
      checked.value = { given, found: await call('upstreams.check', upstream) };
      return;
    }
    await call('upstreams.put', { ...upstream, isNew });
    checked.value = null;
    isSaved.value = true;
    await onDone();
  }
  const keep = isNew ? words.put : words.save;
  return (
    <Card title={isNew ? words.add : words.changeOf(kept.host)}>
      {/* A change makes the last check invalid. */}
      <div onInput={() => (checked.value = null)}>
        <Form submit={checked.value === null ? words.check : keep} keeps onSubmit={submit}>
          <Fields from={from} isNew={isNew} panels={panels} />
          {checked.value !== null && <Findings of={checked.value.found} />}
        </Form>
      </div>
      <p role="status" class="good" hidden={!isSaved.value}>
        {words.saved}
      </p>
    </Card>
  );
}

/** Says how the following of a panel stands. */
function followOf({ host, pass, reason, standing }: Listed['follows'][number]) {
  const words = texts.upstreams;
  const said = words.follow[standing];
  const isFine = standing === 'follows' || standing === 'begins';
  return (
    <div key={host} class={isFine ? 'hint' : 'problem'}>
      <p>
        <bdi>{typeof said === 'string' ? said : said(host)}</bdi>
      </p>
      {reason !== null && <p dir="ltr">{reason}</p>}
      {pass !== null && (
        <p>{words.followPass(number(pass.userCount), number(pass.changeCount), time(pass.atMs))}</p>
      )}
    </div>
  );
}

interface RowsProps {
  of: Listed;
  onChange: (kept: Kept) => void;
  onRemoved: () => Promise<unknown>;
}

function Rows({ of, onChange, onRemoved }: RowsProps) {
  const words = texts.upstreams;
  const heads = [words.host, texts.shell.provider, words.url, words.whose, ''];
  const row = (one: Listed['own'][number], kept: Kept | null) => (
    <tr key={`${one.host} ${kept === null}`}>
      <th scope="row">
        <bdi>{one.host}</bdi>
        {of.follows.filter(({ host }) => host === one.host).map(followOf)}
      </th>
      <td>
        <bdi class="code">{one.provider}</bdi>
      </td>
      <td>
        <bdi>{one.url}</bdi>
      </td>
      <td>
        {kept === null ? words.inFile : words.here}
        {kept !== null && (
          <p class="hint">
            <bdi>{words.changed(kept.updatedBy, time(kept.updatedAtMs))}</bdi>
          </p>
        )}
        {kept?.isInForce === false && <p class="problem">{words.notInForce}</p>}
      </td>
      <td class="row-actions">
        <Copy text={() => one.toml} label={words.toml} />
        {kept !== null && may('upstreams.put') && (
          <Button label={texts.common.change} onClick={() => onChange(kept)} />
        )}
        {kept !== null && may('upstreams.remove') && (
          <Ask
            label={words.remove}
            title={words.removeSure(one.host)}
            onYes={async () => {
              await call('upstreams.remove', { host: one.host });
              await onRemoved();
            }}
          >
            <p>{words.removeHint}</p>
          </Ask>
        )}
      </td>
    </tr>
  );
  return (
    <Table heads={heads}>
      {of.own.map((one) => row(one, null))}
      {of.kept.map((one) => row(one, one))}
    </Table>
  );
}

export function UpstreamsPage() {
  const words = texts.upstreams;
  const loaded = useLoaded((signal) => call('upstreams.list', {}, signal), '');
  const changed = useSignal<Kept | null>(null);
  const found = loaded.value.value;
  return (
    <>
      <h1>{words.title}</h1>
      <p class="hint">{words.what}</p>
      <Status of={loaded}>
        {found && (
          <>
            {found.own.length + found.kept.length === 0 ? (
              <Nothing title={words.none} hint={words.noneHint} />
            ) : (
              <Rows
                of={found}
                onChange={(kept) => (changed.value = kept)}
                onRemoved={() => {
                  changed.value = null;
                  return loaded.load();
                }}
              />
            )}
            {may('upstreams.put') && (
              <Edit
                key={changed.value?.host ?? ''}
                kept={changed.value}
                panels={found.panels}
                onDone={() => loaded.load()}
              />
            )}
          </>
        )}
      </Status>
    </>
  );
}
