/** Asks: an account with a view asks for a video outside of it, and an admin allows or refuses it. */
import { definePlugin } from 'archivolt'
import type { App } from './app.ts'
import { type Asks, openAsks } from './asks.ts'
import { askMade } from './news.ts'
import { asks } from './preferences.ts'
import { answerAsk, askFor, listAsks, listOffers, listOwnAsks, seeAnswers } from './routes.ts'
import { showArrived } from './show-task.ts'
import { type Answer, askStates, askTables } from './tables.ts'

const arrived = (app: App) => async () => void (await app.jobs.start(showArrived))

export default definePlugin({
  name: 'ask',
  needs: ['user', 'platform', 'video', 'channel', 'playlist', 'download'],
  migrations: [askTables, askStates],
  events: ['ask.made', 'ask.answered'],
  tasks: [askMade, showArrived],
  preferences: { asks },
  services: (app) => ({ asks: openAsks(app) }),
  routes: [listOffers, askFor, listOwnAsks, seeAnswers, listAsks, answerAsk],
  on: { 'video.added': arrived, 'video.adopted': arrived, 'video.restored': arrived },
  setup: (app) => app.asks.begin(),
})

declare module 'archivolt' {
  interface Events {
    /** Emitted when an account with a view has asked for a video. */
    'ask.made': { id: number; username: string; video_id: string; title: string }
    /** Emitted when an admin has answered. */
    'ask.answered': { id: number; username: string; video_id: string; title: string; answer: Answer }
  }
  interface Services {
    ask: {
      /** Asks of accounts with a view, and the answers. */
      asks: Asks
    }
  }
}
