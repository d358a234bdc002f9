/** Lets scripts import styles, which are bundled beside the script. */
declare module '*.css';
