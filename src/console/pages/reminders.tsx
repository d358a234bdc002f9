/** The page of reminders: their list, quiet hours, and changes by keys that wait. */

import { useSignal } from '@preact/signals';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Dropdown } from '../parts/choice.tsx';
import { Ask } from '../parts/dialog.tsx';
import { Field, Form, Select } from '../parts/form.tsx';
import { number, time } from '../parts/format.ts';
import { Card, Nothing, Title } from '../parts/layout.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { type Draft, ReminderForm } from '../parts/reminder-form.tsx';
import { Rounds, Stopped } from '../parts/reminder-rounds.tsx';
import { Problem, useWork } from '../parts/work.tsx';
import { may, texts } from '../state.ts';

type List = Got<'reminders.list'>;
type Reminder = List['reminders'][number];

const HOURS_OF_DAY = 24;

/** Returns when a reminder is sent, in words. */
function whenOf({ amount, kind }: Pick<Draft, 'kind' | 'amount'>): string {
  const words = texts.reminders;
  const isDays = amount % HOURS_OF_DAY === 0;
  if (kind === 'before_end') return words.before(isDays ? amount / HOURS_OF_DAY : amount, isDays);
  if (kind === 'after_end') return words.after(amount);
  return kind === 'traffic' ? words.used(number(amount)) : words.silent(amount);
}

const LOOKS = {
  on: 'badge good',
  off: 'badge',
  waits: 'badge',
  foreign_link: 'badge bad',
} as const;

/** Returns the text in the language of the reader, or else the first one. */
const shownText = ({ texts: all }: Reminder) => all[texts.tag.slice(0, 2)] ?? Object.values(all)[0];

interface PartProps {
  at: string;
  list: List;
  onChange: () => Promise<void>;
}

/** Switches a reminder; the first one that goes on tells that figures are kept from then on. */
function Switch({ at, list, of, onChange }: PartProps & { of: Reminder }) {
  const { isBusy, problem, run } = useWork();
  const words = texts.reminders;
  const set = async (enabled: 0 | 1) => {
    await call('reminders.set', { at, id: of.id, enabled });
    await onChange();
  };
  if (of.enabled === 0 && !list.keepsFigures) {
    return (
      <Ask label={words.switchOn} title={whenOf(of)} onYes={() => set(1)}>
        <p>{words.switchOnHint}</p>
      </Ask>
    );
  }
  const enabled = of.enabled === 1 ? 0 : 1;
  return (
    <>
      <Button
        label={enabled === 1 ? words.switchOn : words.switchOff}
        disabled={isBusy.value}
        onClick={() => run(() => set(enabled))}
      />
      <Problem of={problem} />
    </>
  );
}

function ReminderCard({ of, ...more }: PartProps & { of: Reminder }) {
  const isEdited = useSignal(false);
  const { at, list, onChange } = more;
  const words = texts.reminders;
  const stop = () => (isEdited.value = false);
  return (
    <section class="card">
      <div class="title">
        <h2>{whenOf(of)}</h2>
        <span class={LOOKS[of.state]}>{words.states[of.state]}</span>
      </div>
      {of.state === 'foreign_link' && <p class="notice">{words.foreignHint}</p>}
      {of.textsFromMs !== null && <p class="notice">{words.changedByKey(time(of.textsFromMs))}</p>}
      {isEdited.value ? (
        <ReminderForm
          at={at}
          of={of}
          bounds={list.amounts}
          submit={texts.common.save}
          onCancel={stop}
          onSave={async (own) => {
            await call('reminders.set', { at, id: of.id, ...own });
            stop();
            await onChange();
          }}
        />
      ) : (
        <>
          <p dir="auto">{shownText(of)?.replace(/<[^>]*>/g, '')}</p>
          <p class="hint">
            <bdi class="code">{Object.keys(of.texts).join(' ')}</bdi>
          </p>
          {may('reminders.set') && (
            <div class="actions">
              <Switch of={of} {...more} />
              <Button label={words.edit} onClick={() => (isEdited.value = true)} />
              <Ask
                label={words.remove}
                title={words.removeTitle}
                onYes={async () => {
                  await call('reminders.remove', { at, id: of.id });
                  await onChange();
                }}
              >
                <p>{words.removeHint}</p>
              </Ask>
            </div>
          )}
        </>
      )}
    </section>
  );
}

/** Adds a reminder from a default, or one with a text of one's own. */
function Add({ at, list, onChange }: PartProps) {
  const draft = useSignal<Draft | null>(null);
  const { isBusy, problem, run } = useWork();
  const words = texts.reminders;
  const free = list.defaults.filter(
    ({ amount, kind }) => !list.reminders.some((one) => one.kind === kind && one.amount === amount),
  );
  const own = list.amounts.map(({ kind, min }): Draft => ({ kind, amount: min || 1, texts: {} }));
  const all: readonly Draft[] = [...free, ...own];
  const nameOf = (one: Draft) =>
    free.some((known) => known === one) ? whenOf(one) : `${words.amounts[one.kind]}: ${words.own}`;
  if (list.reminders.length >= list.countMax) return null;
  if (draft.value !== null) {
    const of = draft.value;
    return (
      <Card title={words.add}>
        <ReminderForm
          at={at}
          of={of}
          bounds={list.amounts}
          submit={words.add}
          onCancel={() => (draft.value = null)}
          onSave={async (given) => {
            await call('reminders.add', { at, kind: of.kind, ...given });
            draft.value = null;
            await onChange();
          }}
        />
      </Card>
    );
  }
  return (
    <div class="actions">
      {free.some(({ kind }) => kind !== 'inactive') && (
        <Button
          class={list.reminders.length === 0 ? 'main' : ''}
          label={words.addDefaults}
          disabled={isBusy.value}
          onClick={() =>
            run(async () => {
              await call('reminders.defaults', { at });
              await onChange();
            })
          }
        />
      )}
      <Dropdown
        label={words.add}
        value=""
        options={[['', words.add], ...all.map((one, n) => [String(n), nameOf(one)] as const)]}
        onChoice={(n) => (draft.value = all[Number(n)] ?? null)}
      />
      <Problem of={problem} />
    </div>
  );
}

