/**
 * Creates the archive from its library: accounts, channels, playlists and videos from their sidecars, then films
 * without sidecars. It adds missing items and changes nothing else, so it may be repeated, and continues after a crash.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { opendir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errors, inEnglish, isAppError, isId, type Log, say, type View, type Words, wordsOf } from 'archivolt'
import type { ArtKind } from '../media/types.ts'
import type { PlaylistBelongings } from '../playlist/playlist-belongings.ts'
import type { Belongings } from '../video/types.ts'
import type { App } from './app.ts'
import { ENDING, folderOf, idIn, nextToFilm, pathOf, placedFolder } from './paths.ts'
import { ARCHIVE, type Kind, type RecordOf, readRecord } from './records.ts'

/** Number of videos that are restored together, unless their records are large. */
const VIDEOS = 2500
const MOST_BYTES_TOGETHER = 32 << 20
const PLAYLISTS_TOGETHER = 20
const READ_TOGETHER = 16
const ART = ['channel_thumb', 'channel_banner', 'channel_tvart'] as const

interface Options {
  isPreview: boolean
  log: Log
  say: (line: string) => void
}

interface Count {
  found: number
  added: number
}

interface Rebuilt {
  counts: Record<'accounts' | 'preferences' | 'channels' | 'playlists' | 'videos', Count>
  /** Number of films without sidecars. */
  loose: number
  refused: Array<{ path: string; why: string }>
  /** Number of refused files that were renamed. */
  renamed: number
  /** Names of accounts in sidecars that do not exist. */
  nobody: Set<string>
}

interface Run extends Rebuilt, Options {
  app: App
  /** Videos that have a sidecar. */
  brought: Set<string>
  /** The accounts that exist, or would exist (in a preview), by name. */
  accounts: Map<string, number>
  /** Replace ids in the views of accounts, such as those of groups, with their current ids. */
  views: Array<(view: View) => View>
}

/** @throws conflict: the library folder is empty, or cannot be used */
export async function rebuildArchive(app: App, options: Options): Promise<Rebuilt> {
  const none = () => ({ found: 0, added: 0 })
  const run: Run = {
    ...{
      ...options,
      app,
      loose: 0,
      refused: [],
      renamed: 0,
      nobody: new Set(),
      brought: new Set(),
      accounts: new Map(),
      views: [],
    },
    counts: { accounts: none(), preferences: none(), channels: none(), playlists: none(), videos: none() },
  }
  await takeLibrary(run)
  await restoreArchive(run)
  await restoreChannels(run)
  // Playlists come before their videos, which are restored to their positions in them. A second pass adds the remaining
  // entries.
  await restorePlaylists(run)
  await restoreVideos(run)
  if (!run.isPreview) await restorePlaylists(run, true)
  run.loose = await app.looseFilms({
    ...{ id: randomUUID(), signal: new AbortController().signal, step: async (_name, work) => work() },
    isPreview: run.isPreview,
    isLeftOut: (id) => run.brought.has(id),
    refuse: (path, why) => refuse(path, why, run),
  })
  if (!run.isPreview && (await app.videos.collection.count()) > 0) await app.index.settle()
  return run
}

/** Accepts the library, which a new ledger does not know yet: rebuilding from it implies this. */
async function takeLibrary({ app, isPreview }: Run): Promise<void> {
  const { mediaDir } = app.settings
  let isEmpty = true
  for await (const _ of entriesOf(mediaDir, ({ name }) => name === '.archivolt' || isId(name))) {
    isEmpty = false
    break
  }
  if (isEmpty)
    throw errors.conflict(
      say`There is nothing to rebuild from in ${{ folder: mediaDir }}: connect its disk, or set AV_MEDIA_DIR`,
    )
  if (!isPreview && (await app.media.absence()) !== undefined) await app.media.accept()
}

async function* entriesOf(folder: string, isMeant: (entry: Dirent) => boolean): AsyncGenerator<Dirent> {
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) if (isMeant(entry)) yield entry
  } catch (error) {
    // A file may have the name of a channel.
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

const isSidecar = ({ name }: Dirent): boolean => name.endsWith(ENDING)

function refuse(path: string, why: Words, { refused, log }: Run): void {
  const said = inEnglish(why)
  refused.push({ path, why: said })
  log.warn({ path }, `a sidecar or film is left out: ${said}`)
}

/** @returns undefined: the item was refused */
async function orRefuse<Result>(
  path: string,
  run: Run,
  work: () => Promise<Result>,
  setAside = async () => {},
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!isAppError(error) || error.code === 'unavailable') throw error
    refuse(path.replace(`${run.app.settings.mediaDir}/`, ''), wordsOf(error), run)
    await setAside()
    return undefined
  }
}

