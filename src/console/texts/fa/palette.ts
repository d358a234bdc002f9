import type { palette as english } from '../en/palette.ts';
import type { Like } from '../texts.ts';

export const palette: Like<typeof english> = {
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
