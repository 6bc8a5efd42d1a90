/** Notifies external addresses that the cookie has expired: videos that need an account fail until it is replaced. */
import { defineTask, say, Type } from 'archivolt'

export const cookieExpired = defineTask({
  name: 'cookie_expired',
  title: 'The cookie has expired',
  payload: Type.Object({ platform: Type.String() }),
  lane: 'light',
  unique: true,
  silent: true,
  resumable: true,
  outgoing: 'news',
  run: async ({ payload: { platform } }) =>
    say`${{ platform }} no longer accepts the cookie. Videos that need an account cannot be downloaded until you store a new one in the settings.`,
})
