/** The picture and preferences that accounts choose for themselves. */
import type { Accounts } from 'archivolt'
import { type AccountsState, recordOf, write } from './state.ts'

export const ownOf = (
  state: AccountsState,
): Pick<Accounts, 'picture' | 'changePicture' | 'userPreferences' | 'changeUserPreferences'> => {
  const { users, pictures, preferences } = state
  return {
    picture: pictures.get,
    changePicture: (id, jpeg) =>
      write(state, () => {
        const row = users.existing(id)
        if (jpeg) pictures.set(id, jpeg)
        else pictures.remove(id)
        return recordOf(state, row)
      }),
    userPreferences: preferences.of,
    changeUserPreferences: (id, changes) =>
      write(state, () => {
        users.existing(id)
        return preferences.change(id, changes)
      }),
  }
}
