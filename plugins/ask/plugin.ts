/** Asks: an account with a view asks for a video outside of it, and an admin allows or refuses it. */
import { definePlugin } from 'archivolt'
import { type Asks, askTables, openAsks } from './asks.ts'
import { asks } from './preferences.ts'
import { answerAsk, askFor, listAsks, listOffers, listOwnAsks } from './routes.ts'

export default definePlugin({
  name: 'ask',
  needs: ['user', 'video', 'channel', 'playlist'],
  migrations: [askTables],
  preferences: { asks },
  services: (app) => ({ asks: openAsks(app) }),
  routes: [listOffers, askFor, listOwnAsks, listAsks, answerAsk],
})

declare module 'archivolt' {
  interface Services {
    ask: {
      /** What accounts with a view have asked for, and the answers. */
      asks: Asks
    }
  }
}
