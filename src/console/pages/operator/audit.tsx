/** The audit log of the appliance: a filter, the entries, and the state of the chain. */

import { useSignal } from '@preact/signals';
import type { Given, Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Entries, type Page, readEnough } from '../../parts/audit-entries.tsx';
import { Button } from '../../parts/button.tsx';
import { Field, Form, Select } from '../../parts/form.tsx';
import { number, time } from '../../parts/format.ts';
import { Card, Facts, Title } from '../../parts/layout.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { Problem, useWork } from '../../parts/work.tsx';
import { goHere, may, query, texts } from '../../state.ts';

type Filter = Omit<Given<'audit.list'>, 'before'>;
type Chain = Got<'audit.chain'>;

const NAMES = ['provider', 'who', 'group', 'hwid', 'since', 'until'] as const;
const WHO = ['account', 'provider', 'operator', 'system', 'user'] as const;
const DAY_MS = 86_400_000;

/** Returns the midnight of a day in the viewer's zone. */
const startOf = (day: string | null) => {
  const ms = day ? new Date(`${day}T00:00:00`).getTime() : Number.NaN;
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
};

function filterOf(): Filter {
  const [provider, who, group, hwid, since, until] = NAMES.map((name) => query.value.get(name));
  const groups = Object.keys(texts.machine.groups) as NonNullable<Filter['group']>[];
  const untilMs = startOf(until ?? null);
  return {
    provider: provider || null,
    who: WHO.find((one) => one === who) ?? null,
    group: groups.find((one) => one === group) ?? null,
    hwid: hwid || null,
    sinceMs: startOf(since ?? null),
    // The last day is included.
    untilMs: untilMs === null ? null : untilMs + DAY_MS,
  };
}

function ChainState() {
  const words = texts.machine;
  const loaded = useLoaded((signal) => call('audit.chain', {}, signal), '');
  const checked = useSignal<Chain | null>(null);
  const { isBusy, problem, run } = useWork();
  const shown = checked.value ?? loaded.value.value;
  const verify = () =>
    run(async () => {
      checked.value = await call('audit.verify', {});
    });
  const check = shown?.check ?? null;
  return (
    <Card title={words.chain}>
      <Status of={loaded}>
        {shown && (
          <Facts
            of={[
              [words.entries, number(shown.entryCount)],
              [words.head, <bdi class="code">{shown.head ?? texts.activity.nothing}</bdi>],
              [words.verified, check === null ? words.neverVerified : time(check.atMs)],
            ]}
          />
        )}
        {check !== null && check.problem === null && (
          <p class="good" role="status">
            {words.whole(number(check.count))}
          </p>
        )}
        {check !== null && check.problem !== null && (
          <p class="problem" role="alert">
            <bdi>{check.problem}</bdi>
          </p>
        )}
        <Problem of={problem} />
        {may('audit.verify') && (
          <div class="actions">
            <Button label={words.verify} onClick={verify} disabled={isBusy.value} />
            <p class="hint" role="status">
              {isBusy.value ? words.checking : words.verifyHint}
            </p>
          </div>
        )}
      </Status>
    </Card>
  );
}

function Filters() {
  const words = texts.machine;
  const { actors } = texts.activity;
  const all = ['', texts.activity.groups.all] as const;
  const of = (name: (typeof NAMES)[number]) => query.value.get(name) ?? '';
  return (
    <details open={NAMES.some((name) => of(name) !== '')}>
      <summary>{words.filter}</summary>
      <Form
        submit={words.search}
        keeps
        onSubmit={async (typed) => {
          const wanted = NAMES.map((name) => [name, typed[name] || null]);
          goHere(Object.fromEntries(wanted));
        }}
      >
        <div class="fields">
          <Field
            label={texts.providers.codeLabel}
            name="provider"
            maxLength={8}
            defaultValue={of('provider')}
          />
          <Select
            label={texts.activity.actor}
            name="who"
            options={[all, ...WHO.map((who) => [who, actors[who]] as const)]}
            value={of('who')}
          />
          <Select
            label={texts.activity.group}
            name="group"
            options={[all, ...Object.entries(words.groups)]}
            value={of('group')}
          />
          <Field label="HWID" name="hwid" maxLength={128} defaultValue={of('hwid')} />
          <Field label={words.since} name="since" type="date" defaultValue={of('since')} />
          <Field label={words.until} name="until" type="date" defaultValue={of('until')} />
        </div>
      </Form>
    </details>
  );
}

export function AuditPage() {
  const filter = filterOf();
  const key = JSON.stringify(filter);
  const read = (before: Page['next'], signal?: AbortSignal) =>
    call('audit.list', { ...filter, before }, signal);
  const loaded = useLoaded(
    async (signal) => ({ key, page: await readEnough(read, null, signal) }),
    key,
  );
  const found = loaded.value.value;
  const isAll = Object.values(filter).every((one) => one === null);
  return (
    <>
      <Title name={texts.machine.audit} />
      <ChainState />
      <Filters key={key} />
      <Status of={loaded}>
        {found && <Entries key={found.key} isAll={isAll} first={found.page} read={read} />}
      </Status>
    </>
  );
}
