/** The field for the limit of a link. */

import { texts } from '../state.ts';
import { Field, Select } from './form.tsx';

export const LIMIT_MAX = 100;
/** The limit of a new link, unless another is typed. */
export const LIMIT_USUAL = 3;

interface LimitProps {
  label?: string;
  hint?: string;
  /** Without a value the field may stay empty. */
  value?: number;
}

export function LimitField({ label = texts.heads.install_limit, hint = '', value }: LimitProps) {
  return (
    <Field
      label={label}
      hint={hint}
      name="limit"
      type="number"
      min={1}
      max={LIMIT_MAX}
      defaultValue={value ?? ''}
      required={value !== undefined}
    />
  );
}

/** The choice for links that have more devices than the new limit. */
export function AsTheyLeave({ isChosen = false }: { isChosen?: boolean }) {
  const words = texts.links;
  return (
    <Select
      label={words.moreDevices}
      name="leave"
      options={[
        ['', words.limitRefused],
        ['1', words.asTheyLeave],
      ]}
      value={isChosen ? '1' : ''}
    />
  );
}
