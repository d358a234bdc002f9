/** Targets by a filter: the server finds their devices, and the send has the filter. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { nowMs, texts, wordsFor } from '../state.ts';
import { Button } from './button.tsx';
import { Field, Hidden, Select } from './form.tsx';
import { number } from './format.ts';
import { figuresOf } from './link-query.ts';
import { useLoaded } from './loaded.tsx';
import { systemName } from './system.ts';

type Found = Got<'send.find'>;

const PAUSE_MS = 300;
const DAY_MS = 86_400_000;
/** The choices of "last seen", days. */
const DAYS = [1, 7, 30] as const;

/** The choices of figures, by the words of the list of links. */
const FIGURES = ['ends 1', 'ends 3', 'ends 7', 'ends 0', 'traffic 80', 'traffic 90'] as const;

function figuresName(choice: (typeof FIGURES)[number]): string {
  const words = texts.links;
  const [kind, value] = [choice.split(' ')[0], Number(choice.split(' ')[1])];
  if (kind === 'traffic') return words.trafficOver(number(value));
  return value === 0 ? words.ended : words.endsIn(value);
}

/** Returns the search; with 0 for now its times are counted from when it is made: a segment. */
function searchIn(given: (name: string) => string, atNowMs: number) {
  const text = (name: string) => given(name).trim() || null;
  const [way, days] = given('filter seen').split(' ');
  const atMs = Math.round(atNowMs - Number(days) * DAY_MS);
  const [figure = '', value] = given('filter figures').split(' ');
  const language = text('filter language');
  return {
    os: text('filter os'),
    appVersion: text('filter version'),
    link: text('filter link'),
    language: language === null ? null : language.toLowerCase(),
    figures: figure === '' ? null : figuresOf({ [figure]: Number(value) }, atNowMs),
    domainId: Number(given('filter domain')) || null,
    seenSinceMs: way === 'since' ? atMs : null,
    unseenSinceMs: way === 'before' ? atMs : null,
  };
}

function languageName(tag: string): string {
  return new Intl.DisplayNames([texts.tag], { type: 'language' }).of(tag) ?? tag;
}

interface Filtered {
  found: Found;
  segment: ReturnType<typeof searchIn>;
}

/** Shows the result and puts the filter into the form. */
function Result({ of }: { of: Filtered | null }) {
  const words = texts.compose;
  if (of === null) {
    return (
      <>
        <Hidden name="unready" value={words.finding} />
        <p class="hint">{words.finding}</p>
      </>
    );
  }
  const { count, examples } = of.found;
  return (
    <>
      <Hidden name="segment" value={JSON.stringify(of.segment)} />
      <p>{words.finds(number(count), count)}</p>
      <p class="hint">{words.findsAtTime}</p>
      <ul class="examples">
        {examples.map(({ deviceName, hwid, os }) => (
          <li key={hwid}>
            <bdi>{deviceName || systemName(os)}</bdi> <bdi class="code">{hwid}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

interface CriteriaProps {
  /** The result of the unfiltered search. */
  of: Found | null;
  bound: Got<'domains.list'>;
}

/** The filter, with choices for the devices of the provider. */
function Criteria({ bound, of }: CriteriaProps) {
  const words = texts.compose;
  const any = ['', words.any] as const;
  const { appVersions = [], languages = [], systems = [] } = of ?? {};
  return (
    <>
      <Select
        label={texts.common.system}
        name="filter os"
        options={[any, ...systems.map((one) => [one, systemName(one)] as const)]}
        value=""
      />
      <Select
        label={words.filterVersion}
        name="filter version"
        options={[any, ...appVersions.map((one) => [one, one] as const)]}
        value=""
      />
      <Select
        label={words.filterLanguage}
        name="filter language"
        options={[any, ...languages.map((one) => [one, languageName(one)] as const)]}
        value=""
      />
      <Select
        label={words.filterSeen}
        name="filter seen"
        options={[
          any,
          ...DAYS.map((days) => [`since ${days}`, words.seenWithin(days)] as const),
          ...DAYS.map((days) => [`before ${days}`, words.unseenFor(days)] as const),
        ]}
        value=""
      />
      <Select
        label={words.filterDomain}
        name="filter domain"
        options={[any, ...bound.map(({ id, domainName }) => [`${id}`, domainName] as const)]}
        value=""
      />
      {of?.figures === 'shown' && (
        <Select
          label={words.filterFigures}
          name="filter figures"
          options={[any, ...FIGURES.map((one) => [one, figuresName(one)] as const)]}
          value=""
        />
      )}
      <Field label={words.filterLink} name="filter link" maxLength={64} dir="auto" />
    </>
  );
}

export function TargetFilter({ at }: { at: string }) {
  const words = texts.compose;
  const fields = useRef<HTMLDivElement>(null);
  const all = useSignal<Found | null>(null);
  const found = useSignal<Filtered | null>(null);
  const problem = useSignal<string | null>(null);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const leaving = useRef(new AbortController());
  const domains = useLoaded((signal) => call('domains.list', { at }, signal), at);

  const given = (name: string) =>
    fields.current?.querySelector<HTMLInputElement>(`[name="${name}"]`)?.value ?? '';

  async function find() {
    leaving.current.abort();
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    try {
      const segment = searchIn(given, 0);
      const wanted = searchIn(given, nowMs());
      const answer = await call('send.find', { at, search: wanted }, signal);
      if (signal.aborted) return;
      found.value = { found: answer, segment };
      // Only an unfiltered answer sets the choices: a filter would narrow them for good.
      const isOfAll = Object.values(wanted).every((one) => one === null);
      if (isOfAll || all.value === null) all.value = answer;
      problem.value = null;
    } catch (fault) {
      if (!signal.aborted) problem.value = wordsFor(fault);
    }
  }

  const search = () => {
    found.value = null;
    leaving.current.abort();
    clearTimeout(pause.current);
    pause.current = setTimeout(find, PAUSE_MS);
  };

  useEffect(() => {
    void find();
    return () => {
      leaving.current.abort();
      clearTimeout(pause.current);
    };
  }, []);

  return (
    <>
      <div class="filter" ref={fields} onInput={search}>
        <Criteria of={all.value} bound={domains.value.value ?? []} />
      </div>
      <div role="status" class="found">
        {problem.value === null ? (
          <Result of={found.value} />
        ) : (
          <>
            <Hidden name="unready" value={problem.value} />
            <p class="problem">{problem.value}</p>
          </>
        )}
      </div>
      <Button label={words.findAgain} class="find-again" onClick={search} />
    </>
  );
}
