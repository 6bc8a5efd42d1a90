/**
 * The tasks back_up_all, which backs up everything into one file, rehearse_restore, which proves that the newest backup
 * can be restored, and backup.restore_all.
 */
import { DAY_SECONDS, defineTask, epochSeconds, type JobContext, say, Type, type Words, wordsOf } from 'archivolt'
import type { App } from '../app.ts'
import type { Work } from '../work.ts'
import { dropOldReplaced } from './aside.ts'
import { rehearse } from './rehearsal.ts'
import type { RunKind } from './rows.ts'
import { RESTORE } from './wholes.ts'

const KEPT = 4

const SCHEDULED = {
  lane: 'whole',
  apiStart: true,
  apiStop: true,
  unique: true,
  resumable: true,
} as const

export const backUpAll = defineTask({
  ...SCHEDULED,
  name: 'back_up_all',
  title: 'Back up everything',
  description:
    'Writes everything except the video files into one file: accounts, lists, settings, pictures and history.',
  group: 'setting:backup',
  payload: Type.Object({
    rotate: Type.Optional(Type.Integer({ minimum: 1 })),
    scheduled: Type.Optional(Type.Boolean()),
  }),
  schedule: {
    auto: '0 3 0',
    initially: 'auto',
    initialConfig: { rotate: KEPT },
    config: Type.Object({
      rotate: Type.Optional(
        Type.Integer({
          ...{ minimum: 1, maximum: 1000, title: 'Keep the newest' },
          description: 'Older ones are deleted after a scheduled backup. Empty: keep all.',
        }),
      ),
    }),
  },
  run: (job, app: App) =>
    noted('backup', job, app, async () => {
      const before = app.wholeBackups.runs.last('backup').documents
      const { filename } = await app.wholeBackups.make(asWork(job))
      const { documents } = app.wholeBackups.runs.last('backup')
      // A backup that lacks a collection of the previous one does not replace others.
      const isLess = Object.entries(before).some(([name, count]) => count > 0 && !documents[name])
      if (job.payload.scheduled && job.payload.rotate !== undefined && !isLess)
        await app.wholeBackups.rotate(job.payload.rotate, filename, job.stopSignal)
      return filename
    }),
})

export const rehearseRestore = defineTask({
  ...SCHEDULED,
  name: 'rehearse_restore',
  title: 'Test a restore',
  description:
    'Restores the newest backup of everything into a separate folder, and compares the result with the archive.',
  group: 'setting:rehearsal',
  payload: Type.Object({}),
  schedule: {
    auto: '0 5 0',
    initially: 'auto',
    isNeeded: (app: App) => app.wholeBackups.runs.last('backup').succeededAt > 0,
  },
  run: (job, app: App) =>
    noted('rehearsal', job, app, async () => {
      const { file, seconds, documents } = await rehearse(asWork(job), app)
      await app.wholeBackups.runs.succeeded('rehearsal', {
        ...{ file, seconds, documents },
        succeededAt: epochSeconds(app.clock),
      })
      const written = app.wholeBackups.runs.last('backup')
      if (written.file === file) await dropOldReplaced(written.succeededAt, app)
      return say`Restored and compared: ${{ count: documents['video'] ?? 0 }} videos, in ${{ seconds }} s`
    }),
})

export const restoreAll = defineTask({
  name: RESTORE,
  title: 'Restore everything',
  payload: Type.Object({ filename: Type.String() }),
  lane: 'whole',
  internal: true,
  unique: true,
  async run(job, app: App) {
    const tell = (title: string, level: 'info' | 'error', message: Words) =>
      app.jobs.notify({
        ...{ title, level, messages: [message], group: 'setting:restore', shownForSeconds: DAY_SECONDS },
      })
    try {
      const path = await app.wholeBackups.pathOf(job.payload.filename)
      const aside = await app.wholeBackups.restore(path, app.wholeBackups.takePassphrase(), true, asWork(job))
      const sentence = say`The backup is intact and unpacked. Restart the server to replace the current data with it. The current data will be kept in the folder ${{ name: aside }}.`
      await tell('Restart the server to restore', 'info', sentence)
      return sentence
    } catch (thrown) {
      if (!job.stopSignal.aborted) await tell('The backup could not be restored', 'error', wordsOf(thrown))
      throw thrown
    }
  },
})

const asWork = ({ id, stopSignal, log, progress }: JobContext<object>): Work => ({
  ...{ id, log, progress },
  signal: stopSignal,
})

/** Stores the reason of a failed run, for Safety and Health. A stopped run has not failed. */
async function noted<Result>(
  kind: RunKind,
  { stopSignal }: Pick<JobContext<object>, 'stopSignal'>,
  app: App,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (stopSignal.aborted) throw thrown
    const { runs } = app.wholeBackups
    await runs.failed(kind, wordsOf(thrown), epochSeconds(app.clock))
    await app.jobs.notify({
      title: kind === 'backup' ? 'The backup of everything failed' : 'The newest backup could not be restored',
      ...{ group: 'setting:backup', level: 'error', messages: [wordsOf(thrown)] },
      shownForSeconds: 7 * DAY_SECONDS,
      isOver: () => runs.last(kind).failure === undefined,
    })
    throw thrown
  }
}
