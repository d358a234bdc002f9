/** The panel of a provider: its terms, its rules, its key, and its removal. */

import { useSignal } from '@preact/signals';
import type { Got } from '../../http/console/table.ts';
import { call, Refusal } from '../call.ts';
import { go, may, texts, wordsFor } from '../state.ts';
import { Form, Select } from './form.tsx';
import { date, number, time } from './format.ts';
import { useDialog } from './link-tools.tsx';
import { Status, useLoaded } from './loaded.tsx';
import { Facts, Panel, Problem } from './operator.tsx';
import {
  lastDayText,
  PLAN_NAMES,
  PolicyFields,
  policyIn,
  RideFields,
  ridesIn,
  TermFields,
  termsIn,
} from './provider-form.tsx';
import { ShownOnce } from './provider-new.tsx';

type Shown = Got<'providers.show'>;

/** How long an old key stays valid, hours. */
const KEEP_HOURS = [0, 1, 24, 72, 168] as const;

interface PartProps {
  shown: Shown;
  /** Reloads the panel. */
  again: () => Promise<void>;
}

function Rotate({ shown, again }: PartProps) {
  const { isOpen, props } = useDialog();
  const made = useSignal<Got<'providers.rotate'> | null>(null);
  const words = texts.providers;
  const close = () => {
    isOpen.value = false;
  };
  return (
    <>
      <button
        type="button"
        onClick={() => {
          made.value = null;
          isOpen.value = true;
        }}
      >
        {words.rotate}
      </button>
      <dialog {...props} aria-label={words.rotate}>
        <h2>{words.rotate}</h2>
        {isOpen.value && made.value === null && (
          <Form
            submit={words.rotate}
            onSubmit={async ({ hours }) => {
              const given = { code: shown.code, keepOldHours: Number(hours) };
              made.value = await call('providers.rotate', given);
              await again();
            }}
            beside={
              <button type="button" onClick={close}>
                {texts.links.cancel}
              </button>
            }
          >
            <Select
              label={words.keepOld}
              name="hours"
              options={KEEP_HOURS.map((n) => [String(n), n === 0 ? words.atOnce : words.hours(n)])}
              value="24"
            />
          </Form>
        )}
        {isOpen.value && made.value !== null && (
          <div class="form">
            <ShownOnce of={made.value} />
            <div class="actions">
              <button type="button" onClick={close}>
                {texts.links.close}
              </button>
            </div>
          </div>
        )}
      </dialog>
    </>
  );
}

function Remove({ shown, onGone }: { shown: Shown; onGone: () => void }) {
  const { isOpen, props } = useDialog();
  const words = texts.providers;
  const { code, linkCount, name } = shown;
  const isBusy = useSignal(false);
  return (
    <>
      <button type="button" onClick={() => (isOpen.value = true)}>
        {words.remove}
      </button>
      <dialog {...props} aria-label={words.sure(name)}>
        <h2>{words.sure(name)}</h2>
        {isOpen.value && (
          <Form
            submit={words.remove}
            beside={
              <button type="button" onClick={() => (isOpen.value = false)}>
                {texts.links.cancel}
              </button>
            }
            onSubmit={async ({ typed }) => {
              if (typed !== code) throw new Refusal('wrong_code', words.wrongCode);
              isBusy.value = true;
              try {
                await call('providers.remove', { code });
              } finally {
                isBusy.value = false;
              }
              onGone();
            }}
          >
            <p>{words.sureHint(linkCount)}</p>
            <div class="field">
              <label for="remove-code">{words.typeCode(code)}</label>
              <input id="remove-code" name="typed" maxLength={8} autocomplete="off" required />
            </div>
            <p role="status" class="hint" hidden={!isBusy.value}>
              {isBusy.value && words.removing}
            </p>
          </Form>
        )}
      </dialog>
    </>
  );
}

function Edit({ shown, again }: PartProps) {
  const words = texts.providers;
  const { code, own, rides } = shown;
  return (
    <>
      <details>
        <summary>{words.edit}</summary>
        <Form
          key={code}
          submit={words.save}
          done={words.saved}
          keeps
          onSubmit={async (typed) => {
            await call('providers.edit', { code, ...termsIn(typed) });
            await again();
          }}
        >
          <TermFields of={shown} />
        </Form>
      </details>
      <details>
        <summary>{words.policy}</summary>
        <Form
          key={code}
          submit={words.save}
          done={words.saved}
          keeps
          onSubmit={async (typed) => {
            await call('providers.edit', { code, ...policyIn(typed) });
            await again();
          }}
        >
          <p class="hint">{words.policyHint}</p>
          <PolicyFields of={own} />
        </Form>
      </details>
      <details>
        <summary>{words.rides}</summary>
        <Form
          key={code}
          submit={words.save}
          done={words.saved}
          keeps
          onSubmit={async (typed) => {
            await call('providers.edit', { code, ...ridesIn(typed) });
            await again();
          }}
        >
          <p class="hint">{words.ridesHint}</p>
          <RideFields of={rides} />
        </Form>
      </details>
    </>
  );
}

function factsOf(shown: Shown) {
  const words = texts.providers;
  const { createdAtMs, lastDay, linkCount, linkCountDefault, linkCountMax, oldKeyUntilMs } = shown;
  const cap = number(linkCountMax ?? linkCountDefault);
  return [
    [words.plan, PLAN_NAMES[shown.plan]],
    [words.until, lastDayText(lastDay)],
    [texts.shell.links, words.ofCap(number(linkCount), cap)],
    [words.made, date(createdAtMs)],
    ...(oldKeyUntilMs === null ? [] : [[words.oldKeyUntil, time(oldKeyUntilMs)] as const]),
  ] as const;
}

interface PanelProps {
  code: string;
  onClose: () => void;
  /** Called after a change. */
  onChange: () => void;
}

export function ProviderPanel({ code, onClose, onChange }: PanelProps) {
  const problem = useSignal<string | null>(null);
  const loaded = useLoaded((signal) => call('providers.show', { code }, signal), code);
  const shown = loaded.value.value;
  const words = texts.providers;
  const again = async () => {
    onChange();
    await loaded.load();
  };
  const suspend = async (isSuspended: boolean) => {
    const done = call('providers.edit', { code, isSuspended });
    problem.value = await done.then(() => null, wordsFor);
    await again();
  };
  const title = (
    <>
      <bdi>{shown?.name}</bdi> <bdi class="code">{code}</bdi>
    </>
  );
  const isOff = shown !== null && shown.suspendedAtMs !== null;
  return (
    <Panel title={title} onClose={onClose}>
      <Problem of={problem} />
      <Status of={loaded}>
        {shown && (
          <>
            <Facts of={factsOf(shown)} />
            <div class="form">
              <div class="actions">
                <button class="main" type="button" onClick={() => go('/console', { at: code })}>
                  {words.act}
                </button>
                {may('providers.edit') && (
                  <button type="button" onClick={() => suspend(!isOff)}>
                    {isOff ? words.resume : words.suspend}
                  </button>
                )}
                {may('providers.rotate') && <Rotate shown={shown} again={again} />}
                {may('providers.remove') && (
                  <Remove
                    shown={shown}
                    onGone={() => {
                      onChange();
                      onClose();
                    }}
                  />
                )}
              </div>
              <p class="hint">{words.actHint}</p>
            </div>
            {may('providers.edit') && <Edit shown={shown} again={again} />}
          </>
        )}
      </Status>
    </Panel>
  );
}
