/**
 * Refresh: updates archived documents from the platform, gradually or on demand, and detects what the platform no
 * longer has.
 */
import { definePlugin } from 'archivolt'
import { readAgain } from './damaged.ts'
import { forgetGone } from './gone.ts'
import { openRefreshQueue, refreshTables, selectedStarts } from './queue.ts'
import { activate, showRefresh, startRefresh } from './routes.ts'
import { checkReindex } from './run.ts'

export default definePlugin({
  name: 'refresh',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'segment', 'download', 'dislike', 'cookie'],
  migrations: [refreshTables, selectedStarts],
  routes: [showRefresh, startRefresh, activate],
  tasks: [checkReindex, forgetGone],
  on: {
    'index.damaged': (app) => (documents) => readAgain(documents, app),
    'index.replaced': (app) => async () => void (await app.jobs.start(forgetGone)),
    'ledger.replaced': (app) => async () => void (await app.jobs.start(forgetGone)),
  },
  services: (app) => ({ refreshQueue: openRefreshQueue(app) }),
})
