/** The page of the console: loads the texts, asks the server for the session, and draws. */

import { render } from 'preact';
import './look/index.css';
import type { ComponentType } from 'preact';
import { pageHere } from './pages/here.ts';
import type { PageEntry, PageProps } from './pages/index.ts';
import { SignIn } from './pages/sign-in.tsx';
import { Button } from './parts/button.tsx';
import { Nothing } from './parts/layout.tsx';
import { Status, useLoaded } from './parts/loaded.tsx';
import { loadFile } from './parts/page-file.ts';
import { Shell } from './parts/shell.tsx';
import { askMe, at, may, me, setTexts, texts, wordsFor } from './state.ts';
import type { BaseTexts } from './texts/texts.ts';

/** The components of the pages that were opened: the file of a page is fetched once. */
const opened = new Map<string, ComponentType<PageProps>>();

function LoadedPage({ entry, code }: { entry: PageEntry; code: string }) {
  const loaded = useLoaded(async () => {
    const Page = await loadFile(entry.load);
    opened.set(entry.path, Page);
    return Page;
  }, entry.path);
  const Page = opened.get(entry.path) ?? loaded.value.value;
  return Page === null ? <Status of={loaded}>{null}</Status> : <Page at={code} />;
}

function Content() {
  const entry = pageHere();
  const code = at.value;
  const isOfNone = entry.needs === null || entry.isOfAppliance === true;
  if (entry.needs === null) return <LoadedPage key={entry.path} entry={entry} code="" />;
  if (code === null && !isOfNone) {
    return <Nothing title={texts.shell.noRole} hint={texts.shell.noRoleHint} />;
  }
  if (!may(entry.needs)) {
    return <Nothing title={texts.refusals.no_right} hint={texts.shell.noRightHint} />;
  }
  return <LoadedPage key={entry.path} entry={entry} code={isOfNone ? '' : (code ?? '')} />;
}

function App() {
  if (me.value === undefined) return null;
  if (me.value === null) return <SignIn />;
  return (
    <Shell>
      <Content />
    </Shell>
  );
}

function Down({ why }: { why: string }) {
  return (
    <div class="door">
      <main class="card">
        <p role="alert">{why}</p>
        <Button label={texts.retry} onClick={() => location.reload()} />
      </main>
    </div>
  );
}

const { texts: file = '' } = document.documentElement.dataset;
const root = document.getElementById('app') as HTMLElement;
try {
  const [loaded] = await Promise.all([import(file) as Promise<{ texts: BaseTexts }>, askMe()]);
  setTexts(loaded.texts);
  root.replaceChildren();
  render(<App />, root);
} catch (fault) {
  setTexts(((await import(file)) as { texts: BaseTexts }).texts);
  root.replaceChildren();
  render(<Down why={wordsFor(fault)} />, root);
}
