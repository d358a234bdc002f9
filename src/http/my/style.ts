/** The style of the page of users; head and buttons have the provider's colour. */

/** Removes line breaks: each page includes the style. */
const tidy = (text: string) => text.replace(/\n */g, '');

const STYLE = tidy(`
*{box-sizing:border-box;margin:0}
:root{
  color-scheme:light dark;--ink:#1d2126;--soft:#59616b;--ground:#f3f4f6;--card:#fff;
  --line:#dfe3e8;--warn:#fff4d6
}
@media(prefers-color-scheme:dark){:root{
  --ink:#eceef1;--soft:#a4adb8;--ground:#14171b;--card:#1d2228;--line:#333a43;--warn:#3a3115
}}
body{
  background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;
  overflow-wrap:anywhere
}
header{background:var(--brand);color:var(--on);padding:1.75rem 1rem 3.5rem}
header>*{max-width:32rem;margin-inline:auto}
main{max-width:34rem;margin-inline:auto}
.news li{display:block}
.news div,.news p{margin-block:.25rem}
h1{font-size:1.375rem;line-height:1.3}
header p{margin-block-start:.25rem}
main{padding:0 1rem 2rem;margin-block-start:-2rem;display:grid;gap:.75rem}
form>.card{margin-block-end:.75rem}
.card,li{
  background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem
}
.note{background:var(--warn)}
ul{list-style:none;padding:0;display:grid;gap:.75rem}
strong{display:block;font-weight:600}
small,.hint{color:var(--soft);font-size:.875rem}
.here{
  display:inline-block;border:1px solid var(--brand);border-radius:1rem;padding:0 .5rem;
  font-size:.8125rem
}
summary,button,.link{
  display:inline-block;min-height:2.75rem;padding:.5rem .875rem;border-radius:.5rem;
  font:inherit;cursor:pointer
}
li{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:start;gap:.75rem}
li div{flex:1 1 10rem}
summary{border:1px solid var(--line);list-style:none}
summary::-webkit-details-marker{display:none}
button{
  border:0;background:var(--brand);color:var(--on);margin-block-start:.75rem;font-weight:600
}
button.quiet{background:none;color:inherit;border:1px solid var(--soft);margin:0}
[hidden]{display:none!important}
ol{padding-inline-start:1.5rem}
ol li{display:list-item;background:none;border:0;padding:.25rem 0}
svg{max-width:15rem;margin-block:.75rem}
a{color:inherit}
.pay{
  background:var(--brand);color:var(--on);text-decoration:none;font-weight:600;
  margin-block-start:.75rem
}
label{font-weight:600}
input[type=text]{
  width:100%;font:inherit;padding:.625rem;margin-block:.5rem 0;border:1px solid var(--soft);
  border-radius:.5rem;background:var(--ground);color:var(--ink)
}
:focus-visible{outline:3px solid var(--ink);outline-offset:2px}
`);

const BRAND = '#2456c9';

/** Returns the relative luminance of a colour: WCAG 2.2. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the style with a colour, and with black or white text on it, by contrast. */
export function myStyle(color: string | null): string {
  const brand = color ?? BRAND;
  // At this luminance black and white have the same contrast.
  const on = luminance(brand) > 0.179 ? '#000' : '#fff';
  return `:root{--brand:${brand};--on:${on}}${STYLE}`;
}