/** Isolates an address from the text around it, which may run from right to left. */
const apart = (address: string) => `\u2068${address}\u2069`;

/** Changes by keys, for a person to look through. */
function Waiting({ at, list, onChange }: PartProps) {
  const { addresses, addressesFromMs } = list.waiting;
  const written = list.reminders.filter(({ textsFromMs }) => textsFromMs !== null);
  const words = texts.reminders;
  if (addresses.length === 0 && written.length === 0) return null;
  const labels = { supportUrl: texts.heads.support_url, webPageUrl: texts.heads.web_page_url };
  return (
    <section class="notice">
      <h2>{words.waiting}</h2>
      <p>{words.waitingHint}</p>
      <ul>
        {addresses.map(({ field, next, used }) => (
          <li key={field}>
            <bdi>
              {words.moved(
                labels[field],
                apart(used ?? words.noAddress),
                apart(next ?? words.noAddress),
                time(addressesFromMs ?? 0),
              )}
            </bdi>
          </li>
        ))}
        {written.map((one) => (
          <li key={one.id}>{whenOf(one)}</li>
        ))}
      </ul>
      {may('reminders.confirm') && (
        <Ask
          label={words.confirm}
          title={words.waiting}
          onYes={async () => {
            await call('reminders.confirm', { at, untilMs: list.nowMs });
            await onChange();
          }}
        >
          <p>{words.confirmHint}</p>
        </Ask>
      )}
    </section>
  );
}

const QUARTERS_OF_HOUR = 4;
const [FIRST_ZONE, LAST_ZONE] = [-12, 14];

const two = (n: number) => String(n).padStart(2, '0');

/** The zones in quarters of an hour that some place has. */
const ZONES = Array.from({ length: (LAST_ZONE - FIRST_ZONE) * QUARTERS_OF_HOUR + 1 }, (_, n) => {
  const minutes = FIRST_ZONE * 60 + n * 15;
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}).filter((zone) => /:00$|(?:03|04|05|06|09):30$|(?:05|08|12):45$/.test(zone));

function Hours({ at, list, onChange }: PartProps) {
  const words = texts.reminders;
  const { heads } = texts;
  const { quietFrom, quietTo, timeZone } = list.quiet;
  const zones = timeZone === null || ZONES.includes(timeZone) ? ZONES : [timeZone, ...ZONES];
  const clock = { type: 'time', dir: 'ltr' } as const;
  return (
    <Card title={words.hours} hint={words.hoursHint}>
      <Form
        submit={texts.common.save}
        done={texts.common.saved}
        keeps
        onSubmit={async (given) => {
          const wordIn = (name: string) => given[name] || null;
          await call('reminders.hours', {
            at,
            quietFrom: wordIn('quietFrom'),
            quietTo: wordIn('quietTo'),
            timeZone: wordIn('timeZone'),
          });
          await onChange();
        }}
      >
        <Field
          {...clock}
          label={heads.quiet_from}
          name="quietFrom"
          defaultValue={quietFrom ?? ''}
        />
        <Field {...clock} label={heads.quiet_to} name="quietTo" defaultValue={quietTo ?? ''} />
        <Select
          label={heads.time_zone}
          name="timeZone"
          options={[['', words.usualZone], ...zones.map((zone) => [zone, `UTC${zone}`] as const)]}
          value={timeZone ?? ''}
        />
      </Form>
    </Card>
  );
}

export function RemindersPage({ at }: { at: string }) {
  const loaded = useLoaded((signal) => call('reminders.list', { at }, signal), at);
  const list = loaded.value.value;
  const words = texts.reminders;
  const part = list && { at, list, onChange: () => loaded.load() };
  return (
    <>
      <Title name={texts.remindersTitle}>
        <p class="hint">{words.what}</p>
      </Title>
      <Status of={loaded}>
        {part && (
          <>
            {!part.list.mayNotify && <p class="notice">{words.needsPlan}</p>}
            <Stopped at={at} />
            <Waiting {...part} />
            {part.list.reminders.length === 0 && (
              <Nothing title={words.none} hint={words.noneHint} />
            )}
            {may('reminders.add') && <Add {...part} />}
            {part.list.reminders.map((one) => (
              <ReminderCard key={one.id} of={one} {...part} />
            ))}
            <Rounds at={at} whenOf={whenOf} />
            {may('reminders.hours') && <Hours {...part} />}
          </>
        )}
      </Status>
    </>
  );
}
