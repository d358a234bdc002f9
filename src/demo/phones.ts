/** The links and phones of a demonstration: a fixed set, so that no data grows without end. */

interface DemoLink {
  id: number;
  code: string;
  limit: number;
}

export interface DemoProvider {
  code: string;
  authKey: string;
  links: DemoLink[];
}

const MODELS = [
  ['android', 'Pixel 9'],
  ['ios', 'iPhone 17'],
  ['android', 'Galaxy S25'],
  ['android', 'Redmi Note 15'],
  ['ios', 'iPad Air'],
  ['windows', 'ThinkPad X1'],
  ['macos', 'MacBook Air'],
] as const;
const APPS = ['Happ/3.14', 'v2rayNG/1.10', 'Hiddify/2.5', 'INCY/1.8'] as const;

export interface Phone {
  of: DemoProvider;
  link: DemoLink;
  hwid: string;
  n: number;
}

/** Returns the phones of all links: each seventh link has one more than its limit. */
export const phonesOf = (providers: readonly DemoProvider[]): Phone[] =>
  providers.flatMap((of) =>
    of.links.flatMap((link, at) =>
      Array.from({ length: link.limit + (at % 7 === 0 ? 1 : 0) }, (_, place) => ({
        of,
        link,
        n: at + 3 * place,
        hwid: `demo-${of.code.toLowerCase()}-${at}-${place}`,
      })),
    ),
  );

/** Returns system, model and app of the phone with a number. */
export function modelOf(n: number): { os: string; model: string; app: string } {
  const [os, model] = MODELS[n % MODELS.length] ?? MODELS[0];
  return { os, model, app: APPS[n % APPS.length] ?? APPS[0] };
}
