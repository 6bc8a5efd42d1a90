/** ask.show: shows accounts the videos that were allowed and have arrived in the archive since. */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'
import { SHOW_ARRIVED } from './asks.ts'

export const showArrived = defineTask({
  name: SHOW_ARRIVED,
  title: 'Show videos that were asked for',
  payload: Type.Object({}),
  lane: 'light',
  unique: true,
  internal: true,
  resumable: true,
  run: (_job, app: App) => app.asks.showArrived(),
})