/** Renames a refused file, so that it is not overwritten. */
const orRefuseFile = <Result>(path: string, run: Run, work: () => Promise<Result>): Promise<Result | undefined> =>
  orRefuse(path, run, work, async () => {
    if (run.isPreview) return
    await rename(path, `${path}.refused`)
    run.renamed++
  })

const read = <Of extends Kind>(path: string, kind: Of, isOwn: (id: string) => boolean, run: Run) =>
  orRefuseFile(path, run, () => readRecord(path, kind, isOwn))

/** Converts names of accounts to ids. */
const toIds = (run: Run) => (account: number | string) => {
  const id = run.accounts.get(String(account))
  if (id === undefined) run.nobody.add(String(account))
  return id
}

async function restoreArchive(run: Run): Promise<void> {
  const { app, counts, isPreview } = run
  for (const { username, id } of app.accounts.list()) run.accounts.set(username, id)
  for await (const { name } of entriesOf(folderOf('archive', app), ({ name }) => name === `archive${ENDING}`)) {
    const record = await read(join(folderOf('archive', app), name), 'archive', (id) => id === ARCHIVE, run)
    if (!record) continue
    // Groups come first, because views of accounts refer to them.
    await restoreOthers(record.others, run, false)
    for (const account of record.accounts) {
      counts.accounts.found++
      if (run.accounts.has(account.name)) continue
      run.say(`account ${account.name}${account.is_staff ? ', an admin' : ''}${account.is_active ? '' : ', locked'}`)
      const id = isPreview ? 0 : await orRefuse(`account ${account.name}`, run, () => addAccount(account, run))
      if (id === undefined) continue
      run.accounts.set(account.name, id)
      counts.accounts.added++
    }
    await restoreOthers(record.others, run, true)
    await restorePreferences(record.preferences, run)
  }
}

async function restoreOthers(
  others: RecordOf<'archive'>['others'],
  { app, isPreview, say, views }: Run,
  isOfAccounts: boolean,
): Promise<void> {
  for (const { of, restore, needsAccounts = false } of app.hook('archive.belongings')) {
    if (others[of] === undefined || needsAccounts !== isOfAccounts) continue
    say(`${of}: missing entries ${isPreview ? 'would be' : 'are'} added`)
    const ofViews = isPreview ? undefined : await restore(others[of])
    if (ofViews) views.push(ofViews)
  }
}

/**
 * Adds an account with a random password that nobody knows. An account whose view cannot be restored is locked, because
 * it must not see everything.
 */
async function addAccount(
  { name, is_staff, is_active, may_download, view }: RecordOf<'archive'>['accounts'][number],
  { app: { accounts }, views }: Run,
): Promise<number> {
  const given = { username: name, password: randomBytes(32).toString('base64url'), isStaff: is_staff }
  const seen = view && views.reduce((one: View, here) => here(one), view)
  const { id } = await accounts.create({ ...given, mayDownload: may_download, ...(seen && { view: seen }) })
  if (!is_active) await accounts.change(id, { is_active: false })
  return id
}

async function restorePreferences(stored: RecordOf<'archive'>['preferences'], run: Run): Promise<void> {
  const { app, counts, isPreview } = run
  const now = app.preferences.all()
  for (const [section, values] of Object.entries(stored))
    for (const [key, value] of Object.entries(values)) {
      counts.preferences.found++
      if (JSON.stringify(now[section]?.[key]) === JSON.stringify(value)) continue
      const change = async () => {
        if (!isPreview) await app.preferences.change({ [section]: { [key]: value } })
        counts.preferences.added++
      }
      await orRefuse(`preference ${section}.${key}`, run, change)
    }
}

