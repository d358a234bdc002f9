/** The apps in use, by the first characters of their `User-Agent`, in lower case. */

export const AGENTS = {
  Happ: ['happ/'],
  INCY: ['incy/'],
  FlClashX: ['flclash x/', 'flclashx/'],
  'Koala Clash': ['koala-clash/'],
  v2RayTun: ['v2raytun/'],
  Karing: ['karing/'],
  'Prizrak-Box': ['prizrak-box/'],
  LxBox: ['lxbox'],
  Hiddify: ['hiddify'],
  v2rayNG: ['v2rayng/'],
  'Clash Verge Rev': ['clash-verge/'],
  FlClash: ['flclash/'],
  Throne: ['throne/'],
  PassWall: ['passwall'],
  'sing-box': ['sfa/', 'sfi/', 'sfm/', 'sft/', 'sing-box'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type AppName = keyof typeof AGENTS;

const ALL: readonly (readonly [AppName, readonly string[]])[] = Object.entries(AGENTS) as never;

/**
 * Returns the app by the first characters of its `User-Agent`, in any case; null: unknown.
 *
 * @example appNameOf('Happ/3.2 iOS') // 'Happ'
 */
export function appNameOf(userAgent: string): AppName | null {
  const agent = userAgent.trim().toLowerCase();
  return ALL.find(([, starts]) => starts.some((start) => agent.startsWith(start)))?.[0] ?? null;
}
