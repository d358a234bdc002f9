/** The overview of a provider. */

import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Bars } from '../parts/bars.tsx';
import { Button } from '../parts/button.tsx';
import { date, megabytes, number, time } from '../parts/format.ts';
import { Card, Title } from '../parts/layout.tsx';
import { useLiveSlowly } from '../parts/live.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { isSetUp, SetupSteps } from '../parts/setup.tsx';
import { Share } from '../parts/share.tsx';
import { systemName } from '../parts/system.ts';
import { go, may, texts } from '../state.ts';

type Overview = Got<'overview.read'>;
type Quota = Overview['quotas'][number];

/** The most rows of systems and of apps. */
const MIX_SHOWN = 8;
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

/** Shows problems that need action, above all figures. */
function Warnings({ of }: { of: Overview }) {
  const words = texts.overview;
  const warnings = [
    ...(of.isSuspended ? [{ text: words.suspendedHint, to: null }] : []),
    ...(of.isActive || of.isSuspended ? [] : [{ text: words.endedHint, to: null }]),
    ...(of.hasDomain ? [] : [{ text: words.noDomain, to: '/console/domains' }]),
    ...(of.disabledWebhookCount > 0
      ? [{ text: words.webhooksOff(of.disabledWebhookCount), to: '/console/webhooks' }]
      : []),
  ];
  return (
    <>
      {warnings.map(({ text, to }) => (
        <div key={text} class="notice" role="status">
          <p>{text}</p>
          {to !== null && <Button label={words.look} onClick={() => go(to)} />}
        </div>
      ))}
    </>
  );
}

function Refusals({ of }: { of: Overview['refusals'] }) {
  const words = texts.overview;
  return (
    <Card title={words.refusals}>
      {of.length === 0 && <p class="hint">{words.noRefusals}</p>}
      <ul class="list">
        {of.map((one) => (
          <li key={one.installId}>
            <Button
              label={one.installCode}
              class="plain code"
              onClick={() => go('/console/links', { link: `${one.installId}` })}
            />
            <span>
              {one.note !== null && (
                <>
                  <bdi>{one.note}</bdi>{' '}
                </>
              )}
              {texts.reasons[one.reason]}
            </span>
            <span class="number">{words.refusalCount(one.refusedCount)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Shows devices by system and app, as bars. */
function Mix({ of }: { of: Overview['mix'] }) {
  const words = texts.overview;
  const most = Math.max(1, ...(of?.counts ?? []).map(({ count }) => count));
  return (
    <Card title={words.mix}>
      {of === null && <p class="hint">{words.mixLater}</p>}
      {of?.counts.length === 0 && <p class="hint">{words.noDevices}</p>}
      <ul class="mix">
        {of?.counts.slice(0, MIX_SHOWN).map(({ os, app, count }) => (
          <li key={`${os} ${app}`}>
            <bdi>{systemName(os) || words.otherSystem}</bdi>
            <bdi class="hint">{app || words.otherApp}</bdi>
            <Share of={count / most} />
            <span class="number">{number(count)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Shows how much of each quota is used. */
function Quotas({ of }: { of: readonly Quota[] }) {
  const words = texts.overview;
  return (
    <Card title={words.quotas}>
      <ul class="mix quotas">
        {of.map(({ max, name, used }) => {
          const shown = name === 'kept_bytes' ? megabytes : number;
          const share = max === 0 ? 1 : used / max;
          return (
            <li key={name}>
              <span>{words.quota[name]}</span>
              <Share of={share} isHigh={share >= 0.8} />
              <bdi class="number">{words.usedOf(shown(used), shown(max))}</bdi>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

function Next({ of }: { of: Overview['next'] }) {
  const words = texts.overview;
  return (
    <Card title={words.next}>
      {of.length === 0 && <p class="hint">{words.noNext}</p>}
      <ul class="list">
        {of.map(({ dueAtMs, hwidCount, id, isByFilter, isPush, os }) => (
          <li key={id}>
            <Button
              label={isPush ? words.notification : words.command}
              class="plain"
              onClick={() => go('/console/messages', { message: `${id}` })}
            />
            <span>
              {isByFilter ? (
                texts.messages.toFilter
              ) : hwidCount > 0 ? (
                words.toDevices(hwidCount)
              ) : (
                <bdi>{os}</bdi>
              )}
            </span>
            <span class="number">{time(dueAtMs)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Page({ found, setup }: { found: Overview; setup: Got<'setup.read'> }) {
  const words = texts.overview;
  const bars = found.days.map((one) => ({
    day: one.day,
    up: one.admitted,
    down: REFUSED.reduce((sum, name) => sum + one[name], 0),
  }));
  const sum = (part: 'up' | 'down') => number(bars.reduce((all, one) => all + one[part], 0));
  const { activeUntilMs } = found;
  const end = activeUntilMs === null ? words.noEnd : words.until(date(activeUntilMs));
  return (
    <>
      <Title name={found.name || found.code}>
        <p>
          {words.plan} <bdi>{found.plan}</bdi> · {end}
          {found.isSuspended && <strong class="badge bad">{words.suspended}</strong>}
        </p>
      </Title>
      <Warnings of={found} />
      {!isSetUp(setup) && (
        <Card title={texts.domains.missing}>
          <SetupSteps setup={setup} />
        </Card>
      )}
      <dl class="figures">
        <Figure
          label={words.links}
          value={number(found.linkCount)}
          more={words.ofMax(number(found.linkCountMax))}
        />
        <Figure label={words.full} value={number(found.fullCount)} more="" />
        {found.copiedCount > 0 && (
          <Figure label={words.copied} value={number(found.copiedCount)} more="" />
        )}
        <Figure label={words.admitted} value={sum('up')} more={words.fortnight} />
        <Figure label={words.refused} value={sum('down')} more={words.fortnight} />
      </dl>
      <section class="card">
        <Bars days={bars} label={words.byDay} up={words.admitted} down={words.refused} />
      </section>
      <div class="columns">
        <Refusals of={found.refusals} />
        <Mix of={found.mix} />
        {may('messages.list') && <Next of={found.next} />}
        <Quotas of={found.quotas} />
      </div>
    </>
  );
}

export function OverviewPage({ at }: { at: string }) {
  const loaded = useLoaded(async (signal) => {
    const [found, setup] = await Promise.all([
      call('overview.read', { at }, signal),
      call('setup.read', { at }, signal),
    ]);
    return { found, setup };
  }, at);
  useLiveSlowly(['links', 'messages'], () => void loaded.load(), at);
  const shown = loaded.value.value;
  return <Status of={loaded}>{shown && <Page {...shown} />}</Status>;
}
