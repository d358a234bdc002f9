/** The form parts of notifications and commands: targets, time and reach. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Got, Given as Sent } from '../../call/table.ts';
import { call, Refusal } from '../call.ts';
import { go, texts, wordsFor } from '../state.ts';
import { Attempt } from './attempt.ts';
import { Choice } from './choice.tsx';
import { Curl } from './copy.tsx';
import { Field, Form, givenIn, Hidden } from './form.tsx';
import { number } from './format.ts';
import { unmark, wordsIn } from './misfit.ts';
import { SendTime } from './send-time.tsx';
import { TargetFilter } from './target-filter.tsx';
import { Restored, useDraft } from './use-draft.tsx';
import { Ways } from './ways.tsx';
import { Problem } from './work.tsx';

type Checked = Got<'send.check'>;
type Count = NonNullable<Checked['count']>;
export type Body = Record<string, unknown>;

/** The length of the field of HWIDs: a copied message may name hundreds. */
const HWIDS_LENGTH_MAX = 65_000;

/** The values of a form by name. */
export type Given = Readonly<Record<string, string>>;

/** The most HWIDs of one call of the API. */
const API_HWIDS_MAX = 5;

const hwidsIn = (list: string) => list.split(/[\s,]+/).filter(Boolean);
const isOverApi = (list: string) => hwidsIn(list).length > API_HWIDS_MAX;

/** Returns the targets in the fields of the API; a filter is the field `segment` beside them. */
export function targetsIn(given: Given): Body {
  if (given['to'] === 'filter') return { segment: JSON.parse(given['segment'] ?? 'null') };
  const os = ['ios', 'android'].filter((one) => given[`os ${one}`] === 'on');
  const isNamed = given['to'] !== 'os';
  const hwid = hwidsIn(given['hwid'] ?? '').join(',');
  return { specific_device_toggle: isNamed, ...(isNamed ? { hwid } : { os }) };
}

/** Returns the time in the fields of the API, in UTC+3; none: at once. */
export function scheduleIn(given: Given): Body {
  const [date, time] = (given['when'] ?? '').split('T');
  return date && time ? { send_date: date, send_time: time } : {};
}

const TO = ['os', 'hwid', 'filter'] as const;

interface TargetsProps {
  at: string;
  hwids?: string;
  os: readonly string[];
}

export function Targets({ at, hwids = '', os }: TargetsProps) {
  const to = useSignal<(typeof TO)[number]>(hwids === '' ? 'os' : 'hwid');
  const isMany = useSignal(isOverApi(hwids));
  const words = texts.compose;
  const isBeyond = to.value === 'filter' || (to.value === 'hwid' && isMany.value);
  return (
    <fieldset class={isBeyond ? 'targets beyond-api' : 'targets'}>
      <legend>{words.to}</legend>
      <Choice
        label={words.to}
        names={{ os: words.byOs, filter: words.byFilter, hwid: words.byHwid }}
        value={to.value}
        onChoice={(one) => (to.value = one)}
      />
      <Hidden
        name="to"
        value={to.value}
        onRestore={(value) => (to.value = TO.find((one) => one === value) ?? to.value)}
      />
      {to.value === 'filter' && <TargetFilter at={at} />}
      {to.value === 'os' && (
        <div class="ticks">
          {(['android', 'ios'] as const).map((one) => (
            <label key={one}>
              <input type="checkbox" name={`os ${one}`} defaultChecked={os.includes(one)} />
              {one === 'ios' ? 'iOS' : 'Android'}
            </label>
          ))}
        </div>
      )}
      {to.value === 'hwid' && (
        <Field
          label={words.hwids}
          hint={words.hwidsHint}
          name="hwid"
          dir="ltr"
          defaultValue={hwids}
          maxLength={HWIDS_LENGTH_MAX}
          onInput={({ currentTarget }) => {
            isMany.value = isOverApi(currentTarget.value);
          }}
          required
        />
      )}
    </fieldset>
  );
}

/** The time zone of the API. */
const ZONE = '+03:00';

function Schedule() {
  const when = useSignal('');
  const words = texts.compose;
  const atMs = Date.parse(`${when.value}:00${ZONE}`);
  return (
    <div class="schedule">
      <Field
        label={words.when}
        hint={words.whenHint}
        name="when"
        type="datetime-local"
        onInput={({ currentTarget }) => (when.value = currentTarget.value)}
      />
      {!Number.isNaN(atMs) && <SendTime ms={atMs} />}
    </div>
  );
}

/** Shows prominently how many devices the message reaches. */
function Reach({ of }: { of: Count }) {
  const words = texts.compose;
  const { isAtLeast, recipients, ways } = of;
  const least = (count: number) => (isAtLeast ? words.atLeast(number(count)) : number(count));
  return (
    <section class="reach" aria-label={words.reach}>
      <h2>{words.reaches(least(recipients), recipients)}</h2>
      <Ways of={of} />
      {ways.none > 0 && (
        <p class="problem">{words.cannot(least(ways.none), ways.none, recipients)}</p>
      )}
      <p class="hint">{words.notSent}</p>
    </section>
  );
}

