export const copying = {
  copy: 'Copy',
  copied: 'Copied',
  asCurl: 'Copy as curl',
  failed: 'It could not be copied: the browser does not allow it.',
};
