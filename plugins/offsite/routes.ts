/** The second site over HTTP: its state, a test, restore (contract 9.35). */
import { defineRoute, ID_PATTERN, Said, saidOf, Type, withLimit } from 'archivolt'
import type { App } from './app.ts'
import { notInstalled } from './restic.ts'
import type { Run } from './rows.ts'
import { backUp, mustBeSet, openRepository, restore } from './tasks.ts'

const Count = Type.Integer({ minimum: 0 })
const LONGEST_TEST_MS = 60_000

const Ended = {
  succeeded: Type.Union([Count, Type.Null()], { description: 'epoch seconds; null: not yet' }),
  failure: Type.String({ description: 'why the last run failed; empty: it succeeded' }),
  failing_since: Type.Union([Count, Type.Null()], { description: 'epoch seconds' }),
}

export const showOffsite = defineRoute({
  method: 'GET',
  path: '/api/offsite/',
  access: 'admin',
  summary: 'The second site: the last backup and the last check there',
  reply: Type.Object({
    is_set: Type.Boolean(),
    restic: Type.Union([Type.String(), Type.Null()], { description: 'its version; null: it is not installed' }),
    is_running: Type.Boolean(),
    backup: Type.Object({ ...Ended, files: Count, bytes: Count, unread: Count }),
    check: Type.Object(Ended),
    said: Type.Optional(Said),
  }),
  async handle(_input, app: App) {
    const [backup, check] = [app.offsite.rows.get('backup'), app.offsite.rows.get('check')]
    const { files = 0, bytes = 0, unread = 0 } = backup ?? {}
    const { texts, said } = saidOf([backup?.words ?? '', check?.words ?? ''])
    const { repository, password } = app.preferences.section('offsite')
    return {
      is_set: repository !== '' && password !== '',
      restic: (await app.offsite.version()) ?? null,
      is_running: app.jobs.active(backUp.name) !== undefined,
      backup: { ...ended(backup, texts[0]!), files, bytes, unread },
      check: ended(check, texts[1]!),
      said,
    }
  },
})

const ended = (run: Run | undefined, failure: string) => ({
  succeeded: run?.succeeded_at || null,
  failure,
  failing_since: run?.failing_since || null,
})

export const testOffsite = defineRoute({
  method: 'POST',
  path: '/api/offsite/test/',
  access: 'admin',
  summary: 'Open the repository of the second site, or create it if it does not exist',
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['conflict', 'unavailable'],
  async handle({ signal }, app: App) {
    mustBeSet(app)
    if ((await app.offsite.version()) === undefined) throw notInstalled()
    await withLimit(LONGEST_TEST_MS, signal, (limited) => openRepository(app, limited, 'always'))
    return { success: true as const }
  },
})

export const restoreOffsite = defineRoute({
  method: 'POST',
  path: '/api/offsite/restore/',
  access: 'admin',
  summary: 'Restore the file of a video from the second site, or everything into a new folder in the data folder',
  body: Type.Object({
    video: Type.Optional(Type.String({ pattern: ID_PATTERN, description: 'default: everything' })),
  }),
  reply: Type.Object({ task_id: Type.String() }),
  errors: ['conflict'],
  async handle({ body }, app: App) {
    mustBeSet(app)
    return { task_id: (await app.jobs.start(restore, { ...body })).id }
  },
})
