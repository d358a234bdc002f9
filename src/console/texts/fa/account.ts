import type { account as english } from '../en/account.ts';
import type { Like } from '../texts.ts';

export const account: Like<typeof english> = {
  title: 'حساب شما',
  finish: 'با پیوندی یک‌بارمصرف آمده‌اید. برای بازگشت، گذرواژه بگذارید یا کلید عبور بیفزایید.',
  password: 'گذرواژه',
  passwordHint: 'دست‌کم ۱۰ نویسه. با تغییر آن نشست‌های دیگر پایان می‌یابند.',
  setPassword: 'گذاشتن گذرواژه',
  isSet: 'گذرواژه گذاشته شد.',
  passkeys: 'کلیدهای عبور',
  passkeyHint: 'اثر انگشت، چهره یا کلید سخت‌افزاری. به نام میزبان نیاز دارد، نه نشانی IP.',
  passkeyName: 'نام این دستگاه',
  addPasskey: 'افزودن کلید عبور',
  remove: 'برداشتن',
  sessions: 'نشست‌ها',
  thisOne: 'همین مرورگر',
  end: 'پایان',
  factor: 'برنامهٔ تأیید هویت',
  factorHint: 'کدی در کنار گذرواژه.',
  beginFactor: 'راه‌اندازی',
  scan: 'این را با برنامه اسکن کنید و کدی را که نشان می‌دهد بنویسید.',
  confirm: 'تأیید',
  inForce: 'در کنار گذرواژه کد خواسته می‌شود.',
  removeFactor: 'خاموش کردن',
  recovery: 'این کدهای بازیابی را نگه دارید: هر کدام یک بار کار می‌کند و دیگر نشان داده نمی‌شود.',
  seen: (time) => `آخرین استفاده ${time}`,
  agent: (browser, system) => `\u2068${browser}\u2069، \u2068${system}\u2069`,
};
