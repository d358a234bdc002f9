/** Choices: buttons side by side, one of them pressed, or a list. */

interface ChoiceProps<T extends string> {
  label: string;
  /** Names by value, in their order. */
  names: Readonly<Record<T, string>>;
  value: T;
  onChoice: (value: T) => void;
}

export function Choice<T extends string>({ label, names, value, onChoice }: ChoiceProps<T>) {
  return (
    <fieldset class="chips" aria-label={label}>
      {(Object.keys(names) as T[]).map((one) => (
        <button key={one} type="button" aria-pressed={one === value} onClick={() => onChoice(one)}>
          {names[one]}
        </button>
      ))}
    </fieldset>
  );
}

/** Values with their labels. */
export type Options = readonly (readonly [value: string, words: string])[];

interface DropdownProps {
  label: string;
  options: Options;
  value: string;
  onChoice: (value: string) => unknown;
  class?: string;
}

/** A list whose label only screen readers have. */
export function Dropdown({
  label,
  options,
  value: chosen,
  onChoice,
  class: look = '',
}: DropdownProps) {
  return (
    <select
      class={look}
      aria-label={label}
      value={chosen}
      onChange={({ currentTarget }) => onChoice(currentTarget.value)}
    >
      {options.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}
