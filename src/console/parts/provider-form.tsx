/** The form fields of a provider's terms. */

import type { Given, Got } from '../../call/table.ts';
import { texts } from '../state.ts';
import type { Options } from './choice.tsx';
import { Field, Select } from './form.tsx';
import { day, number } from './format.ts';

type Plan = Given<'providers.add'>['plan'];
type Shown = Got<'providers.show'>;

/** Names of plans, the same in each language. */
export const PLAN_NAMES: Readonly<Record<Plan, string>> = {
  basic: 'Basic',
  pro: 'Pro',
  enterprise: 'Enterprise',
};

export const lastDayText = (lastDay: string | null) =>
  lastDay === null
    ? texts.providers.noEnd
    : `${day(lastDay)} ${new Intl.DateTimeFormat(texts.tag, { year: 'numeric', timeZone: 'UTC' }).format(Date.parse(lastDay))}`;

type Typed = Readonly<Record<string, string>>;

/** Reads a number; an empty field means the value for all providers. */
const wholeIn = (typed: string | undefined) =>
  typed === undefined || typed === '' ? null : Number(typed);
const wordIn = (typed: string | undefined) => typed || null;

/** Reads the fields of {@link TermFields}. */
export const termsIn = ({ name = '', plan, lastDay, cap }: Typed) => ({
  name,
  plan: plan as Plan,
  lastDay: wordIn(lastDay),
  linkCountMax: wholeIn(cap),
});

const inputText = (value: number | string | null | undefined) => String(value ?? '');

export function TermFields({ of }: { of?: Shown }) {
  const words = texts.providers;
  return (
    <>
      <Field
        label={texts.heads.name}
        name="name"
        maxLength={255}
        dir="auto"
        defaultValue={of?.name ?? ''}
        required
      />
      <Select
        label={texts.heads.plan}
        name="plan"
        options={Object.entries(PLAN_NAMES)}
        value={of?.plan ?? 'enterprise'}
      />
      <Field
        label={texts.heads.active_until}
        hint={words.lastDayHint}
        name="lastDay"
        type="date"
        max="9999-12-30"
        defaultValue={inputText(of?.lastDay)}
      />
      <Field
        label={texts.heads.max_links}
        {...(of && { hint: words.capHint(number(of.linkCountDefault)) })}
        name="cap"
        type="number"
        min={0}
        max={999_999_999}
        defaultValue={inputText(of?.linkCountMax)}
      />
    </>
  );
}

/** How a term is edited: as a number, an address, or one of some values. */
type Control = { label: string; hint?: string } & (
  | { min: number; max: number }
  | { isUrl: true }
  | { options: Options; isNumber?: true }
);
type Controls<Own> = Readonly<Record<keyof Own, Control>>;

/** Returns the control for a choice; `usual` stands for null. */
const choice = (field: keyof typeof texts.choices & keyof typeof texts.labels, usual?: string) => ({
  label: texts.heads[field],
  options: [
    ...(usual === undefined ? [] : [['', usual] as const]),
    ...Object.entries(texts.choices[field]),
  ],
});

/** Terms of the provider for its links; one without a control does not compile. */
const policyControls = (words = texts.providers): Controls<Shown['own']> => ({
  inactiveDays: { label: texts.heads.inactive_days, hint: words.inactiveHint, min: 0, max: 3_650 },
  whenFull: choice('when_full', words.usual),
  coolDownHours: {
    label: texts.heads.cool_down_hours,
    hint: words.coolDownHint,
    min: 1,
    max: 720,
  },
  enforce: { ...choice('enforce', words.usual), isNumber: true },
  withoutHwid: choice('without_hwid', words.usual),
  samePhone: choice('same_phone', words.usual),
  samePhoneHours: {
    label: texts.heads.same_phone_hours,
    hint: words.samePhoneHoursHint,
    min: 1,
    max: 720,
  },
  copiedHwid: choice('copied_hwid', words.usual),
  whenNew: choice('when_new', words.usual),
});

/** Terms of what rides on subscriptions, and of the buttons beside them. */
const rideControls = (words = texts.providers): Controls<Shown['rides']> => {
  const { missing, always } = texts.choices.buttons;
  return {
    ride: choice('ride', words.rideUsual),
    rideDesktop: { ...choice('ride_desktop'), isNumber: true },
    supportUrl: { label: texts.heads.support_url, hint: words.buttonHint, isUrl: true },
    webPageUrl: { label: texts.heads.web_page_url, hint: words.buttonHint, isUrl: true },
    buttons: {
      label: texts.heads.buttons,
      options: [
        ['', missing],
        ['always', always],
      ],
    },
    discovery: { ...choice('discovery'), isNumber: true },
    subscriptionFigures: { ...choice('subscription_figures'), isNumber: true },
  };
};

/** Reads the fields of some controls; an empty one is null. */
const readOf = <Own,>(controls: Controls<Own>, typed: Typed) =>
  Object.fromEntries(
    Object.entries<Control>(controls).map(([name, control]) => {
      const isNumber = 'min' in control || 'isNumber' in control;
      return [name, (isNumber ? wholeIn : wordIn)(typed[name])];
    }),
  ) as Own;

export const policyIn = (typed: Typed) => readOf(policyControls(), typed);
export const ridesIn = (typed: Typed) => readOf(rideControls(), typed);

/** The fields of some controls, with their present values. */
function TermControls<Own>({ of, controls }: { of: Own; controls: Controls<Own> }) {
  const url = { type: 'url', dir: 'ltr', maxLength: 255, placeholder: 'https://' } as const;
  return (
    <>
      {Object.entries<Control>(controls).map(([name, { label, hint, ...control }]) => {
        const value = inputText(of[name as keyof Own] as number | string | null);
        if ('options' in control) {
          const { options } = control;
          return <Select key={name} {...{ label, name, options, value }} />;
        }
        const input = 'min' in control ? ({ type: 'number', ...control } as const) : url;
        const shown = { label, name, ...(hint && { hint }) };
        return <Field key={name} {...shown} {...input} defaultValue={value} />;
      })}
    </>
  );
}

export const PolicyFields = ({ of }: { of: Shown['own'] }) => (
  <TermControls of={of} controls={policyControls()} />
);

export const RideFields = ({ of }: { of: Shown['rides'] }) => (
  <TermControls of={of} controls={rideControls()} />
);
