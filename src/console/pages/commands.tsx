/** Remote commands: a form for each action, with its targets. */

import { useSignal } from '@preact/signals';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Choice } from '../parts/choice.tsx';
import { Field, Select, TextArea } from '../parts/form.tsx';
import { Title } from '../parts/layout.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import {
  type Body,
  type Given,
  SendForm,
  scheduleIn,
  Targets,
  targetsIn,
} from '../parts/send-form.tsx';
import { texts } from '../state.ts';
import { useSource } from './compose.tsx';

type Setting = Got<'send.settings'>[number];
type Source = Got<'send.source'>;

const ACTIONS = ['update-subscription', 'set-settings', 'sub-change', 'import-data'] as const;
type Action = (typeof ACTIONS)[number];

/** The choice that resets a setting to the app's own value. */
const RESET = '(reset)';

/** Parses a value as JSON; a text that is no JSON is the value itself. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Writes a value so that {@link valueIn} reads the same one. */
function valueText(value: unknown): string {
  const isText = typeof value === 'string' && valueIn(value) === value;
  return isText ? value : JSON.stringify(value);
}

/** Reads the data of the import that is being copied. */
function dataIn(encoded: unknown): string {
  if (typeof encoded !== 'string') return '';
  return new TextDecoder().decode(Uint8Array.from(atob(encoded), (one) => one.charCodeAt(0)));
}

/** Returns whether each line has `key=value`; any other line would be ignored without a message. */
const isEachSet = (text: string) =>
  text.split('\n').every((line) => line.trim() === '' || /^\s*[^=\s][^=]*=/.test(line));

function checkCustom({ currentTarget: field }: { currentTarget: HTMLTextAreaElement }): void {
  field.setCustomValidity(isEachSet(field.value) ? '' : texts.command.customWrong);
}

/** Returns the settings that have a value. */
function settingsIn(given: Given, table: readonly Setting[]): Body {
  const known = table.flatMap(({ key }) => {
    const value = given[`set ${key}`] ?? '';
    return value === '' ? [] : [[key, value === RESET ? '' : value]];
  });
  const own = (given['custom'] ?? '').split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    return at < 1 ? [] : [[line.slice(0, at).trim(), valueIn(line.slice(at + 1).trim())]];
  });
  return Object.fromEntries([...known, ...own]);
}

function contentOf(action: Action, given: Given, table: readonly Setting[]): Body {
  switch (action) {
    case 'set-settings':
      return { settings: settingsIn(given, table) };
    case 'sub-change':
      return {
        change_type: given['change_type'],
        change_value: (given['change_value'] ?? '').trim(),
      };
    case 'import-data':
      return { import_data: given['import_data'] ?? '' };
    case 'update-subscription':
      return {};
  }
}

function SettingField({ from, of }: { of: Setting; from: unknown }) {
  const words = texts.command;
  const { key, kind, rule, values } = of;
  const set = from === undefined ? '' : from === '' ? RESET : String(from);
  const options = kind === 'boolean' ? ['true', 'false'] : values;
  // A copied message may spell the value differently, such as `on`.
  const isOther = set !== '' && set !== RESET && !options.includes(set);
  if (options.length > 0) {
    return (
      <Select
        label={key}
        name={`set ${key}`}
        options={[
          ['', texts.common.asItIs],
          ...[...options, ...(isOther ? [set] : [])].map((one) => [one, one] as const),
          [RESET, words.reset],
        ]}
        value={set}
      />
    );
  }
  return (
    <Field
      label={key}
      hint={rule}
      name={`set ${key}`}
      dir="ltr"
      defaultValue={set === RESET ? '' : set}
    />
  );
}

interface ContentProps {
  action: Action;
  from: Record<string, unknown>;
  table: readonly Setting[];
}

