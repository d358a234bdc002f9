/** The settings of a webhook as fields of forms and facts of cards. */

import type { JSX } from 'preact';
import type { Given, Got } from '../../call/table.ts';
import { texts } from '../state.ts';
import { Select } from './form.tsx';

export type Kind = Got<'webhooks.list'>['kinds'][number];
type Add = Given<'webhooks.add'>;
export type OwnWebhook = Required<Omit<Add, 'at' | 'target' | 'token'>>;
type OwnChat = Required<Omit<Extract<Add['target'], { kind: 'telegram' }>, 'kind' | 'chat'>>;
type Typed = Readonly<Record<string, string>>;

interface Setting<T> {
  field(value: T | undefined, kinds: readonly Kind[]): JSX.Element;
  read(typed: Typed, kinds: readonly Kind[]): T;
  /** The parameter of the API; null: it has none. */
  param(value: T): string | null;
  /** The label and the value on the card; null: it is not shown. */
  fact(value: T): readonly [string, string] | null;
}
type Settings<Own> = { readonly [F in keyof Own]-?: Setting<Own[F]> };

interface TicksProps {
  label: string;
  hint: string;
  children: JSX.Element[];
}

function Ticks({ label, hint, children }: TicksProps) {
  return (
    <fieldset class="ticks">
      <legend>{label}</legend>
      <p class="hint">{hint}</p>
      {children}
    </fieldset>
  );
}

const OWN: Settings<OwnWebhook> = {
  events: {
    field: (chosen, kinds) => (
      <Ticks label={texts.heads.events} hint={texts.webhooks.eventsHint}>
        {kinds.map((kind) => (
          <label key={kind}>
            <input type="checkbox" name={`event ${kind}`} defaultChecked={chosen?.includes(kind)} />
            <bdi class="code">{kind}</bdi>
          </label>
        ))}
      </Ticks>
    ),
    read: (typed, kinds) => kinds.filter((kind) => typed[`event ${kind}`] === 'on'),
    param: (chosen) => chosen.join(',') || 'all',
    fact: (chosen) => [texts.heads.events, chosen.join(', ') || texts.webhooks.all],
  },
  figures: {
    field: (chosen = 0) => (
      <Select
        label={texts.heads.figures}
        name="figures"
        options={Object.entries(texts.choices.figures)}
        value={String(chosen)}
      />
    ),
    read: ({ figures }) => (figures === '1' ? 1 : 0),
    // A key cannot switch them on.
    param: (chosen) => (chosen === 0 ? '0' : null),
    fact: (chosen) => [texts.heads.figures, texts.choices.figures[chosen === 1 ? 1 : 0]],
  },
};

const FACTS = ['note', 'phone'] as const;
const LOCALES = { en: 'English', ru: 'Русский', zh: '中文', fa: 'فارسی' } as const;

const CHAT: Settings<OwnChat> = {
  locale: {
    field: (chosen = 'en') => (
      <Select
        label={texts.heads.locale}
        name="locale"
        options={Object.entries(LOCALES)}
        value={chosen}
      />
    ),
    read: ({ locale = '' }) => (locale in LOCALES ? (locale as keyof typeof LOCALES) : 'en'),
    param: (locale) => locale,
    fact: () => null,
  },
  shows: {
    field: (chosen) => (
      <Ticks label={texts.heads.with} hint={texts.webhooks.showsHint}>
        {FACTS.map((fact) => (
          <label key={fact}>
            <input type="checkbox" name={`shows ${fact}`} defaultChecked={chosen?.includes(fact)} />
            {texts.webhooks.facts[fact]}
          </label>
        ))}
      </Ticks>
    ),
    read: (typed) => FACTS.filter((fact) => typed[`shows ${fact}`] === 'on'),
    param: (shown) => shown.join(',') || 'none',
    fact: () => null,
  },
};

const NAMES: Readonly<Record<string, string>> = { shows: 'with' };

/** Makes the fields, readers and facts of some settings. */
function settingsOf<Own extends object>(settings: Settings<Own>) {
  const names = Object.keys(settings) as (keyof Own & string)[];
  return {
    fields: (of: Partial<Own>, kinds: readonly Kind[]) =>
      names.map((name) => settings[name].field(of[name], kinds)),
    read: (typed: Typed, kinds: readonly Kind[]) =>
      Object.fromEntries(names.map((name) => [name, settings[name].read(typed, kinds)])) as Own,
    params: (own: Own) =>
      Object.fromEntries(
        names.map((name) => [NAMES[name] ?? name, settings[name].param(own[name])]),
      ),
    facts: (own: Own) => names.map((name) => settings[name].fact(own[name])),
  };
}

export const ownSettings = settingsOf(OWN);
export const chatSettings = settingsOf(CHAT);
