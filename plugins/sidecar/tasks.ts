/** write_sidecars: writes the sidecars that are due; a start by a person compares all. */
import { defineTask, say, Type } from 'archivolt'
import type { App } from './app.ts'

export const writeSidecars = defineTask({
  name: 'write_sidecars',
  title: 'Write sidecars',
  description:
    'Writes what the archive knows about each video into a file next to the video, so that the archive can be rebuilt from the library.',
  group: 'setting:sidecars',
  /** A start by a person (not scheduled) compares all sidecars. */
  payload: Type.Object({ scheduled: Type.Optional(Type.Boolean()) }),
  lane: 'sidecar',
  apiStart: true,
  apiStop: true,
  unique: true,
  resumable: true,
  givesWay: true,
  schedule: { auto: '50 * *', initially: 'auto', isNeeded: (app: App) => app.sidecars.isDue() },
  async run(job, app: App) {
    const isAsked = job.payload.scheduled !== true
    if (isAsked || app.sidecars.isLongAgo()) await app.sidecars.noteAll()
    if (!isAsked) await app.jobs.quiet(job)
    const { written, failed } = await app.sidecars.write(job)
    if (failed > 0) return say`Sidecars written: ${{ written }}. ${{ failed }} could not be written: the log says why`
    return isAsked ? say`Sidecars written: ${{ written }}` : null
  },
})
