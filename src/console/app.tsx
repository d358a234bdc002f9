/** The page of the console: loads the texts, asks who is signed in, and draws. */

import { render } from 'preact';
import './look.css';
import { AccountPage } from './pages/account.tsx';
import { LinksPage } from './pages/links.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Shell } from './parts/shell.tsx';
import { askMe, at, me, path, setTexts, texts, wordsFor } from './state.ts';
import type { Texts } from './texts/texts.ts';

function Content() {
  if (path.value === '/console/account') return <AccountPage />;
  const code = at.value;
  if (code === null) {
    return (
      <div class="empty">
        <h2>{texts.shell.noRole}</h2>
        <p>{texts.shell.noRoleHint}</p>
      </div>
    );
  }
  return path.value === '/console/links' ? <LinksPage at={code} /> : <OverviewPage at={code} />;
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
        <button type="button" onClick={() => location.reload()}>
          {texts.retry}
        </button>
      </main>
    </div>
  );
}

const { texts: file = '' } = document.documentElement.dataset;
const loaded = (await import(file)) as { texts: Texts };
setTexts(loaded.texts);
const root = document.getElementById('app') as HTMLElement;
try {
  await askMe();
  render(<App />, root);
} catch (fault) {
  render(<Down why={wordsFor(fault)} />, root);
}
