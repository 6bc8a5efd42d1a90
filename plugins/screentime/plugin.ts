/** Screen time: how long an account with a view may play each day (contract 9.45). */
import { definePlugin } from 'archivolt'
import { archiveBelongings } from './belongings.ts'
import { changeScreenTime, giveByPin, listScreenTimes, showOwnScreenTime } from './routes.ts'
import { openScreenTime, type ScreenTime, screenTimeTables } from './screen-time.ts'

export default definePlugin({
  name: 'screentime',
  needs: ['user', 'media', 'video', 'watch'],
  migrations: [screenTimeTables],
  services: (app) => ({ screenTime: openScreenTime(app) }),
  implements: {
    'media.play':
      ({ screenTime }) =>
      (play) =>
        screenTime.meter(play),
    'watch.reported':
      ({ screenTime }) =>
      (report) =>
        screenTime.report(report),
    'archive.belongings': archiveBelongings,
  },
  routes: [showOwnScreenTime, giveByPin, listScreenTimes, changeScreenTime],
})

declare module 'archivolt' {
  interface Services {
    screentime: {
      /** The daily limits of accounts, and how much of them is used. */
      screenTime: ScreenTime
    }
  }
}
