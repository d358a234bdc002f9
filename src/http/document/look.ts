/** The look that the published pages share with the console (src/console/look/base.css). */

/** Colours, light and dark. */
export const TOKENS = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f5f1, #14171a); --card: light-dark(#fffefb, #1b1f23);
  --raised: light-dark(#fff, #22272c); --line: light-dark(#e2dfd6, #2d3338);
  --line-strong: light-dark(#8a8678, #727b84); --ink: light-dark(#1d2522, #e9ecea);
  --soft: light-dark(#5b635e, #a2aba6); --accent: light-dark(#0e6b5c, #4cc3aa);
  --accent-soft: light-dark(#dcefe9, #16332d); --block: light-dark(#f0eee7, #1b1f23);
  --shadow: 0 1px 2px light-dark(#1d25220f, #0006), 0 6px 20px light-dark(#1d25220a, #0004);
}`;

/** The drawn mark. */
export const MARK = `<svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
<rect width="32" height="32" rx="8" fill="#0e6b5c"/>
<path d="M9 7v18M23 7v18M9 13h9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>
<circle cx="23" cy="13" r="2.6" fill="#f4c95d"/></svg>`;
