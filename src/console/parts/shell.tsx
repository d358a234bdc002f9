/** The frame of each page: navigation, the provider, and the menu of the account. */

import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { call } from '../call.ts';
import { PAGES } from '../pages/index.ts';
import { at, go, may, me, path, providers, texts } from '../state.ts';
import { Mark } from './icons.tsx';
import { follow, isOffline } from './live.ts';
import { LookMenu } from './look-menu.tsx';

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

export function Shell({ children }: { children: ComponentChildren }) {
  const leave = async () => {
    await call('session.leave', {});
    me.value = null;
  };
  const code = at.value;
  useEffect(() => (code === null || !may('links.list') ? undefined : follow(code)), [code]);
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
          {PAGES.filter(({ needs }) => (needs === null ? me.value?.isAccount : may(needs))).map(
            ({ icon, nameIn, path: to }) => (
              <Item key={to} to={to} label={nameIn(texts)} icon={icon} />
            ),
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
        <p class="notice offline" role="status" hidden={!isOffline.value}>
          {isOffline.value && texts.shell.offline}
        </p>
        {children}
      </main>
      {/* On a phone the header has no room for it. */}
      <footer>
        <LookMenu />
      </footer>
    </div>
  );
}
