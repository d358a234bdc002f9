/** A choice: buttons side by side, one of them pressed. */

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
