/** The picture and preferences that accounts choose for themselves. */
import type { Accounts } from 'archivolt'
import { type Book, recordOf, write } from './state.ts'

export const ownOf = (
  book: Book,
): Pick<Accounts, 'picture' | 'changePicture' | 'userPreferences' | 'changeUserPreferences'> => {
  const { users, pictures, preferences } = book
  return {
    picture: pictures.get,
    changePicture: (id, jpeg) =>
      write(book, () => {
        const row = users.existing(id)
        if (jpeg) pictures.set(id, jpeg)
        else pictures.remove(id)
        return recordOf(book, row)
      }),
    userPreferences: preferences.of,
    changeUserPreferences: (id, changes) =>
      write(book, () => {
        users.existing(id)
        return preferences.change(id, changes)
      }),
  }
}
