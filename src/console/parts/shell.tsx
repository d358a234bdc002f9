/** The frame of each page: navigation, provider, and the account menu. */

import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call } from '../call.ts';
import { pageHere, pagesHere } from '../pages/here.ts';
import { at, go, isOfAppliance, may, me, path, providers, signOut, texts } from '../state.ts';
import { Button } from './button.tsx';
import { Dropdown } from './choice.tsx';
import { Mark, MenuIcon, SearchIcon } from './icons.tsx';
import { JobBar } from './job.tsx';
import { KeysOfPage, show } from './keys.tsx';
import { follow, isOffline } from './live.ts';
import { useLoaded } from './loaded.tsx';
import { LookMenu } from './look-menu.tsx';
import { OneTimeNotice } from './one-time.tsx';

function Item({ to, label, icon: Icon }: { to: string; label: string; icon: ComponentType }) {
  // Links keep the provider of the address and nothing else.
  const search = at.value === null ? '' : `?${new URLSearchParams({ at: at.value })}`;
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={`${to}${search}`}
      onClick={open}
      {...(pageHere().path === to && { 'aria-current': 'page' as const })}
    >
      <Icon />
      {label}
    </a>
  );
}

/** Shows the provider for which an operator acts, with a link back. */
function Acting({ code }: { code: string }) {
  const name = useLoaded((signal) => call('providers.show', { code }, signal), code);
  return (
    <div class="acting">
      <p class="hint">{texts.providers.acting}</p>
      <strong>
        <bdi>{name.value.value?.name || code}</bdi>
      </strong>
      <Button label={texts.providers.back} onClick={() => go('/console/providers', { at: null })} />
    </div>
  );
}

function ProviderChoice() {
  if (isOfAppliance.value) return at.value === null ? null : <Acting code={at.value} />;
  if (providers.value.length < 2) return null;
  return (
    <Dropdown
      class="provider"
      label={texts.shell.provider}
      options={providers.value.map(({ code, name }) => [code, name || code])}
      value={at.value ?? ''}
      onChoice={(code) => go(path.value, { at: code })}
    />
  );
}

/** The navigation: a sidebar, or on a phone a menu over the page. */
function Side() {
  const side = useRef<HTMLDivElement>(null);
  const here = `${path.value} ${at.value}`;
  useEffect(() => {
    if (side.current?.matches(':popover-open')) side.current.hidePopover();
  }, [here]);
  return (
    <div class="side" id="menu" popover="auto" ref={side}>
      <div class="brand">
        <Mark />
        <span>Gatepost</span>
      </div>
      <ProviderChoice />
      <button type="button" class="find" onClick={() => show('palette')}>
        <SearchIcon />
        {texts.palette.open}
        <kbd>Ctrl K</kbd>
      </button>
      <nav aria-label={texts.shell.navigation}>
        {pagesHere().map(({ icon, nameIn, path: to }) => (
          <Item key={to} to={to} label={nameIn(texts)} icon={icon} />
        ))}
      </nav>
      <div class="foot">
        <LookMenu />
        <p class="who">
          <bdi>{me.value?.name}</bdi>
          <Button label={texts.shell.leave} class="plain" onClick={signOut} />
        </p>
      </div>
    </div>
  );
}

/** The bar of a phone: the name of the page, and the button of the navigation. */
function Bar({ name }: { name: string }) {
  return (
    <div class="bar">
      <button type="button" popovertarget="menu" aria-label={texts.shell.navigation}>
        <MenuIcon />
      </button>
      <span>{name}</span>
      <button type="button" aria-label={texts.palette.name} onClick={() => show('palette')}>
        <SearchIcon />
      </button>
    </div>
  );
}

export function Shell({ children }: { children: ComponentChildren }) {
  const code = at.value;
  useEffect(() => (code === null || !may('links.list') ? undefined : follow(code)), [code]);
  const name = pageHere().nameIn(texts);
  useEffect(() => {
    document.title = `${name} · Gatepost`;
  }, [name]);
  return (
    <div class="shell">
      <a class="skip" href="#content">
        {texts.shell.skip}
      </a>
      <header>
        <Bar name={name} />
        <Side />
      </header>
      <main id="content" tabIndex={-1}>
        <p class="notice offline" role="status" hidden={!isOffline.value}>
          {isOffline.value && texts.shell.offline}
        </p>
        <OneTimeNotice />
        {code !== null && may('jobs.list') && <JobBar key={code} at={code} />}
        {children}
      </main>
      <KeysOfPage />
    </div>
  );
}
