/**
 * The client of Kodi, over JSON-RPC. Kodi identifies a video by its path, so if a path changes, its marks are
 * transferred. A scan does not read a changed NFO file, so its episode is refreshed instead.
 */
import { posix } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errors, say } from 'archivolt'
import type { Change } from '../types.ts'
import { type Ask, inFull, pagesOf } from './ask.ts'
import { countIn, type Loose, listIn, objectIn, textsIn } from './loose.ts'
import { isBelow, type Way } from './way.ts'

const ASKED_EVERY_MS = 500
/** Time within which a scan begins, unless it has nothing to do. */
const BEGINS_WITHIN_MS = 5_000
/** Time within which a scan ends: that of a large library takes minutes. */
const ENDS_WITHIN_MS = 10 * 60_000
const IS_READ_AGAIN_WITHIN_MS = 60_000
/**
 * If Kodi has not removed an episode within this time, it does not remove it at all, and the episode keeps its marks.
 */
const IS_REMOVED_WITHIN_MS = 15_000
const SCANNING = 'Library.IsScanningVideo'

/** Kodi's marks of an episode. */
interface Marks {
  playcount: number
  lastplayed: string
  resume: Loose
}

interface Episode extends Marks {
  id: number
  file: string
  /** The id of our video. */
  video: string
}

const isMarked = ({ playcount, resume }: Marks): boolean => playcount > 0 || countIn(resume['position']) > 0