function Content({ action, from, table }: ContentProps) {
  const words = texts.command;
  const set = (from['settings'] ?? {}) as Record<string, unknown>;
  switch (action) {
    case 'update-subscription':
      return <p class="hint">{words.updateHint}</p>;
    case 'sub-change':
      return (
        <>
          <Select
            label={words.changeType}
            name="change_type"
            options={[
              ['domain', words.domain],
              ['url', words.url],
            ]}
            value={String(from['change_type'] ?? 'domain')}
          />
          <Field
            label={words.changeValue}
            hint={words.changeHint}
            name="change_value"
            dir="ltr"
            maxLength={2_000}
            defaultValue={String(from['change_value'] ?? '')}
            required
          />
        </>
      );
    case 'import-data':
      return (
        <TextArea
          label={words.data}
          hint={words.dataHint}
          name="import_data"
          rows={6}
          defaultValue={dataIn(from['input-data'])}
          required
        />
      );
    case 'set-settings':
      return <SettingFields set={set} table={table} />;
  }
}

function SettingFields({
  set,
  table,
}: {
  set: Record<string, unknown>;
  table: readonly Setting[];
}) {
  const words = texts.command;
  // A field cannot hold an object; such a setting is typed as a line, like unlisted ones.
  const isField = ({ key, kind }: Setting) => kind !== 'json' && typeof set[key] !== 'object';
  const fields = table.filter(isField);
  const known = new Set(fields.map(({ key }) => key));
  const own = Object.entries(set).filter(([key]) => !known.has(key));
  const fieldsOf = (isNewer: boolean) => (
    <div class="settings">
      {fields
        .filter((one) => one.isNewer === isNewer)
        .map((one) => (
          <SettingField key={one.key} of={one} from={set[one.key]} />
        ))}
    </div>
  );
  return (
    <>
      {fieldsOf(false)}
      <details open={fields.some(({ key, isNewer }) => isNewer && set[key] !== undefined)}>
        <summary>{words.newer}</summary>
        <p class="hint">{words.newerHint}</p>
        {fieldsOf(true)}
      </details>
      <TextArea
        label={words.custom}
        hint={words.customHint}
        name="custom"
        rows={3}
        onInput={checkCustom}
        defaultValue={own.map(([key, value]) => `${key}=${valueText(value)}`).join('\n')}
      />
    </>
  );
}

interface CommandProps {
  at: string;
  source: Source | null;
  table: readonly Setting[];
}

function CommandForm({ at, source, table }: CommandProps) {
  const payload = source?.payload ?? {};
  const copied = ACTIONS.find((one) => one === payload['action_type']);
  const action = useSignal<Action>(copied ?? 'update-subscription');
  const words = texts.command;
  return (
    <>
      <Choice
        label={words.action}
        names={words.actions}
        value={action.value}
        onChoice={(one) => (action.value = one)}
      />
      <SendForm
        key={action.value}
        at={at}
        kind="command"
        path="/remote/command"
        // The other actions may carry an address of a subscription, or servers.
        draft={source === null && action.value === 'set-settings' ? 'command' : null}
        bodyOf={(given) => ({
          action_type: action.value,
          ...contentOf(action.value, given, table),
          ...targetsIn(given),
          ...scheduleIn(given),
        })}
      >
        <Content
          action={action.value}
          from={action.value === copied ? payload : {}}
          table={table}
        />
        <Targets at={at} hwids={source?.hwids ?? ''} os={source?.os ?? ['android', 'ios']} />
      </SendForm>
    </>
  );
}

export function CommandsPage({ at }: { at: string }) {
  const source = useSource(at);
  const table = useLoaded((signal) => call('send.settings', { at }, signal), at);
  const [found, settings] = [source.value.value, table.value.value];
  return (
    <>
      <Title name={texts.command.title}>
        <p>{texts.command.what}</p>
      </Title>
      <Status of={source}>
        <Status of={table}>
          {found && settings && <CommandForm at={at} source={found.source} table={settings} />}
        </Status>
      </Status>
    </>
  );
}
