import type { texts as english } from '../en/frame.ts';
import type { Like } from '../texts.ts';

const shell: Like<typeof english.shell> = {
  overview: 'نمای کلی',
  links: 'پیوندها',
  account: 'حساب شما',
  provider: 'ارائه‌دهنده',
  theme: 'پوسته',
  auto: 'سیستم',
  light: 'روشن',
  dark: 'تیره',
  languageName: 'زبان',
  leave: 'خروج',
  navigation: 'صفحه‌ها',
  skip: 'رفتن به محتوا',
  noRole: 'هنوز ارائه‌دهنده‌ای نیست',
  noRoleHint: 'از یک مالک دعوت‌نامه بخواهید، یا با gatepost provider add بیفزایید.',
  offline: 'اتصال برقرار نیست. آنچه می‌بینید شاید تازه نباشد و پس از وصل شدن خودبه‌خود به‌روز می‌شود.',
};

const signIn: Like<typeof english.signIn> = {
  title: 'ورود',
  hint: 'پیوندها، دستگاه‌ها و پیام‌های سرویس شما.',
  byAccount: 'حساب',
  byKey: 'کلید ارائه‌دهنده',
  name: 'نام',
  password: 'گذرواژه',
  code: 'کد برنامهٔ تأیید هویت',
  codeHint: 'شش رقم، یا یکی از کدهای بازیابی.',
  providerCode: 'کد ارائه‌دهنده',
  key: 'کلید',
  keyHint: 'همان auth_key در API. یک بار بررسی می‌شود و اینجا نگه داشته نمی‌شود.',
  enter: 'ورود',
  passkey: 'ورود با کلید عبور',
  invited: 'شما دعوت شده‌اید',
  invitedHint: 'نامی را که با آن وارد می‌شوید برگزینید.',
  accept: 'پذیرفتن',
};

const account: Like<typeof english.account> = {
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
  rename: 'تغییر نام',
  byKey: 'با کلید اصلی ارائه‌دهنده وارد شده‌اید. عوض شدن کلید همهٔ نشست‌هایش را پایان می‌دهد.',
  surePasskey: (name) => `کلید عبور \u2068${name}\u2069 برداشته شود؟`,
  surePasskeyHint: 'دیگر نمی‌توان با آن وارد شد.',
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

const palette: Like<typeof english.palette> = {
  name: 'رفتن به صفحه، رکورد یا کار',
  hint: 'صفحه، پیوند، یادداشت، HWID، شماره پیام یا کار',
  pages: 'صفحه‌ها',
  actions: 'کارها',
  records: 'رکوردها',
  nothing: 'چیزی پیدا نشد.',
  keys: 'کلیدها',
  keyPalette: 'همین جستجو',
  keySearch: 'جستجو در صفحه',
  keyMove: 'جابه‌جایی در فهرست',
  keyOpen: 'باز کردن مورد انتخاب‌شده',
  keyClose: 'بستن آنچه باز است',
  close: 'بستن',
  open: 'جستجو',
  theme: (name) => `پوسته: ${name}`,
  message: (id) => `پیام ${id}`,
};

const copying: Like<typeof english.copying> = {
  copy: 'رونوشت',
  copied: 'رونوشت شد',
  asCurl: 'رونوشت به‌صورت curl',
  failed: 'رونوشت نشد: مرورگر اجازه نمی‌دهد.',
};

export const texts = { shell, signIn, account, palette, copying };
