/** The search of the documentation page; the policy of the page allows this script alone. */

/**
 * Hides calls and objects that lack a word of the search, and sections without any that is left.
 * Without scripts the page has no search and shows everything. `/` puts the cursor into the field.
 */
export const SEARCH = `
const field = document.getElementById('search');
const places = [...document.querySelectorAll('main article')];
const texts = places.map((place) => place.textContent.toLowerCase());
const links = [...document.querySelectorAll('nav li li')];
const found = document.getElementById('found');
field.parentElement.hidden = false;
function search() {
  const words = field.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
  const shown = new Set();
  places.forEach((place, at) => {
    place.hidden = !words.every((word) => texts[at].includes(word));
    if (!place.hidden) shown.add('#' + place.id);
  });
  for (const link of links) link.hidden = !shown.has(link.firstChild.getAttribute('href'));
  for (const part of document.querySelectorAll('main section')) {
    part.hidden = words.length > 0 && !part.querySelector('article:not([hidden])');
  }
  found.textContent = words.length > 0 ? shown.size + ' found' : '';
}
field.addEventListener('input', search);
addEventListener('keydown', (event) => {
  if (event.key !== '/' || document.activeElement === field) return;
  event.preventDefault();
  field.focus();
});
search();
`;
