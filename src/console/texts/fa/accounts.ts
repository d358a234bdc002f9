import type { accounts as english } from '../en/accounts.ts';
import type { Like } from '../texts.ts';
import { number } from './number.ts';

export const accounts: Like<typeof english> = {
  title: 'حساب‌ها',
  what: 'اپراتورها و ناظران سامانه. کارکنان هر ارائه‌دهنده در صفحه‌های خود او هستند.',
  you: 'شما',
  roles: { operator: 'اپراتور', observer: 'ناظر' },
  rights: {
    operator: 'همه کار می‌کند، نزد هر ارائه‌دهنده نیز.',
    observer: 'همه چیز را می‌بیند و چیزی را تغییر نمی‌دهد.',
  },
  removeSure: (name) => `${name} برداشته شود؟`,
  removeHint: 'حساب نقش خود را در اینجا از دست می‌دهد و اگر نقش دیگری نداشته باشد پاک می‌شود.',
  rescue: 'کمک به یک حساب',
  rescueHint: 'هر حسابی با نام آن، از کارکنان ارائه‌دهنده نیز.',
  endSessions: 'پایان دادن به نشست‌هایش',
  ended: (n) => `${number.format(n)} نشست پایان یافت.`,
  reset: 'بازنشانی گذرواژه و عامل دوم',
  resetHint: 'گذرواژه، عامل دوم و نشست‌هایش پایان می‌یابند. پیوندی یک بار او را وارد می‌کند.',
  entryHint: 'این پیوند تا ده دقیقهٔ آینده یک بار وارد می‌کند و دوباره نشان داده نمی‌شود.',
};
