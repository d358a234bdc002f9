import type { staff as english } from '../en/staff.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

export const staff: Like<typeof english> = {
  title: 'کلیدها و کارکنان',
  people: 'کارکنان',
  peopleHint: 'هر کس حساب و نقش خود را دارد.',
  noneYet: 'هنوز هیچ حسابی اینجا نقشی ندارد. کلید اصلی به‌عنوان مالک وارد می‌شود.',
  name: 'نام',
  role: 'نقش',
  signsIn: 'راه ورود',
  lastSeen: 'آخرین ورود',
  actions: 'کارها',
  never: 'هرگز',
  remove: 'برداشتن',
  invite: 'دعوت',
  invitationHint:
    'این نشانی را برای او بفرستید. یک بار و تا ده دقیقه کار می‌کند و دوباره نشان داده نمی‌شود.',
  byPasskey: 'کلید عبور',
  byPassword: 'گذرواژه',
  byBoth: 'گذرواژه و کد',
  byNothing: 'هنوز هیچ',
  keys: 'کلیدهای بخش‌های API',
  keysHint:
    'به هر برنامه کلید خودش را بدهید، با همان اختیاری که لازم دارد. وب‌هوک‌ها، کلیدها، کارکنان و دامنه‌ها کلید اصلی می‌خواهند.',
  keyNameHint: 'برنامه‌ای که آن را به کار می‌برد.',
  scope: 'اختیار',
  made: 'زمان ساخت',
  ends: 'پایان',
  noEnd: 'بی‌پایان',
  addKey: 'ساختن کلید',
  keyOnce: 'این auth_key آن است. دوباره نشان داده نمی‌شود.',
  sureMemberHint: 'نقش بی‌درنگ پایان می‌یابد، در صفحه‌های باز هم.',
  sureKeyHint: 'برنامه‌ای که آن را به کار می‌برد بی‌درنگ رد می‌شود.',
  sureMember: (name) => `نقش \u2068${name}\u2069 گرفته شود؟`,
  sureKey: (name) => `کلید \u2068${name}\u2069 برداشته شود؟`,
  roles: {
    owner: 'مالک',
    sender: 'فرستنده',
    support: 'پشتیبان',
    reader: 'بیننده',
  },
  rights: {
    owner: 'همه چیز، کلیدها و کارکنان هم',
    sender: 'پیوندها و پیام‌ها',
    support: 'می‌بیند، جا آزاد می‌کند، رد شدن را توضیح می‌دهد',
    reader: 'فقط می‌بیند',
  },
  scopes: {
    read: 'دیدن',
    links: 'پیوندها',
    send: 'پیام‌ها',
  },
  roleOf: (name) => `نقش \u2068${name}\u2069`,
  in: (days) => `پس از ${number.format(days)} روز`,
};