async function restoreChannels(run: Run): Promise<void> {
  const { app, counts, isPreview } = run
  const folder = folderOf('channel', app)
  for await (const { name } of entriesOf(folder, isSidecar)) {
    const path = join(folder, name)
    const own = idIn(name)!
    const record = await read(path, 'channel', (id) => isId(id) && id === own, run)
    if (!record) continue
    counts.channels.found++
    await orRefuseFile(path, run, async () => {
      const { channel, handles, others } = record
      // Views are restored with accounts.
      const belongings = app.channels.checkBelongings(own, {
        ...{ channel: app.backups.accept('channel', own, channel), handles, seenBy: [], others },
      })
      const isNew = !(await app.channels.known([own])).has(own)
      if (!isPreview) {
        await app.channels.giveBack(own, belongings)
        for (const kind of ART) await restorePicture(kind, own, record.pictures[kind], app)
      }
      if (isNew) counts.channels.added++
    })
  }
}

/** Restores several playlists together, because each commit of the index costs more than the playlists in it. */
async function restorePlaylists(run: Run, isOver = false): Promise<void> {
  const waiting: string[] = []
  const restore = () => Promise.all(waiting.splice(0).map((name) => restorePlaylist(name, run, isOver)))
  for await (const { name } of entriesOf(folderOf('playlist', run.app), isSidecar)) {
    waiting.push(name)
    if (waiting.length === PLAYLISTS_TOGETHER) await restore()
  }
  await restore()
}

/** @param isOver  the videos are restored, so the entries of custom playlists can be added */
async function restorePlaylist(name: string, run: Run, isOver: boolean): Promise<void> {
  const { app, counts, isPreview } = run
  const path = join(folderOf('playlist', app), name)
  const isOwn = (told: string) =>
    isId(told)
      ? pathOf('playlist', told, app) === path
      : // The name of a Watch later sidecar contains its account.
        /^watchlater-\d+\./.test(name) && told.startsWith('watchlater/')
  const record = await read(path, 'playlist', isOwn, run)
  if (!record || (isOver && record.playlist['doc'] !== undefined)) return
  await orRefuseFile(path, run, async () => {
    const told = { ...withOwnPaths(record.id, record.playlist, app), seenBy: [] }
    const belongings = app.playlists.checkBelongings(record.id, told, toIds(run))
    if (!isOver) counts.playlists.found++
    if (!belongings) return
    if (!isOver && !(await app.playlists.exists(belongings.id))) counts.playlists.added++
    if (isPreview) return
    await app.playlists.restoreBelongings(belongings)
    await restorePicture('playlist', belongings.id, record.picture, app)
  })
}

const withOwnPaths = (id: string, told: Record<string, unknown>, { backups }: App): object => {
  const { doc } = told as Partial<PlaylistBelongings>
  return typeof doc === 'object' && doc !== null ? { ...told, doc: backups.accept('playlist', id, doc) } : told
}

/** A checked record. */
interface Checked {
  id: string
  belongings: Belongings
  channelName: string
  picture: string | undefined
  place: RecordOf<'video'>['place']
}

interface Found {
  path: string
  id: string
  /** The channel of its folder; undefined: the folder for films in places. */
  channelId: string | undefined
}

async function* sidecarsOfVideos({ app }: Run): AsyncGenerator<Found> {
  const { mediaDir } = app.settings
  for await (const { name: channelId } of entriesOf(mediaDir, ({ name }) => isId(name)))
    for await (const { name } of entriesOf(join(mediaDir, channelId), isSidecar))
      yield { path: join(mediaDir, channelId, name), id: idIn(name)!, channelId }
  for await (const { name } of entriesOf(placedFolder(app), isSidecar))
    yield { path: join(placedFolder(app), name), id: idIn(name)!, channelId: undefined }
}

/**
 * Restores many videos together, from any folders, because each batch is synced to disk several times. The next batch
 * is read meanwhile.
 */
async function restoreVideos(run: Run): Promise<void> {
  const waiting: Found[] = []
  let [ready, bytes]: [Checked[], number] = [[], 0]
  let written = Promise.resolve()
  const flush = async () => {
    const some = ready
    ;[ready, bytes] = [[], 0]
    await written
    written = giveBack(some, run)
    written.catch(() => undefined) // it is awaited before the next batch, and at the end
  }
  const readWaiting = async () => {
    for (const one of await Promise.all(waiting.splice(0).map((found) => checkVideo(found, run)))) {
      if (!one || run.brought.has(one.id)) continue
      run.brought.add(one.id)
      ready.push(one)
      bytes += JSON.stringify(one.belongings).length
    }
    if (ready.length >= VIDEOS || bytes > MOST_BYTES_TOGETHER) await flush()
  }
  for await (const found of sidecarsOfVideos(run)) {
    waiting.push(found)
    if (waiting.length === READ_TOGETHER) await readWaiting()
  }
  await readWaiting()
  await flush()
  await written
}

