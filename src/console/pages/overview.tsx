/** The overview of a provider. */

import type { Got } from '../../http/console/table.ts';
import { call } from '../call.ts';
import { Bars } from '../parts/bars.tsx';
import { date, number } from '../parts/format.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { go, texts } from '../state.ts';

type Overview = Got<'overview.read'>;

const REFUSED = ['refused_hwid', 'refused_domain', 'refused_disabled', 'refused_full'] as const;

function Figure({ label, value, more }: { label: string; value: string; more: string }) {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>
        {value} <small>{more}</small>
      </dd>
    </div>
  );
}

function Page({ code, days, ...found }: Overview) {
  const words = texts.overview;
  const bars = days.map((one) => ({
    day: one.day,
    up: one.admitted,
    down: REFUSED.reduce((sum, name) => sum + one[name], 0),
  }));
  const sum = (part: 'up' | 'down') => number(bars.reduce((all, one) => all + one[part], 0));
  const { activeUntilMs } = found;
  const end = activeUntilMs === null ? words.noEnd : words.until(date(activeUntilMs));
  return (
    <>
      <div class="title">
        <h1>{found.name || code}</h1>
        <p>
          {words.plan} <bdi>{found.plan}</bdi> · {end}
          {found.isSuspended && <strong class="badge bad">{words.suspended}</strong>}
        </p>
      </div>
      <dl class="figures">
        <Figure
          label={words.links}
          value={number(found.linkCount)}
          more={words.ofMax(number(found.linkCountMax))}
        />
        <Figure label={words.full} value={number(found.fullCount)} more="" />
        <Figure label={words.admitted} value={sum('up')} more={words.fortnight} />
        <Figure label={words.refused} value={sum('down')} more={words.fortnight} />
      </dl>
      <section class="card">
        <Bars days={bars} label={words.byDay} up={words.admitted} down={words.refused} />
      </section>
      <section class="card">
        <h2>{words.refusals}</h2>
        {found.refusals.length === 0 && <p class="hint">{words.noRefusals}</p>}
        <ul class="list">
          {found.refusals.map((one) => (
            <li key={one.installCode}>
              <button
                type="button"
                class="plain code"
                onClick={() => go('/console/links', { search: one.installCode })}
              >
                {one.installCode}
              </button>
              <span>{texts.reasons[one.reason]}</span>
              <span class="number">{words.refusalCount(one.refusedCount)}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

export function OverviewPage({ at }: { at: string }) {
  const loaded = useLoaded((signal) => call('overview.read', { at }, signal), at);
  const found = loaded.value.value;
  return <Status of={loaded}>{found && <Page {...found} />}</Status>;
}
