/** Theme and language. */

import { setLook, texts } from '../state.ts';
import { Dropdown } from './choice.tsx';

const LANGUAGES = { en: 'English', ru: 'Русский', zh: '中文', fa: 'فارسی' };

/** The menu of theme and language, also before the sign-in. */
export function LookMenu() {
  const { theme = 'auto' } = document.documentElement.dataset;
  const { lang } = document.documentElement;
  return (
    <div class="look">
      <Dropdown
        label={texts.shell.theme}
        options={(['auto', 'light', 'dark'] as const).map((one) => [one, texts.shell[one]])}
        value={theme}
        onChoice={(one) => setLook(one, lang)}
      />
      <Dropdown
        label={texts.shell.languageName}
        options={Object.entries(LANGUAGES)}
        value={lang}
        onChoice={(tag) => setLook(theme, tag)}
      />
    </div>
  );
}
