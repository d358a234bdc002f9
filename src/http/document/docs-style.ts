/** The style of the documentation page; the policy of the page allows this style alone. */

import { TOKENS } from './look.ts';

export const STYLE = `${TOKENS}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0 auto; max-width: 76rem; padding: 0 1.25rem 4rem; background: var(--ground);
  color: var(--ink); font: .9375rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere;
}
header {
  border-bottom: 1px solid var(--line); display: grid; gap: 0 1rem; padding: 1.75rem 0 1rem;
  grid-template-columns: auto 1fr; align-items: center;
}
header p { grid-column: 1 / -1; color: var(--soft); }
.mark { width: 2rem; height: 2rem; }
h1 { font-size: 1.5rem; line-height: 1.2; letter-spacing: -.015em; margin: 0; }
h2 { font-size: 1.25rem; line-height: 1.25; letter-spacing: -.01em; margin: 3rem 0 .75rem; }
h3 { font-size: 1.0625rem; line-height: 1.3; margin: 2rem 0 .5rem; }
p { margin: .6rem 0; max-width: 46rem; }
a { color: var(--accent); text-underline-offset: .15em; }
:is(nav, h3) a { text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code { font: .9em ui-monospace, Menlo, Consolas, monospace; }
p code, td code, li code { background: var(--block); border-radius: .2rem; padding: .1em .3em; }
pre {
  background: var(--block); border: 1px solid var(--line); border-radius: .625rem;
  margin: .75rem 0; padding: .7rem .9rem; white-space: pre-wrap;
}
pre.answer { border-style: dashed; }
article { border-top: 1px solid var(--line); margin-top: 2rem; }
article h3 a { color: inherit; font-family: ui-monospace, Menlo, Consolas, monospace; }
article:target h3, [id]:target > td, td :target { background: var(--accent-soft); }
.method {
  background: var(--accent-soft); border-radius: .25rem; color: var(--accent); font-size: .8rem;
  font-weight: 600; padding: .15rem .45rem; vertical-align: .1em;
}
.summary { color: var(--soft); }
.type, em { color: var(--soft); font-size: .875rem; font-style: normal; }
em::before { content: "\\b7  "; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td {
  border-bottom: 1px solid var(--line); padding: .4rem .75rem .4rem 0; text-align: left;
  vertical-align: top;
}
th {
  color: var(--soft); font-size: .875rem; font-weight: 600; overflow-wrap: normal;
  white-space: nowrap;
}
td:first-child { width: 17rem; }
td:nth-child(2) { overflow-wrap: break-word; }
[hidden] { display: none; }
#search {
  background: var(--ground); border: 1px solid var(--line-strong); border-radius: .625rem;
  color: inherit; font: inherit; padding: .5rem .75rem; width: 100%;
}
#found { color: var(--soft); font-size: .875rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav > ul > li { margin: .5rem 0; }
nav li li a { font: .875rem ui-monospace, Menlo, Consolas, monospace; }
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 3rem; }
  header { grid-column: 1 / -1; }
  nav {
    align-self: start; max-height: 100vh; overflow-y: auto; padding: 1rem 0; position: sticky;
    top: 0;
  }
}
@media (max-width: 63.99rem) {
  nav > ul {
    display: grid; gap: 0 1.5rem; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr));
  }
  nav { border-bottom: 1px solid var(--line); padding: .5rem 0; }
}
@media (max-width: 40rem) {
  body { padding: 0 1rem 3rem; }
  table, tbody, tr, td { display: block; width: 100%; }
  thead { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td, td:first-child { border: 0; padding: .05rem 0; width: 100%; }
  td:empty { display: none; }
  td:not(:first-child)::before {
    color: var(--soft); content: attr(data-head) ": "; font-size: .875rem;
  }
}
@media print { nav { display: none; } body { display: block; } }
`;
