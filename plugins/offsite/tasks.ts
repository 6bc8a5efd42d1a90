/**
 * The tasks of the second site: back_up_offsite copies to it, check_offsite checks that it can be read, offsite.restore
 * restores from it.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  bytesBelow,
  DAY_MS,
  defineTask,
  diskSpace,
  epochSeconds,
  errors,
  futureLast,
  ID_PATTERN,
  type JobContext,
  say,
  Type,
  type Words,
  wordsOf,
} from 'archivolt'
import type { App } from './app.ts'
import { type Message, NoRepository } from './restic.ts'
import type { Kind } from './rows.ts'
import { LEFT_OUT, mustBeThere, type Stage, stagesOf } from './selection.ts'

/** Marks our backups in a repository that other programs may share. */
const TAG = 'archivolt'
/** Additionally marks backups of the last stage, because those of earlier stages lack films. */
const WHOLE_TAG = 'archivolt-whole'
/** The share of the data that each check reads. */
const READ_SHARE = '5%'
/** The exit code of a backup that could not read some files. */
const INCOMPLETE = 3
/** Maximum number of broken links that a result names. */
const MOST_NAMED = 5
const BYTES_PER_GB = 1e9
const isSet = (app: App): boolean => app.preferences.section('offsite').repository !== ''

type Job = Pick<JobContext<object>, 'stopSignal' | 'progress' | 'log'>

/** Options of both scheduled tasks. */
const SCHEDULED = {
  group: 'setting:offsite',
  payload: Type.Object({}),
  lane: 'offsite',
  apiStart: true,
  apiStop: true,
  unique: true,
  resumable: true,
} as const

export const backUp = defineTask({
  ...SCHEDULED,
  name: 'back_up_offsite',
  title: 'Back up to the second site',
  description: 'Copies records, pictures and video files to the second site, encrypted with restic.',
  schedule: { auto: '30 3 *', initially: 'auto', isNeeded: isSet },
  run: (job, app: App) => noted('backup', job, app, () => backUpAll(job, app)),
})

export const check = defineTask({
  ...SCHEDULED,
  name: 'check_offsite',
  title: 'Check the second site',
  description: 'Reads a part of the second site, and compares it with its checksums.',
  schedule: { auto: '30 5 6', initially: 'auto', isNeeded: isSet },
  run: (job, app: App) =>
    noted('check', job, app, async () => {
      await openRepository(app, job.stopSignal, 'never')
      job.progress(0, 'Reading from the second site')
      await app.offsite.restic(['check', '--read-data-subset', READ_SHARE], { signal: job.stopSignal })
      await app.offsite.rows.succeeded('check', epochSeconds(app.clock))
      return say`The second site can be read`
    }),
})

/** Stores why a run failed, for Safety and Health. A stop is not a failure. */
async function noted<Result>(kind: Kind, { stopSignal }: Job, app: App, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    if (!stopSignal.aborted) await app.offsite.rows.failed(kind, wordsOf(thrown), epochSeconds(app.clock))
    throw thrown
  }
}

/** @throws conflict: what is missing */
export function mustBeSet(app: App): void {
  const { repository, password } = app.preferences.section('offsite')
  if (repository === '') throw errors.conflict('No second site is set up: enter its repository under Settings → Safety')
  if (password === '') throw errors.conflict('The second site has no password: enter one under Settings → Safety')
}

/**
 * @param making  when to create a missing repository; `unknown`: only if it was never opened, because the mount point
 * of a missing disk is empty, too
 * @throws unavailable, conflict: the reason
 */
export async function openRepository(
  app: App,
  signal: AbortSignal,
  making: 'always' | 'unknown' | 'never',
): Promise<void> {
  mustBeSet(app)
  const { rows } = app.offsite
  const { repository } = app.preferences.section('offsite')
  const wasOpened = rows.wasOpened(repository)
  try {
    await app.offsite.restic(['cat', 'config'], { signal })
  } catch (thrown) {
    const mayBeMade = making === 'always' || (making === 'unknown' && !wasOpened)
    if (!mayBeMade || !((thrown as Error).cause instanceof NoRepository)) throw thrown
    await app.offsite.restic(['init'], { signal })
    await rows.forget()
  }
  if (!wasOpened) await rows.opened(repository)
  // Removes locks of killed processes; locks in use stay.
  await app.offsite.restic(['unlock'], { signal })
}

