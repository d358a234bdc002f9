import type { activity as english } from '../en/activity.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

/** Isolates a number, a code or a Latin word from the text around it. */
const apart = (fact: unknown) => `\u2068${fact}\u2069`;
const count = (n: unknown) => number.format(Number(n));
const devices = (n: unknown) => `${count(n)} دستگاه`;
const scopes: Readonly<Record<string, string>> = {
  read: 'مشاهده',
  links: 'لینک‌ها',
  send: 'ارسال',
  ties: 'اتصال اشتراک',
  cuts: 'لینک‌ها و قطع دسترسی',
};
const cutStates: Readonly<Record<string, string>> = {
  done: 'انجام شد',
  impossible: 'ممکن نیست',
  differs: 'فیلد دیگری هم تغییر کرد',
  ended: 'در یک روز موفق نشد',
  changed: 'دسترسی از پیش عوض شده بود',
};
const roles: Readonly<Record<string, string>> = {
  owner: 'مالک',
  sender: 'ارسال پیام',
  support: 'پشتیبانی',
  reader: 'فقط مشاهده',
  operator: 'مدیر سرور',
  observer: 'مدیر (فقط‌خواندنی)',
};
const role = (name: unknown) => roles[`${name}`] ?? `${name}`;

export const activity: Like<typeof english> = {
  title: 'گزارش فعالیت‌ها',
  groups: {
    all: 'همه',
    links: 'لینک‌ها',
    messages: 'پیام‌ها',
    domains: 'دامنه‌ها',
    people: 'کلیدها و اعضای تیم',
    webhooks: 'وب‌هوک‌ها',
  },
  group: 'موضوع',
  actor: 'انجام‌دهنده',
  actors: {
    all: 'همه',
    account: 'اعضای تیم',
    provider: 'کلید اصلی API',
    operator: 'مدیر سرور',
    system: 'خود Gatepost',
    user: 'کاربران',
  },
  byKey: (key) => `کلید API ${apart(key)}`,
  from: (address) => `از ${apart(address)}`,
  folded: (n, by) =>
    `${number.format(n)} تغییر مشابه با هم؛ آخرین آن‌ها نمایش داده شده است؛ از ${by}`,
  unlisted: (n) => `پیش از این ${number.format(n)} تغییر ثبت نشد`,
  none: 'هنوز چیزی اینجا نیست',
  noneHint: 'هر تغییر در لینک‌ها، دامنه‌ها، پیام‌ها، کلیدها و اعضای تیم اینجا ثبت می‌شود.',
  noMatch: 'چنین موردی نیست',
  noMatchHint: 'فیلتر دیگری انتخاب کنید.',
  looking: 'میان جدیدترین‌ها نیست؛ می‌توانید در موارد قدیمی‌تر جستجو کنید.',
  shown: (n) => `${number.format(n)} مورد نمایش داده شده`,
  change: (field, before, after) => `${field}: از ${apart(before)} به ${apart(after)}`,
  changed: (field) => `${field} تغییر کرد`,
  nothing: 'هیچ',
  usual: 'پیش‌فرض',
  values: {
    page: { on: 'روشن' },
    enabled: { true: 'بله', false: 'خیر' },
  },
  sentences: {
    'install.add': ({ id, install_limit: n }) => `لینک ${apart(id)} برای ${devices(n)} ساخته شد`,
    'install.update': ({ id }) => `لینک ${apart(id)} تغییر کرد`,
    'install.import': ({ id, hwids }) => `لینک ${apart(id)} با ${devices(hwids)} وارد شد`,
    'install.free': ({ id, hwids }) => `${devices(hwids)} از لینک ${apart(id)} حذف شد`,
    'install.update-many': ({ links, looked_at }) =>
      `${count(links)} از ${count(looked_at)} لینک تغییر کرد`,
    'install.remove-many': ({ links }) => `${count(links)} لینک حذف شد`,
    'install.revoke': ({ id, hwids }) =>
      `لینک ${apart(id)} کد جدید گرفت و ${devices(hwids)} حذف شد`,
    'install.remove': ({ id, hwids }) => `لینک ${apart(id)} با ${devices(hwids)} حذف شد`,
    'install.tie': ({ id }) => `یک اشتراک به لینک ${apart(id)} متصل شد`,
    'install.untie': ({ id }) => `اتصال اشتراک به لینک ${apart(id)} لغو شد`,
    'hwid.name': ({ install_id: id }) => `برای لینک ${apart(id)} دستگاه ثبت شد`,
    'hwid.delete': ({ install_id: id }) => `یک دستگاه از لینک ${apart(id)} حذف شد`,
    'hwid.ignore-copies': ({ install_id: id }) =>
      `گوشی‌های یک HWID لینک ${apart(id)} متعلق به یک نفر است`,
    'cut.ask': ({ install_id: id, cut: n }) =>
      `قطع دسترسی لینک ${apart(id)} درخواست شد (${apart(n)})`,
    'cut.cancel': ({ install_id: id, cut: n }) => `قطع دسترسی ${apart(n)} لینک ${apart(id)} لغو شد`,
    'cut.end': ({ install_id: id, cut: n, state }) =>
      `قطع دسترسی ${apart(n)} لینک ${apart(id)}: ${cutStates[`${state}`] ?? apart(state)}`,
    'cut.resume': ({ host }) => `قطع دسترسی در ${apart(host)} دوباره مجاز شد`,
    'bar.lift': ({ install_id: id }) => `دستگاه قطع‌شدهٔ لینک ${apart(id)} دوباره مجاز شد`,
    'domain.add': ({ id }) => `دامنهٔ ${apart(id)} متصل شد`,
    'domain.activate': ({ id }) => `دامنهٔ ${apart(id)} دوباره متصل شد`,
    'domain.rename': ({ id }) => `نام دامنهٔ ${apart(id)} تغییر کرد`,
    'domain.delete': ({ id }) => `دامنهٔ ${apart(id)} غیرفعال شد`,
    'domain.import': ({ id }) => `دامنهٔ ${apart(id)} وارد شد`,
    'notification.send': ({ id, ...about }) => `پیام ${apart(id)} فرستاده شد: ${target(about)}`,
    'command.send': ({ id, action_type: action, ...about }) =>
      `دستور ${apart(id)}، ${apart(action)}، فرستاده شد: ${target(about)}`,
    'distribution.cancel': ({ id }) => `پیام ${apart(id)} لغو شد`,
    'distribution.block': ({ id }) => `پیام ${apart(id)} مسدود شد`,
    'provider.add': ({ plan }) => `فروشنده با پلن ${apart(plan)} ساخته شد`,
    'provider.set': () => 'تنظیمات فروشنده تغییر کرد',
    'provider.suspend': () => 'پلن Gatepost تعلیق شد',
    'provider.resume': () => 'پلن Gatepost دوباره فعال شد',
    'provider.ties': ({ ties }) =>
      ties === 'on' ? 'اتصال اشتراک‌ها به لینک‌ها روشن شد' : 'اتصال اشتراک‌ها به لینک‌ها خاموش شد',
    'provider.rotate-key': () => 'کلید اصلی API فروشنده عوض شد',
    'provider.visit': () => 'صفحه‌های فروشنده باز شد',
    'database.download': () => 'کپی پایگاه داده دانلود شد',
    'provider.remove': ({ links }) => `حذف شروع شد، با ${count(links)} لینک`,
    'account.add': ({ id, role: name }) => `حساب ${apart(id)} اضافه شد: ${role(name)}`,
    'account.change-role': ({ id }) => `نقش حساب ${apart(id)} تغییر کرد`,
    'account.remove-role': ({ id, role: name }) => `حساب ${apart(id)} دیگر ${role(name)} نیست`,
    'account.set-password': ({ password }) =>
      password === 'set' ? 'رمز عبور ثبت شد' : 'رمز عبور حذف شد',
    'account.set-second-factor': () => 'عامل دوم تغییر کرد',
    'account.use-recovery-code': ({ left }) => `از کد بازیابی استفاده شد، ${count(left)} مانده`,
    'account.add-passkey': () => 'کلید عبور اضافه شد',
    'account.rename-passkey': () => 'نام کلید عبور تغییر کرد',
    'account.remove-passkey': () => 'کلید عبور حذف شد',
    'account.invite': ({ role: name }) =>
      name ? `دعوت‌نامه برای نقش ${role(name)}` : 'لینک یک‌بارمصرف ورود ساخته شد',
    'session.open': () => 'ورود به کنسول',
    'session.end': ({ count: n }) => `${count(n)} نشست پایان یافت`,
    'key.add': ({ key, scope }) =>
      `کلید API ${apart(key)} برای ${scopes[`${scope}`] ?? scope} ساخته شد`,
    'key.remove': ({ key }) => `کلید API ${apart(key)} حذف شد`,
    'bot.add': ({ host }) => `به ربات ${apart(host)} اعتماد شد`,
    'bot.remove': ({ host }) => `اعتماد به ربات ${apart(host)} پایان یافت`,
    'reminder.add': ({ id }) => `یادآوری ${id} اضافه شد`,
    'reminder.set': ({ id }) => `یادآوری ${id} تغییر کرد`,
    'reminder.remove': ({ id }) => `یادآوری ${id} حذف شد`,
    'reminder.resume': () => 'یادآوری‌ها از سر گرفته شد',
    'reminder.confirm': () => 'تغییرهای کلیدهای API تأیید شد',
    'webhook.add': ({ id }) => `وب‌هوک ${apart(id)} اضافه شد`,
    'webhook.update': ({ id }) => `وب‌هوک ${apart(id)} تغییر کرد`,
    'webhook.rotate': ({ id }) => `وب‌هوک ${apart(id)} کلید مخفی جدید گرفت`,
    'webhook.remove': ({ id }) => `وب‌هوک ${apart(id)} حذف شد`,
    'upstream.add': ({ host }) => `پنل متصل برای ${apart(host)} اضافه شد`,
    'upstream.update': ({ host }) => `پنل متصل برای ${apart(host)} تغییر کرد`,
    'upstream.remove': ({ host }) => `پنل متصل برای ${apart(host)} حذف شد`,
    'follow.accept': ({ host, missing: n }) =>
      `ادامهٔ همگام‌سازی با پنل ${apart(host)} تأیید شد: ${count(n)} کاربر ناپیدا`,
    'device.forget': () => 'یک دستگاه از همه‌جا حذف شد',
    'database.restore': () => 'پایگاه داده از نسخهٔ پشتیبان بازیابی شد',
    'database.move': () => 'پایگاه داده منتقل شد (SQLite ⇄ PostgreSQL)',
    'clock.trust': ({ count: n }) => `درستی ${count(n)} ساعت تأیید شد`,
    'audit.prune': ({ entries }) => `${count(entries)} مورد قدیمی حذف شد`,
  },
};

function target({ hwids, os }: Readonly<Record<string, unknown>>): string {
  return os ? `همه در ${apart(os)}` : devices(hwids);
}
