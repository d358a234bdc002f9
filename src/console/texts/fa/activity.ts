import type { activity as english } from '../en/activity.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

/** Isolates a number, a code or a Latin word from the text around it. */
const apart = (fact: unknown) => `\u2068${fact}\u2069`;
const devices = (n: unknown) => `${number.format(Number(n))} دستگاه`;
const scopes: Readonly<Record<string, string>> = {
  ...{ read: 'خواندن', links: 'پیوندها', send: 'ارسال' },
};
const roles: Readonly<Record<string, string>> = {
  ...{ owner: 'مالک', sender: 'فرستنده', support: 'پشتیبان', reader: 'خواننده' },
  ...{ operator: 'اپراتور', observer: 'ناظر' },
};
const role = (name: unknown) => roles[`${name}`] ?? `${name}`;

export const activity: Like<typeof english> = {
  title: 'فعالیت',
  groups: {
    all: 'همه',
    links: 'پیوندها',
    messages: 'پیام‌ها',
    domains: 'دامنه‌ها',
    people: 'کلیدها و کارکنان',
    webhooks: 'وب‌هوک‌ها',
  },
  group: 'چه چیزی',
  actor: 'از سوی',
  actors: {
    all: 'هر کسی',
    account: 'کارکنان',
    provider: 'کلید ارائه‌دهنده',
    operator: 'اپراتور',
    system: 'خود Gatepost',
    user: 'کاربران',
  },
  byKey: (key) => `کلید ${apart(key)}`,
  from: (address) => `از ${apart(address)}`,
  folded: (n, by) =>
    `${number.format(n)} تغییر از این دست با هم؛ آخرین آن‌ها نشان داده شده است؛ از ${by}`,
  unlisted: (n) => `پیش از این ${number.format(n)} تغییر بی‌ثبت ماند`,
  none: 'هنوز چیزی اینجا نیست',
  noneHint: 'هر تغییر پیوندها، دامنه‌ها، پیام‌ها، کلیدها و کارکنان اینجا ثبت می‌شود.',
  noMatch: 'چنین ثبتی نیست',
  noMatchHint: 'صافی دیگری برگزینید.',
  looking: 'میان تازه‌ترین‌ها نیست؛ می‌توان میان قدیمی‌ترها گشت.',
  shown: (n) => `${number.format(n)} ثبت نمایش داده شده`,
  change: (field, before, after) => `${field}: از ${apart(before)} به ${apart(after)}`,
  changed: (field) => `${field} تغییر کرد`,
  nothing: 'هیچ',
  fields: {
    install_limit: 'سقف',
    status: 'وضعیت',
    note: 'یادداشت',
    subscription_key: 'کلید اشتراک',
    inactive_days: 'روزهای بی‌استفاده',
    when_full: 'هنگام پر شدن',
    cool_down_hours: 'ساعت میان جایگزینی‌ها',
    enforce: 'اعمال سقف',
    without_hwid: 'بدون HWID',
    same_phone: 'همان گوشی',
    support_url: 'نشانی پشتیبانی',
    web_page_url: 'صفحهٔ وب',
    domain_name: 'نام',
    name: 'نام',
    plan: 'طرح',
    active_until: 'اشتراک تا',
    max_links: 'بیشترین پیوندها',
    ride: 'همراه اشتراک',
    page: 'صفحهٔ کاربر',
    page_color: 'رنگ صفحه',
    page_name: 'نام روی صفحه',
    buttons: 'دکمه‌ها',
    role: 'نقش',
    key: 'کلید',
    address: 'نشانی',
    events: 'رویدادها',
    enabled: 'روشن',
  },
  sentences: {
    'install.add': ({ id, install_limit: n }) => `پیوند ${apart(id)} برای ${devices(n)} ساخته شد`,
    'install.update': ({ id }) => `پیوند ${apart(id)} تغییر کرد`,
    'install.import': ({ id, hwids }) => `پیوند ${apart(id)} با ${devices(hwids)} آورده شد`,
    'install.free': ({ id, hwids }) => `${devices(hwids)} از پیوند ${apart(id)} برداشته شد`,
    'install.update-many': ({ job, links, looked_at }) =>
      `${links} از ${looked_at} پیوند تغییر کرد (کار ${job})`,
    'install.remove-many': ({ job, links }) => `${links} پیوند برداشته شد (کار ${job})`,
    'install.revoke': ({ id, hwids }) =>
      `پیوند ${apart(id)} کد تازه گرفت و ${devices(hwids)} برداشته شد`,
    'install.remove': ({ id, hwids }) => `پیوند ${apart(id)} با ${devices(hwids)} حذف شد`,
    'hwid.delete': ({ install_id: id }) => `یک دستگاه از پیوند ${apart(id)} برداشته شد`,
    'domain.add': ({ id }) => `دامنهٔ ${apart(id)} متصل شد`,
    'domain.activate': ({ id }) => `دامنهٔ ${apart(id)} دوباره متصل شد`,
    'domain.rename': ({ id }) => `نام دامنهٔ ${apart(id)} تغییر کرد`,
    'domain.delete': ({ id }) => `دامنهٔ ${apart(id)} غیرفعال شد`,
    'domain.import': ({ id }) => `دامنهٔ ${apart(id)} آورده شد`,
    'notification.send': ({ id, ...about }) => `پیام ${apart(id)} فرستاده شد: ${target(about)}`,
    'command.send': ({ id, action_type: action, ...about }) =>
      `فرمان ${apart(id)}، ${apart(action)}، فرستاده شد: ${target(about)}`,
    'distribution.cancel': ({ id }) => `پیام ${apart(id)} لغو شد`,
    'distribution.block': ({ id }) => `پیام ${apart(id)} متوقف شد`,
    'provider.add': ({ plan }) => `ارائه‌دهنده با طرح ${apart(plan)} ساخته شد`,
    'provider.set': () => 'تنظیمات ارائه‌دهنده تغییر کرد',
    'provider.suspend': () => 'اشتراک معلق شد',
    'provider.resume': () => 'تعلیق پایان یافت',
    'provider.rotate-key': () => 'ارائه‌دهنده کلید تازه گرفت',
    'provider.visit': () => 'صفحه‌های ارائه‌دهنده باز شد',
    'database.download': () => 'رونوشتی از پایگاه داده گرفته شد',
    'provider.remove': ({ links }) => `حذف آغاز شد، با ${number.format(Number(links))} پیوند`,
    'account.add': ({ id, role: name }) => `حساب ${apart(id)} افزوده شد: ${role(name)}`,
    'account.change-role': ({ id }) => `نقش حساب ${apart(id)} تغییر کرد`,
    'account.remove-role': ({ id, role: name }) => `حساب ${apart(id)} دیگر ${role(name)} نیست`,
    'account.set-password': ({ password }) =>
      password === 'set' ? 'گذرواژه تعیین شد' : 'گذرواژه برداشته شد',
    'account.set-second-factor': () => 'عامل دوم تغییر کرد',
    'account.use-recovery-code': ({ left }) =>
      `کد بازیابی به کار رفت، ${number.format(Number(left))} مانده`,
    'account.add-passkey': () => 'کلید عبور افزوده شد',
    'account.rename-passkey': () => 'نام کلید عبور تغییر کرد',
    'account.remove-passkey': () => 'کلید عبور برداشته شد',
    'account.invite': ({ role: name }) =>
      name ? `دعوت‌نامه برای نقش ${role(name)}` : 'پیوند یک‌بارمصرف ورود ساخته شد',
    'session.open': () => 'ورود به کنسول',
    'session.end': ({ count }) => `${number.format(Number(count))} نشست پایان یافت`,
    'key.add': ({ key, scope }) =>
      `کلید ${apart(key)} برای ${scopes[`${scope}`] ?? scope} ساخته شد`,
    'key.remove': ({ key }) => `کلید ${apart(key)} حذف شد`,
    'webhook.add': ({ id }) => `وب‌هوک ${apart(id)} افزوده شد`,
    'webhook.update': ({ id }) => `وب‌هوک ${apart(id)} تغییر کرد`,
    'webhook.rotate': ({ id }) => `وب‌هوک ${apart(id)} رمز تازه گرفت`,
    'webhook.remove': ({ id }) => `وب‌هوک ${apart(id)} حذف شد`,
    'upstream.add': ({ host }) => `بالادست دروازه برای ${host} افزوده شد`,
    'upstream.update': ({ host }) => `بالادست دروازه برای ${host} تغییر کرد`,
    'upstream.remove': ({ host }) => `بالادست دروازه برای ${host} حذف شد`,
    'device.forget': () => 'یک دستگاه از همه‌جا حذف شد',
    'database.restore': () => 'پایگاه داده از پشتیبان بازگردانده شد',
    'database.move': () => 'پایگاه داده به گونهٔ دیگر منتقل شد',
    'clock.trust': ({ count }) => `${number.format(Number(count))} ساعت درست دانسته شد`,
    'audit.prune': ({ entries }) => `${number.format(Number(entries))} ثبت کهنه پاک شد`,
  },
};

function target({ hwids, os }: Readonly<Record<string, unknown>>): string {
  return os ? `همه در ${apart(os)}` : devices(hwids);
}
