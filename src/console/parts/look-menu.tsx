/** Theme and language. */

import { setLook, texts } from '../state.ts';

const LANGUAGES = { en: 'English', ru: 'Русский', zh: '中文', fa: 'فارسی' };

/** The menu of theme and language, also before the sign-in. */
export function LookMenu() {
  const { theme = 'auto' } = document.documentElement.dataset;
  const { lang } = document.documentElement;
  return (
    <div class="look">
      <select
        aria-label={texts.shell.theme}
        value={theme}
        onChange={(event) => setLook(event.currentTarget.value, lang)}
      >
        <option value="auto">{texts.shell.auto}</option>
        <option value="light">{texts.shell.light}</option>
        <option value="dark">{texts.shell.dark}</option>
      </select>
      <select
        aria-label={texts.shell.languageName}
        value={lang}
        onChange={(event) => setLook(theme, event.currentTarget.value)}
      >
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <option key={tag} value={tag}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