/** Returns the text of the button that sends: how many devices get it, where that is counted. */
function sendLabel(count: Checked['count']): string {
  const words = texts.compose;
  if (count === null) return words.send;
  const { isAtLeast, recipients } = count;
  const least = isAtLeast ? words.atLeast(number(recipients)) : number(recipients);
  return words.sendTo(least, recipients);
}

type Kind = 'push' | 'command';

/** Takes the filter out of the fields of the API. */
function apart({ segment, ...body }: Body) {
  return { body, segment: (segment ?? null) as Exclude<Sent<'send.check'>['segment'], undefined> };
}

/** Sends. A repeat of an attempt with a lost answer sends nothing. */
function send(at: string, kind: Kind, body: Body, attempt: Attempt) {
  const given = { at, ...apart(body), once: attempt.nameOf([at, kind, body]) };
  return kind === 'push' ? call('send.notification', given) : call('send.command', given);
}

interface TestProps {
  at: string;
  kind: Kind;
  path: SendFormProps['path'];
  /** Returns the body without its time. */
  body: () => Body;
}

/** Sends to one device at once. It is its own form, so that Enter does not send to all. */
function Test({ at, body, kind, path }: TestProps) {
  const attempt = useRef(new Attempt());
  const says = useSignal<string | null>(null);
  const bodyTo = (given: Given) => {
    const hwid = (given['test'] ?? '').trim();
    return { ...apart(body()).body, specific_device_toggle: true, hwid, os: null };
  };
  const words = texts.compose;
  return (
    <details class="card">
      <summary>{words.test}</summary>
      <Form
        submit={words.sendTest}
        keeps
        beside={<Curl at={at} call={(given) => ({ path, body: bodyTo(given) })} />}
        onSubmit={async (given) => {
          says.value = null;
          const own = bodyTo(given);
          await send(at, kind, own, attempt.current);
          attempt.current.end();
          says.value = words.tested(own.hwid);
        }}
      >
        <Field
          label={words.testHwid}
          hint={words.testHint}
          name="test"
          dir="ltr"
          maxLength={128}
          required
        />
        <p class="good" role="status" hidden={says.value === null}>
          {says.value}
        </p>
      </Form>
    </details>
  );
}

interface SendFormProps {
  at: string;
  kind: Kind;
  /** The path of the call in the API. */
  path: '/remote/notification' | '/remote/command';
  /** Returns the body of that call. */
  bodyOf: (given: Given) => Body;
  onInput?: (given: Given) => void;
  /** As in {@link Form}. */
  draft: string | null;
  children: ComponentChildren;
}

/**
 * A form that checks first and then sends, with a test to one device. It sends exactly what it
 * checked: another content needs another check.
 */
export function SendForm({ at, bodyOf, children, kind, onInput, path, ...more }: SendFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const draft = useDraft(form, more.draft);
  const attempt = useRef(new Attempt());
  const checked = useSignal<{ content: string; of: Checked } | null>(null);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const words = texts.compose;
  const given = () => (form.current === null ? {} : givenIn(form.current));
  const body = () => bodyOf(given());
  const content = () => JSON.stringify(body());

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (isBusy.value) return;
    // The problem of a filter that names no devices yet.
    const unready = given()['unready'];
    if (unready) {
      problem.value = unready;
      return;
    }
    const asked = content();
    if (form.current !== null) unmark(form.current);
    isBusy.value = true;
    problem.value = null;
    try {
      if (checked.value?.content === asked) {
        const { id } = await send(at, kind, body(), attempt.current);
        draft.drop();
        go('/console/messages', { message: `${id}` });
      } else {
        const found = await call('send.check', { at, kind, ...apart(body()) });
        // Input after the call is not checked.
        checked.value = content() === asked ? { content: asked, of: found } : null;
      }
    } catch (fault) {
      // The message may have been sent; the same button asks again.
      const isLost = fault instanceof Refusal && fault.says === 'offline';
      if (!isLost) checked.value = null;
      problem.value = form.current === null ? wordsFor(fault) : wordsIn(form.current, fault);
    }
    isBusy.value = false;
  }

  const found = checked.value?.of;
  return (
    <div class="send">
      <form
        ref={form}
        class="form card send-form"
        aria-busy={isBusy.value}
        onSubmit={submit}
        onInput={() => {
          checked.value = null;
          draft.keep();
          onInput?.(given());
        }}
      >
        <Restored of={draft} />
        {children}
        <Schedule />
        {found?.count && <Reach of={found.count} />}
        {found?.notes.map((note) => (
          <p key={note} class="notice">
            {note}
          </p>
        ))}
        <Problem of={problem} />
        <div class="actions">
          <button class="main" type="submit" disabled={isBusy.value}>
            {found === undefined
              ? words.check
              : found.dueAtMs === null
                ? sendLabel(found.count)
                : words.schedule}
          </button>
          <Curl at={at} call={() => ({ path, body: apart(body()).body })} />
        </div>
      </form>
      <Test at={at} kind={kind} path={path} body={() => bodyOf({ ...given(), when: '' })} />
    </div>
  );
}
