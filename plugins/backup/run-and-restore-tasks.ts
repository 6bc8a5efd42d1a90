/** The tasks that create and restore a backup, as jobs with progress. */
import { defineTask, inEnglish, type JobContext, say, sentenceOf, Type, type Words } from 'archivolt'
import type { App } from './app.ts'

const DOUBT_SHOWN_FOR_SECONDS = 3600

export const runBackup = defineTask({
  name: 'run_backup',
  title: 'Index Backup',
  group: 'setting:backup',
  payload: Type.Object({
    rotate: Type.Optional(Type.Integer({ minimum: 1 })),
    reason: Type.Optional(Type.Enum(['auto', 'update', 'manual'])),
    isRight: Type.Optional(Type.Boolean()),
  }),
  lane: 'index',
  apiStart: true,
  unique: true,
  merge: (before, asked) => ({ ...asked, ...((before.isRight || asked.isRight) && { isRight: true }) }),
  schedule: {
    auto: '0 18 0',
    config: Type.Object({
      rotate: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          title: 'Keep the newest',
          description: 'Only scheduled backups count; older ones are deleted. Empty: keep all.',
        }),
      ),
    }),
  },
  async run(job, app: App) {
    const { reason = 'auto', isRight = false } = job.payload
    const { filename, doubt } = await app.backups.create(reason, isRight, job)
    if (isRight) await app.index.settle()
    if (doubt !== undefined) return reportDoubt(filename, doubt, job, app)
    const rotate = job.payload.rotate ?? app.schedules.get('run_backup')?.config.rotate
    if (reason === 'auto' && typeof rotate === 'number') await app.backups.rotate(rotate, filename)
    return null
  },
})

async function reportDoubt(filename: string, doubt: Words, job: JobContext<object>, app: App): Promise<null> {
  const sentence = say`${{ doubt: sentenceOf(doubt) }}: this backup is called ${{ name: filename }}, and no other was replaced or removed. Restore a backup or a snapshot. If nothing is missing, confirm that in the settings under Backups, or with POST /api/backup/ and {"is_right": true}.`
  job.log.error(inEnglish(sentence))
  await app.jobs.notify({
    title: 'Part of the archive is missing',
    group: 'setting:backup',
    level: 'error',
    messages: [sentence],
    shownForSeconds: DOUBT_SHOWN_FOR_SECONDS,
  })
  return null
}

export const restoreBackup = defineTask({
  name: 'restore_backup',
  title: 'Restore Backup',
  group: 'setting:restore',
  payload: Type.Object({ filename: Type.String() }),
  lane: 'index',
  unique: true,
  async run(job, app: App) {
    const { restored, skipped, unknownSettings } = await app.backups.restore(job.payload.filename, job)
    const { filename: name } = job.payload
    return unknownSettings.length
      ? say`${{ name }} restored: ${{ count: restored }} documents, ${{ skipped }} skipped; settings not applied: ${{ settings: unknownSettings.join(', ') }}`
      : say`${{ name }} restored: ${{ count: restored }} documents, ${{ skipped }} skipped`
  },
})