async function backUpAll(job: Job, app: App) {
  const { stopSignal: signal } = job
  await openRepository(app, signal, 'unknown')
  const parent = await newestBackup(signal, app)
  let [summary, unread, deadLinks] = [{} as Message, 0, [] as string[]]
  try {
    for await (const stage of stagesOf(app, signal)) {
      deadLinks = stage.deadLinks
      ;[summary, unread] = await backUpStage(stage, parent, job, app)
      if (stage.name !== 'records') await stillThere(summary, app, signal)
    }
  } catch (thrown) {
    // The library may be offline for a long time, and each run makes backups of the first stages.
    if (!signal.aborted) await forgetOld(app, signal).catch(() => undefined)
    throw thrown
  }
  await forgetOld(app, signal)
  const count = (key: string) => Number(summary[key]) || 0
  const [files, bytes] = [count('total_files_processed'), count('total_bytes_processed')]
  await app.offsite.rows.succeeded('backup', epochSeconds(app.clock), { files, bytes, unread })
  return deadLinks.length > 0
    ? say`Files at the second site: ${{ files }}, unreadable: ${{ unread }}. Broken links in the library: ${{ links: someOf(deadLinks) }}`
    : say`Files at the second site: ${{ files }}, unreadable: ${{ unread }}`
}

const someOf = (names: readonly string[]): string =>
  [...names.slice(0, MOST_NAMED), ...(names.length > MOST_NAMED ? ['…'] : [])].join(', ')

/**
 * Fails if the library is no longer available, and removes the backup: the empty folder of a disconnected disk would
 * look like a success.
 */
async function stillThere({ snapshot_id: id }: Message, app: App, signal: AbortSignal): Promise<void> {
  try {
    await mustBeThere(app)
  } catch (thrown) {
    if (typeof id === 'string') await app.offsite.restic(['forget', id], { signal }).catch(() => undefined)
    throw thrown
  }
}

const STAGES = {
  records: say`Records and pictures`,
  only_here: say`Videos that exist only here`,
  kept: say`Videos marked “Never auto-delete”`,
  all: say`All videos`,
} as const

/** @param parent  the backup with which files are compared; restic itself finds none if the paths differ */
async function backUpStage(
  { name, paths, isWhole }: Stage,
  parent: string | undefined,
  job: Job,
  app: App,
): Promise<[Message, number]> {
  // Only one backup runs at a time, and the next one overwrites what a killed one has left.
  const list = join(app.settings.dataDir, '.offsite-paths')
  let summary: Message = {}
  let unread = 0
  try {
    await writeFile(list, paths.map((path) => `${path}\0`).join(''))
    const left = LEFT_OUT.flatMap((one) => ['--exclude', one])
    const tag = isWhole ? `${TAG},${WHOLE_TAG}` : TAG
    const args = ['backup', '--json', '--tag', tag, '--host', TAG, '--files-from-raw', list, ...left]
    await app.offsite.restic([...args, ...(parent === undefined ? [] : ['--parent', parent])], {
      signal: job.stopSignal,
      also: [INCOMPLETE],
      onMessage(message) {
        if (message.message_type === 'summary') summary = message
        if (message.message_type === 'error') unread++
        if (message.message_type === 'status') job.progress(Number(message.percent_done) || 0, STAGES[name])
      },
    })
  } finally {
    await rm(list, { force: true })
  }
  return [summary, unread]
}

async function forgetOld(app: App, signal: AbortSignal): Promise<void> {
  const { days, weeks, months } = app.preferences.section('offsite')
  if (days + weeks + months === 0) return
  const keep = ['--keep-daily', days, '--keep-weekly', weeks, '--keep-monthly', months].map(String)
  // Grouped by tags, so that the backup of an earlier stage never replaces a whole one of the same day.
  await app.offsite.restic(['forget', '--tag', TAG, '--group-by', 'host,tags', ...keep, '--prune'], { signal })
}

