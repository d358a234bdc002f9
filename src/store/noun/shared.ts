/** Parts that several nouns are made of: each is made once for a database, with its statements. */

/** Returns the maker of a part that returns the same part for the same database. */
export function shared<On extends object, Part>(make: (on: On) => Part): (on: On) => Part {
  const made = new WeakMap<On, Part>();
  return (on) => {
    const part = made.get(on) ?? make(on);
    made.set(on, part);
    return part;
  };
}