async function checkVideo({ path, id: own, channelId }: Found, run: Run): Promise<Checked | undefined> {
  const { app } = run
  const record = await read(path, 'video', (id) => isId(id) && id === own, run)
  if (!record) return undefined
  return orRefuseFile(path, run, async () => {
    const { video, comments, film, place, picture, others, channel_name: channelName } = record
    const { watched_by: _w, shared_mark: _s, restored_mark: _r, ...doc } = app.backups.accept('video', own, video)
    if (channelId !== undefined && doc['channel_id'] !== channelId) await mustBeAstray(doc['channel_id'], own, run)
    const belongings = app.videos.checkBelongings(
      own,
      {
        ...{ video: doc, subtitles: [], others },
        ...(comments !== undefined && { comments }),
        // Only sidecars in the data folder may place a film in another folder.
        ...(channelId === undefined && film && { film }),
      },
      toIds(run),
    )
    return { id: own, belongings, channelName, picture, place }
  })
}

/**
 * Accepts a sidecar in the folder of another channel, whose film a rescan moves back, for example after a folder was
 * renamed. @throws unprocessable: there is also a sidecar in the own channel's folder
 */
async function mustBeAstray(home: unknown, id: string, { app }: Run): Promise<void> {
  if (typeof home === 'string' && isId(home) && !(await app.media.isThere(nextToFilm(home, id, app)))) return
  throw errors.unprocessable(
    'It is in the folder of a different channel, and the video has a sidecar in the folder of its own channel',
  )
}

async function giveBack(checked: readonly Checked[], run: Run): Promise<void> {
  const { app, counts, isPreview } = run
  if (checked.length === 0) return
  const known = await app.videos.known(checked.map(({ id }) => id))
  const count = (ids: readonly string[]) => (counts.videos.added += ids.filter((id) => !known.has(id)).length)
  counts.videos.found += checked.length
  if (isPreview) return void count(checked.map(({ id }) => id))
  const ready = new Map<string, Belongings>()
  const { subtitle_index: isIndexed } = app.preferences.section('downloads')
  const channels = new Map(checked.map(({ belongings, channelName }) => [belongings.video.channel_id, channelName]))
  for (const [id, name] of channels) await app.channels.recordName(id, name)
  for (const one of checked) {
    const { belongings } = one
    const film = belongings.film && (await placeOf(one, run))
    if (belongings.film && !film) continue
    const subtitles: Belongings['subtitles'] = []
    if (isIndexed && !known.has(one.id))
      for await (const fragment of app.videos.fragmentsOf(belongings.video)) subtitles.push(fragment)
    ready.set(one.id, { ...belongings, subtitles, ...(film && { film }) })
  }
  await app.videos.giveBack(ready)
  count([...ready.keys()])
  for (const { id, picture } of checked) if (ready.has(id)) await restorePicture('video', id, picture, app)
}

/** The place of the film in this ledger. undefined: it was refused */
async function placeOf({ id, belongings, place }: Checked, run: Run): Promise<Belongings['film']> {
  const { media } = run.app
  const film = belongings.film!
  return orRefuse(`${id}${ENDING}`, run, async () => {
    if (!place) throw errors.unprocessable('It does not name the folder of its video file')
    const { id: placeId } = await media.places.add(place.path, place.label)
    return { ...film, placeId }
  })
}

/** Restores a picture, unless one exists. */
async function restorePicture(
  kind: ArtKind,
  id: string,
  picture: string | undefined,
  { media, log }: App,
): Promise<void> {
  if (picture === undefined || (await media.hasArt(kind, id))) return
  await media.scratch(async (folder) => {
    const path = join(folder, 'picture')
    await writeFile(path, Buffer.from(picture, 'base64'), { mode: 0o600 })
    try {
      await media.keepArt(kind, id, path)
    } catch (err) {
      if (!isAppError(err, 'unprocessable')) throw err
      log.warn({ err, kind, id }, 'a picture in a sidecar is not a valid picture')
    }
    await rm(path, { force: true })
  })
}
