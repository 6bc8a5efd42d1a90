/** The files that are copied to the second site, in stages: each is a separate backup, the most important files first. */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errors } from 'archivolt'
import type { App } from './app.ts'

/** Parts of the data folder. Databases in use are not copied as files; their copies are. */
const DATA = [
  'secret.key',
  'cookie.txt',
  'config.json',
  'ledger-copies',
  'snapshots',
  'backups',
  'sidecars',
  'history',
  'plugins',
]

export interface Stage {
  name: 'records' | 'only_here' | 'kept' | 'all'
  paths: string[]
  /** Everything that is to be copied. */
  isWhole: boolean
}

/**
 * Each stage contains the ones before it. @throws the reason of `signal`; unavailable: there are films to copy, but the
 * library is away
 */
export async function* stagesOf(app: App, signal: AbortSignal): AsyncGenerator<Stage> {
  const { dataDir, cacheDir, mediaDir } = app.settings
  const data = DATA.map((name) => join(dataDir, name))
  const records = [...data, ...['videos', 'channels', 'playlists'].map((kind) => join(cacheDir, kind))].filter(
    existsSync,
  )
  const { films } = app.preferences.section('offsite')
  yield { name: 'records', paths: records, isWhole: films === 'none' }
  if (films === 'none') return
  await mustBeThere(app)
  const { lost, kept } = await chosenFilms(app, signal)
  const isLast = (name: Stage['name']) => name === films
  if (lost.length > 0 || isLast('only_here'))
    yield { name: 'only_here', paths: [...records, ...lost], isWhole: isLast('only_here') }
  if (isLast('only_here')) return
  if (kept.length > 0 || isLast('kept'))
    yield { name: 'kept', paths: [...records, ...lost, ...kept], isWhole: isLast('kept') }
  if (isLast('all')) yield { name: 'all', paths: [...records, mediaDir], isWhole: true }
}

/** @throws unavailable: the library is away, and why */
export async function mustBeThere({ media }: Pick<App, 'media'>): Promise<void> {
  const absence = await media.absence()
  if (absence !== undefined) throw errors.unavailable(absence)
}

/** Files of videos that the platform no longer has, and of those with `keep`. */
async function chosenFilms(app: App, signal: AbortSignal): Promise<{ lost: string[]; kept: string[] }> {
  const chosen = { lost: new Map<string, Set<string>>(), kept: new Map<string, Set<string>>() }
  for await (const batch of app.videos.collection.parts({ paths: ['channel_id', 'active', 'keep'] })) {
    signal.throwIfAborted()
    for (const { id, values } of batch) {
      const [channelId, isActive, isKept] = values as [string, boolean, boolean | null]
      const into = isActive === false ? chosen.lost : isKept ? chosen.kept : undefined
      if (!into || !app.media.isOurs(id)) continue
      into.set(channelId, (into.get(channelId) ?? new Set()).add(id))
    }
  }
  return { lost: await filesOf(chosen.lost, app), kept: await filesOf(chosen.kept, app) }
}

/** Everything of these videos by its name: film, subtitles, sidecar. */
async function filesOf(chosen: ReadonlyMap<string, ReadonlySet<string>>, { media }: App): Promise<string[]> {
  const paths: string[] = []
  for (const [channelId, ids] of chosen) {
    const [first] = ids
    const folder = dirname(media.pathOf(channelId, first!))
    for (const name of await readdir(folder).catch(() => []))
      if (ids.has(name.split('.', 1)[0]!)) paths.push(join(folder, name))
  }
  return paths
}

/** Files of the library that are not copied, because they are useless at another site. */
export const LEFT_OUT = ['.staging', '.trash', '.archivolt-lock', '.archivolt-room'] as const
