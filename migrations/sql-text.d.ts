/** Migrations are imported as text, so that they travel inside the executable. */
declare module '*.sql' {
  const text: string;
  export default text;
}
