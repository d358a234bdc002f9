import type { palette as english } from '../en/palette.ts';
import type { Like } from '../texts.ts';

export const palette: Like<typeof english> = {
  name: 'Перейти к странице, записи или действию',
  hint: 'Страница, ссылка, заметка, HWID, номер сообщения или действие',
  pages: 'Страницы',
  actions: 'Действия',
  records: 'Записи',
  nothing: 'Ничего не найдено.',
  keys: 'Клавиши',
  keyPalette: 'эта палитра',
  keySearch: 'поиск на странице',
  keyMove: 'движение по списку',
  keyOpen: 'открыть выбранное',
  keyClose: 'закрыть открытое',
  close: 'Закрыть',
  open: 'Поиск',
  theme: (name) => `Тема: ${name}`,
  message: (id) => `Сообщение ${id}`,
};
