/** The frame of each page: navigation, the provider, and the menu of the account. */

import type { ComponentChildren, ComponentType } from 'preact';
import { call } from '../call.ts';
import { at, go, me, path, providers, setLook, texts } from '../state.ts';
import { AccountIcon, LinksIcon, Mark, OverviewIcon } from './icons.tsx';

const LANGUAGES = { en: 'English', ru: 'Русский', zh: '中文', fa: 'فارسی' };

function Item({ to, label, icon: Icon }: { to: string; label: string; icon: ComponentType }) {
  const { search } = location;
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={`${to}${search}`}
      onClick={follow}
      {...(path.value === to && { 'aria-current': 'page' as const })}
    >
      <Icon />
      {label}
    </a>
  );
}

/** Chooses theme and language, also before the sign-in. */
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

export function Shell({ children }: { children: ComponentChildren }) {
  const leave = async () => {
    await call('session.leave', {});
    me.value = null;
  };
  return (
    <div class="shell">
      <a class="skip" href="#content">
        {texts.shell.skip}
      </a>
      <header>
        <div class="brand">
          <Mark />
          <span>Gatepost</span>
        </div>
        {providers.value.length > 1 && (
          <select
            class="provider"
            aria-label={texts.shell.provider}
            value={at.value ?? ''}
            onChange={(event) => go(path.value, { at: event.currentTarget.value })}
          >
            {providers.value.map(({ code, name }) => (
              <option key={code} value={code}>
                {name || code}
              </option>
            ))}
          </select>
        )}
        <nav aria-label={texts.shell.navigation}>
          <Item to="/console" label={texts.shell.overview} icon={OverviewIcon} />
          <Item to="/console/links" label={texts.shell.links} icon={LinksIcon} />
          {me.value?.isAccount && (
            <Item to="/console/account" label={texts.shell.account} icon={AccountIcon} />
          )}
        </nav>
        <div class="foot">
          <LookMenu />
          <p class="who">
            <bdi>{me.value?.name}</bdi>
            <button type="button" class="plain" onClick={leave}>
              {texts.shell.leave}
            </button>
          </p>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {/* On a phone the header has no room for it. */}
      <footer>
        <LookMenu />
      </footer>
    </div>
  );
}
