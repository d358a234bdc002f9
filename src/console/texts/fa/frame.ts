import type { texts as english } from '../en/frame.ts';
import type { Like } from '../texts.ts';

const common: Like<typeof english.common> = {
  save: 'ذخیره',
  saved: 'ذخیره شد.',
  close: 'بستن',
  cancel: 'انصراف',
  remove: 'حذف',
  enable: 'فعال کردن',
  disable: 'غیرفعال کردن',
  change: 'تغییر',
  more: 'نمایش بیشتر',
  further: 'جستجو در موارد قدیمی‌تر',
  stop: 'توقف',
  goOn: 'ادامه',
  name: 'نام',
  password: 'رمز عبور',
  key: 'کلید API',
  plan: 'پلن',
  state: 'وضعیت',
  file: 'فایل',
  actions: 'عملیات',
  asItIs: 'بدون تغییر',
  system: 'سیستم',
  address: 'آدرس',
  off: 'غیرفعال',
  restored: 'آنچه پیش‌تر نوشته بودید دوباره اینجاست.',
  throwAway: 'پاک کردن',
  numbered: (id) => `شمارهٔ ${id}`,
};

const shell: Like<typeof english.shell> = {
  overview: 'نمای کلی',
  links: 'لینک‌ها',
  account: 'حساب شما',
  provider: 'فروشنده',
  theme: 'پوسته',
  auto: 'سیستم',
  light: 'روشن',
  dark: 'تیره',
  languageName: 'زبان',
  leave: 'خروج',
  navigation: 'صفحه‌ها',
  skip: 'رفتن به محتوا',
  noRole: 'هنوز فروشنده‌ای نیست',
  noRoleHint: 'از مالک دعوت‌نامه بخواهید، یا با دستور gatepost provider add فروشنده بسازید.',
  noRightHint: 'مالک می‌تواند نقش دیگری به شما بدهد.',
  offline: 'اتصال برقرار نیست. اطلاعات صفحه شاید قدیمی باشد و پس از وصل شدن خودکار به‌روز می‌شود.',
};

const signIn: Like<typeof english.signIn> = {
  title: 'ورود',
  hint: 'لینک‌ها، دستگاه‌ها و پیام‌های سرویس شما.',
  byAccount: 'حساب',
  byKey: 'کلید اصلی API',
  code: 'کد برنامهٔ احراز هویت',
  codeHint: 'شش رقم، یا یکی از کدهای بازیابی.',
  providerCode: 'کد فروشنده',
  keyHint: 'همان auth_key در API. یک بار بررسی می‌شود و اینجا ذخیره نمی‌شود.',
  enter: 'ورود',
  passkey: 'ورود با کلید عبور (Passkey)',
  invited: 'شما دعوت شده‌اید',
  invitedHint: 'نامی را که با آن وارد می‌شوید انتخاب کنید.',
  linkOver: 'این لینک دیگر کار نمی‌کند یا پیش‌تر استفاده شده است. لینک تازه‌ای بخواهید.',
  signedInAs: (name) => `شما با نام ${name} وارد شده‌اید. لینکی که باز کردید برای ورود جداگانه است.`,
  leaveFor: 'خروج و باز کردن لینک',
  accept: 'قبول',
};

const account: Like<typeof english.account> = {
  title: 'حساب شما',
  finish:
    'هنوز نمی‌توانید دوباره وارد شوید. تا ده دقیقه پس از باز کردن لینک، رمز عبور بگذارید یا کلید عبور اضافه کنید؛ پس از آن لینک جدید لازم دارید.',
  passwordHint: 'حداقل ۱۰ نویسه. با تغییر آن نشست‌های دیگر پایان می‌یابند.',
  setPassword: 'ثبت رمز عبور',
  isSet: 'رمز عبور ثبت شد.',
  passkeys: 'کلیدهای عبور (Passkey)',
  passkeyHint: 'اثر انگشت، چهره یا کلید سخت‌افزاری. به دامنه نیاز دارد، نه آدرس IP.',
  passkeyName: 'نام این دستگاه',
  addPasskey: 'افزودن کلید عبور',
  rename: 'تغییر نام',
  byKey: 'با کلید اصلی API فروشنده وارد شده‌اید. با تغییر کلید همهٔ نشست‌هایش پایان می‌یابند.',
  surePasskey: (name) => `کلید عبور \u2068${name}\u2069 حذف شود؟`,
  surePasskeyHint: 'دیگر نمی‌توانید با آن وارد شوید.',
  sessions: 'نشست‌ها',
  thisOne: 'همین مرورگر',
  end: 'پایان',
  factor: 'برنامهٔ احراز هویت (2FA)',
  factorHint: 'کدی در کنار رمز عبور.',
  beginFactor: 'راه‌اندازی',
  scan: 'این را با برنامه اسکن کنید و کدی را که نشان می‌دهد وارد کنید.',
  confirm: 'تأیید',
  inForce: 'در کنار رمز عبور کد خواسته می‌شود.',
  removeFactor: 'غیرفعال کردن',
  recovery: 'این کدهای بازیابی را نگه دارید: هر کدام یک بار کار می‌کند و دوباره نمایش داده نمی‌شود.',
  seen: (time) => `آخرین استفاده ${time}`,
  agent: (browser, system) => `\u2068${browser}\u2069، \u2068${system}\u2069`,
};

const palette: Like<typeof english.palette> = {
  name: 'رفتن به صفحه، مورد یا عملیات',
  hint: 'صفحه، لینک، یادداشت، HWID، شمارهٔ پیام یا عملیات',
  pages: 'صفحه‌ها',
  records: 'موارد',
  nothing: 'چیزی پیدا نشد.',
  keys: 'کلیدهای میانبر',
  keyPalette: 'همین جستجو',
  keySearch: 'جستجو در صفحه',
  keyMove: 'حرکت در فهرست',
  keyOpen: 'باز کردن مورد انتخاب‌شده',
  keyClose: 'بستن پنجرهٔ باز',
  keyUndo: 'برگرداندن حذف دستگاه‌ها یا تغییر گروهی',
  open: 'جستجو',
  theme: (name) => `پوسته: ${name}`,
  message: (id) => `پیام ${id}`,
};

const copying: Like<typeof english.copying> = {
  copy: 'کپی',
  copied: 'کپی شد',
  asCurl: 'کپی به‌صورت curl',
  failed: 'کپی نشد: مرورگر اجازه نمی‌دهد.',
};

/** The rules of fields. */
const misfit: Like<typeof english.misfit> = {
  somewhere: 'یکی از مقدارها پذیرفته نشد:',
  length: (a, b) => `از ${a} تا ${b} نویسه`,
  range: (a, b) => `عدد صحیح از ${a} تا ${b}`,
  address: 'آدرس کامل https که از اینترنت در دسترس باشد',
  empty: 'نباید خالی باشد',
  placeholder: (name) => `جای‌نگهدار ناشناخته ${name}`,
  other: 'این مقدار مناسب نیست',
};

export const texts = { common, shell, signIn, account, palette, copying, misfit };
