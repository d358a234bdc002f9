/** The page at `/`, for people who open the address of the server; it reveals no operator. */

import { MARK, TOKENS } from './look.ts';

/** The page for programs and for browsers that do not ask for HTML by name; it never changes. */
export const PLAIN_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Gatepost</title>
</head>
<body>
<h1>Gatepost</h1>
<p>A server for programs. <a href="/docs">The documentation of its API</a> says what they can ask
it, and <a href="/openapi.json">openapi.json</a> says so to programs.</p>
</body>
</html>
`;

export const LANDING_STYLE = `${TOKENS}
* { box-sizing: border-box; margin: 0; }
body {
  min-height: 100vh; display: grid; place-content: center; gap: 1.5rem; padding: 1.5rem;
  background:
    radial-gradient(60rem 30rem at 50% -10rem, var(--accent-soft), transparent) var(--ground);
  color: var(--ink); font: .9375rem/1.55 system-ui, sans-serif;
}
main {
  width: min(30rem, 100vw - 2rem); padding: 2.25rem 2rem; border: 1px solid var(--line);
  border-radius: .875rem; background: var(--card); box-shadow: var(--shadow);
}
.mark { width: 2.75rem; height: 2.75rem; display: block; margin-bottom: 1.25rem; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.015em; }
p { color: var(--soft); margin: .5rem 0 1.5rem; }
ul { list-style: none; padding: 0; display: grid; gap: .5rem; }
li a {
  display: block; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .625rem;
  color: var(--ink); text-decoration: none; background: var(--raised);
}
li a:hover { border-color: var(--line-strong); }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
strong { display: block; font-weight: 600; }
small { color: var(--soft); font-size: .8125rem; }
`;

/** The page for browsers. */
export const LANDING_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Gatepost</title>
<style>${LANDING_STYLE}</style>
</head>
<body>
<main>
${MARK}
<h1>Gatepost</h1>
<p>A server for programs, and for those who look after them.</p>
<ul>
<li><a href="/console"><strong>Console</strong>
<small>Links, devices and messages of a provider</small></a></li>
<li><a href="/docs"><strong>Documentation</strong>
<small>What programs can ask this server</small></a></li>
<li><a href="/openapi.json"><strong>openapi.json</strong>
<small>The same for programs</small></a></li>
</ul>
</main>
</body>
</html>
`;