/** @param secret  `name:password`, or empty */
export function openKodi(ask: Ask, secret: string, signal: AbortSignal): Way {
  const headers: Record<string, string> =
    secret === '' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }

  /**
   * Whether Kodi removes an episode to refresh it. False after an episode was refreshed without being removed: then
   * there is no need to wait.
   */
  let removesFirst = true

  async function call(method: string, params: object): Promise<Loose> {
    const answer = objectIn(await ask('/jsonrpc', { headers, body: { jsonrpc: '2.0', id: 1, method, params } }))
    if (answer['error'] !== undefined || !('result' in answer))
      throw errors.unavailable(say`${{ server: 'Kodi' }} rejected the request ${{ method }}`)
    return objectIn(answer['result'])
  }

  function episodesIn(folder: string, nameStart = ''): AsyncGenerator<Episode[]> {
    const below = { field: 'path', operator: 'startswith', value: folder }
    const named = { field: 'filename', operator: 'startswith', value: nameStart }
    const filter = nameStart === '' ? below : { and: [below, named] }
    const properties = ['file', 'uniqueid', 'playcount', 'lastplayed', 'resume']
    return pagesOf(async (start, size) => {
      const limits = { start, end: start + size }
      const { episodes } = await call('VideoLibrary.GetEpisodes', { filter, properties, limits })
      return listIn(episodes).map(toEpisode)
    })
  }

  const isBusy = async (): Promise<boolean> =>
    (await call('XBMC.GetInfoBooleans', { booleans: [SCANNING] }))[SCANNING] === true

  /**
   * Waits until Kodi is idle: a busy Kodi ignores a request to clean, and a request to scan aborts the current work.
   */
  async function idle(): Promise<void> {
    for (let waited = 0; await isBusy(); waited += ASKED_EVERY_MS) {
      if (waited >= ENDS_WITHIN_MS)
        throw errors.unavailable(
          say`Kodi has been scanning or cleaning its library for 10 minutes. If it hangs, restart it`,
        )
      await delay(ASKED_EVERY_MS, undefined, { signal })
    }
  }

  /** Starts a scan or clean, and resolves once Kodi has finished. @param method  Scan or Clean */
  async function toTheEnd(method: string): Promise<void> {
    await idle()
    await call(method, { showdialogs: false })
    for (let waited = 0; waited < BEGINS_WITHIN_MS; waited += ASKED_EVERY_MS) {
      if (await isBusy()) return idle()
      await delay(ASKED_EVERY_MS, undefined, { signal })
    }
  }

  /** Transfers the marks of videos that these folders contain twice, from the old path to the new one. */
  async function carryMarks(folders: ReadonlySet<string>): Promise<void> {
    const marked = new Map<string, Marks>()
    for (const folder of folders)
      for await (const page of episodesIn(folder))
        for (const episode of page) if (isMarked(episode)) marked.set(episode.video, episode)
    if (marked.size === 0) return
    for (const folder of folders)
      for await (const page of episodesIn(folder))
        for (const episode of page) {
          const marks = marked.get(episode.video)
          if (marks && !isMarked(episode)) await setMarks(episode.id, marks)
        }
  }

  const setMarks = (episodeid: number, { playcount, lastplayed, resume }: Marks): Promise<unknown> =>
    call('VideoLibrary.SetEpisodeDetails', {
      ...{ episodeid, playcount, lastplayed },
      resume: { position: countIn(resume['position']), total: countIn(resume['total']) },
    })

  async function refresh(nfo: string): Promise<void> {
    const named = nfo.slice(0, -'nfo'.length)
    const found = async () =>
      (await inFull(episodesIn(`${posix.dirname(nfo)}/`, posix.basename(named)))).filter(({ file }) =>
        file.startsWith(named),
      )
    for (const before of await found()) {
      await call('VideoLibrary.RefreshEpisode', { episodeid: before.id, ignorenfo: false })
      if (isMarked(before) && removesFirst) await restoreMarks(before, found, nfo)
    }
  }

  /** Restores the marks after a refresh, for which Kodi removes an episode and adds it again without its marks. */
  async function restoreMarks(before: Episode, found: () => Promise<Episode[]>, nfo: string): Promise<void> {
    for (let waited = 0; waited < IS_READ_AGAIN_WITHIN_MS; waited += ASKED_EVERY_MS) {
      const now = (await found()).find(({ file }) => file === before.file)
      if (now && now.id !== before.id) return void (await setMarks(now.id, before))
      if (now && waited >= IS_REMOVED_WITHIN_MS) {
        removesFirst = false
        return
      }
      await delay(ASKED_EVERY_MS, undefined, { signal })
    }
    throw errors.unavailable(
      say`Kodi has not read a changed NFO file again within a minute: ${{ nfo }}. If it hangs, restart it`,
    )
  }

  /**
   * Refreshes shows, because a scan does not read the texts of a known show again, even in a new folder. @param isMeant
   * selects shows by folder
   */
  async function refreshShows(isMeant: (folder: string) => boolean): Promise<void> {
    const { tvshows } = await call('VideoLibrary.GetTVShows', { properties: ['file'] })
    for (const { tvshowid, file } of listIn(tvshows))
      if (isMeant(String(file).replace(/\/$/, '')))
        await call('VideoLibrary.RefreshTVShow', { tvshowid, ignorenfo: false, refreshepisodes: false })
  }

  return {
    folders: async () =>
      listIn((await call('Files.GetSources', { media: 'video' }))['sources']).flatMap(({ file }) =>
        textsIn([file]).map((path) => path.replace(/\/$/, '')),
      ),

    /**
     * Scans everything: Kodi skips unchanged folders, but a scan of a single folder finds nothing if the folder is new
     * to it.
     */
    async tell(changes) {
      const of = (kind: Change['kind']) => changes.filter((change) => change.kind === kind).map(({ path }) => path)
      const [added, removed, changed] = [of('added'), of('removed'), of('changed')]
      // A whole face counts as added, because its single changes are not known.
      const faces = added.filter((path) => path.endsWith('/.')).map(posix.dirname)
      if (added.length > 0) await toTheEnd('VideoLibrary.Scan')
      if (faces.length > 0 || removed.length > 0) {
        if (added.length > 0) await carryMarks(foldersOfShows([...added, ...removed]))
        await toTheEnd('VideoLibrary.Clean')
      }
      for (const path of changed) if (path.endsWith('.nfo') && !isOfShow(path)) await refresh(path)
      const isRenamed = removed.some(isOfShow)
      const shows = [...changed, ...(isRenamed ? added : [])].filter(isOfShow).map(posix.dirname)
      if (faces.length > 0 || shows.length > 0)
        await refreshShows((folder) => shows.includes(folder) || faces.some((face) => isBelow(face, folder)))
    },
  }
}

const isOfShow = (path: string): boolean => posix.basename(path) === 'tvshow.nfo'

const toEpisode = (one: Loose): Episode => ({
  id: Number(one['episodeid']),
  file: String(one['file']),
  video: String(objectIn(one['uniqueid'])['archivolt'] ?? ''),
  playcount: countIn(one['playcount']),
  lastplayed: String(one['lastplayed'] ?? ''),
  resume: objectIn(one['resume']),
})

/** The folders of shows: for Kodi, a show is the folder that contains the years. */
const foldersOfShows = (paths: readonly string[]): Set<string> =>
  new Set(paths.map((path) => `${posix.dirname(path).replace(/\/Season \d+$/, '')}/`))