export const restore = defineTask({
  name: 'offsite.restore',
  title: 'Restore from the second site',
  payload: Type.Object({
    /** The video to restore; omitted: everything. */
    video: Type.Optional(Type.String({ pattern: ID_PATTERN })),
  }),
  lane: 'offsite',
  internal: true,
  unique: ({ video = '' }) => video,
  resumable: true,
  async run({ payload: { video }, stopSignal, progress }, app: App) {
    await openRepository(app, stopSignal, 'never')
    if (video !== undefined) return restoreFilm(video, stopSignal, app)
    progress(0, 'Restoring everything from the second site')
    return restoreAll(stopSignal, app)
  },
})

/**
 * Ids of the backups with this tag, the newest first. One with a date in the future, from a wrong clock, comes last.
 */
async function backupsOf(tag: string, signal: AbortSignal, app: App): Promise<string[]> {
  const found: Array<{ id: string; at: number }> = []
  const take = (line: string) => {
    const [, id, day, time] = /^([0-9a-f]{8,}) +(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/.exec(line) ?? []
    if (id !== undefined) found.push({ id, at: Date.parse(`${day}T${time}`) })
  }
  // Unlike the JSON output, this one omits the paths, which may be very many.
  const args = ['snapshots', '--compact', '--tag', tag, '--host', TAG]
  await app.offsite.restic(args, { signal, onText: take })
  // Tolerates a day, because restic may be in another time zone.
  const isAhead = ({ at }: { at: number }) => at > app.clock.now() + DAY_MS
  return futureLast(found.reverse(), isAhead).map(({ id }) => id)
}

/** The newest whole backup; if there is none, the newest of all. */
async function newestBackup(signal: AbortSignal, app: App): Promise<string | undefined> {
  return (await backupsOf(WHOLE_TAG, signal, app))[0] ?? (await backupsOf(TAG, signal, app))[0]
}

/** Replaces a film with the one in the newest backup that has it; the current film goes into the bin. */
async function restoreFilm(id: string, signal: AbortSignal, app: App): Promise<Words> {
  const doc = await app.videos.get(id)
  if (!doc) throw errors.notFound('video', id)
  const film = app.media.pathOf(doc.channel_id, id)
  await app.media.scratch(async (folder) => {
    const found = join(folder, film)
    for (const backup of await backupsOf(TAG, signal, app)) {
      await app.offsite.restic(['restore', backup, '--target', folder, '--include', literal(film)], { signal })
      if (await app.media.isThere(found)) break
    }
    if (!(await app.media.isThere(found))) throw errors.unprocessable(say`The second site has no file of ${{ id }}`)
    await app.videos.exclusive(id, async () => app.videos.giveBackFilm(await app.videos.withFilm(doc, found), found))
  })
  return say`Restored`
}

/** Escapes a path, because restic reads it as a pattern. */
const literal = (path: string): string => path.replace(/[\\*?[\]]/g, '\\$&')

/**
 * @returns the folder with the contents of the newest whole backup, below their original paths
 * @throws unavailable: the disk has no room for it; unprocessable: there is no backup
 */
async function restoreAll(signal: AbortSignal, app: App): Promise<string> {
  const { dataDir } = app.settings
  const folder = join(dataDir, 'restored')
  // Not `restored.part`: that folder belongs to restores from a whole backup, which delete it or offer it to the next
  // start.
  const part = `${folder}-offsite.part`
  await mkdir(part, { recursive: true })
  const { bytes = 0 } = app.offsite.rows.get('backup') ?? {}
  // Files that an interrupted run has restored are already there.
  if ((await diskSpace(dataDir)).free + (await bytesBelow(part)) < bytes)
    throw errors.unavailable(
      say`Everything takes ${{ needed: Math.ceil(bytes / BYTES_PER_GB) }} GB, more than is free in ${{ folder: dataDir }}: restore with restic itself into a folder on another disk`,
    )
  const backup = await newestBackup(signal, app)
  if (backup === undefined) throw errors.unprocessable('The second site has no backup yet')
  await app.offsite.restic(['restore', backup, '--target', part], { signal })
  const to = `${folder}-${new Date(app.clock.now()).toISOString().slice(0, 19).replaceAll(':', '-')}`
  await rename(part, to)
  return to
}
