/** Language tags, and the locale of a notification for a reader of several languages. */

/** Tags that apps write for a language and that name a country: Happ and the specification. */
const COUNTRIES: ReadonlyMap<string, string> = new Map([['cn', 'zh-cn']]);

/** Returns a tag in lower case with hyphens: `zh_CN`, `CN` and `zh-cn` are the same. */
export function tidyTag(tag: string): string {
  const tidy = tag.trim().toLowerCase().replaceAll('_', '-');
  return COUNTRIES.get(tidy) ?? tidy;
}

/** Returns the language of a tidy tag: `zh` of `zh-hant-tw`. */
export const languageOf = (tag: string): string => tag.split('-', 1)[0] ?? '';

/** Languages of panel users that do not use Latin letters, with their scripts. */
export const SCRIPTS: ReadonlyMap<string, RegExp> = new Map([
  ...['ru', 'uk', 'be', 'kk'].map((tag) => [tag, /\p{Script=Cyrillic}/u] as const),
  ...['fa', 'ar'].map((tag) => [tag, /\p{Script=Arabic}/u] as const),
  ['zh', /\p{Script=Han}/u],
]);

/**
 * Returns the texts of the first language tag that has some: those of the same tag, else of its
 * language, else of the first tag of its language; undefined: the default texts apply. Ignores
 * case; `_` equals `-`, and `CN` equals `zh-CN`.
 *
 * The language of the default texts is unknown. They apply to a reader whose language has their
 * script, before a locale of a further language: a Russian phone with English as second language
 * shows the Russian default text, not the English locale.
 */
export function localeOf<T>(
  locales: Readonly<Record<string, T>>,
  languages: readonly string[],
  defaultText = '',
): T | undefined {
  const tags = Object.entries(locales).map(([key, texts]) => ({ tag: tidyTag(key), texts }));
  for (const name of languages) {
    const wanted = tidyTag(name);
    const language = languageOf(wanted);
    const found =
      tags.find(({ tag }) => tag === wanted) ??
      tags.find(({ tag }) => tag === language) ??
      tags.find(({ tag }) => languageOf(tag) === language);
    if (found !== undefined) return found.texts;
    if (SCRIPTS.get(language)?.test(defaultText)) return undefined;
  }
  return undefined;
}
