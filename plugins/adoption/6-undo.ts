/**
 * undo_adoption: removes exactly what an adoption imported. Videos that were downloaded since stay; no file of a place
 * is touched.
 */
import { defineTask, say } from 'archivolt'
import { dropChannel, leaveAlong } from './along/along.ts'
import type { App } from './app.ts'
import { endJob } from './end-job.ts'
import { ADOPTION_TASK, inAdoption } from './task-context.ts'

const STEP = 250

export const undoAdoption = defineTask({
  name: 'undo_adoption',
  title: 'Undo an import',
  ...ADOPTION_TASK,
  async run(given, app: App) {
    return inAdoption(given, app, 'undone', async (on) => {
      const { adoption, job } = on
      await endCompleting(adoption.id, app)
      let gone = 0
      let kept = 0
      // Includes planned rows that no other import has imported: an interrupted run may have imported them without
      // updating the row.
      for (const rows of app.adoptions.items.pieces(
        adoption.id,
        ['new', 'ask'],
        ['planned', 'in', 'done'],
        STEP,
        job.signal,
      )) {
        const idsOf = (some: typeof rows) => some.map(({ video_id: id }) => id!)
        const others = app.adoptions.items.broughtByOthers(adoption.id, idsOf(rows))
        const own = rows.filter(({ state, video_id: id }) => state !== 'planned' || !others.has(id!))
        const brought = () => app.media.places.broughtFrom(adoption.place_id, idsOf(own))
        gone += await job.step('adoption.leave', () => app.videos.leave([...brought()], job))
        const left = brought()
        kept += rows.filter(({ state, video_id: id }) => state !== 'planned' && !left.has(id!)).length
        await job.step('adoption.forget', () => app.media.places.drop([...left]))
        await app.adoptions.items.set(
          adoption.id,
          rows.map(({ number }) => ({ number, state: 'undone' })),
        )
        job.progress(0.9, say`${{ count: gone }} videos removed again`)
      }
      await leaveAlong(on)
      for (const channelId of app.adoptions.broughtChannels(adoption.id)) await dropChannel(channelId, app)
      return kept > 0
        ? say`${{ count: gone }} videos; ${{ kept }} stay because they were removed or downloaded since`
        : say`${{ count: gone }} videos`
    })
  },
})

/** Ends complete_videos, which would import more during the undo. */
async function endCompleting(adoption: number, app: App): Promise<void> {
  for (const { id, payload } of app.jobs.list({ task: 'complete_videos' }))
    if (payload.adoption === adoption) await endJob(id, app)
}
