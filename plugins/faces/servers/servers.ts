/**
 * Notifies each media server of changes in faces, with its own paths, and repeats this until the server has accepted
 * them.
 */
import { join, posix } from 'node:path'
import { epochSeconds, errors, isAppError, say, type Words, wordsOf } from 'archivolt'
import type { App } from '../app.ts'
import type { Rows } from '../tables.ts'
import type { Change, FaceRow } from '../types.ts'
import { openLists } from './lists.ts'
import { type Kind, openServerRows, type ServerRow } from './tables.ts'
import { isBelow } from './way.ts'
import { openWay } from './ways.ts'

export const TELL = 'faces.tell'
export const LISTS = 'faces.lists'
const MOST_SERVERS = 10
/** Maximum number of waiting changes; beyond it, a server is notified of whole faces. */
const MOST_WAITING = 500
/** After the root of a face: the face as a whole, which may have been removed since. */
const WHOLE = '/.'
const UNREADABLE =
  'The secret key of this server has changed since this media server was added: enter its address and key again'

export interface ServerInput {
  name: string
  kind: Kind
  url: string
  secret: string
  /** Pairs of paths: ours, the server's. */
  paths?: ReadonlyArray<readonly string[]> | undefined
  isOn?: boolean | undefined
  withPlaylists?: boolean | undefined
}

export type ServerChange = { [Key in keyof ServerInput]?: ServerInput[Key] | undefined }

export interface ServerState {
  /** Epoch seconds. */
  at?: number
  error?: Words
}

export type Servers = ReturnType<typeof openServers>

export function openServers(app: App, faces: Pick<Rows, 'faces' | 'pathsOf' | 'lists'>) {
  const { ledger } = app
  const rows = openServerRows(ledger)
  const pathsOf = ({ id, paths }: ServerRow) =>
    ledger.json<Array<[ours: string, theirs: string]>>(paths, `faces_server.paths of ${id}`, [])
  const stateOf = ({ id, state }: ServerRow) => ledger.json<ServerState>(state, `faces_server.state of ${id}`, {})

  function surely(id: number): ServerRow {
    const row = rows.get(id)
    if (!row) throw errors.notFound('media server')
    return row
  }

  function wayTo({ kind, url, secret }: ServerRow, signal: AbortSignal) {
    if (url === undefined || secret === undefined) throw errors.unavailable(UNREADABLE)
    return openWay({ kind, url, secret }, app, signal)
  }

  /** Converts our path to the server's path. */
  function theirs(row: ServerRow, path: string): string {
    const found = pathsOf(row)
      .sort(([one], [other]) => other.length - one.length)
      .find(([ours]) => isBelow(ours, path))
    return found ? posix.join(found[1], path.slice(found[0].length)) : path
  }

  const storeOutcome = (id: number, error?: Words): Promise<void> =>
    ledger.write(() => {
      const state: ServerState = { at: epochSeconds(app.clock), ...(error !== undefined && { error }) }
      rows.setState(id, JSON.stringify(state))
    })

  /** Stores the outcome of a request as a sentence. @returns undefined: the request failed */
  async function asked<Result>(
    id: number,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      const result = await work()
      await storeOutcome(id)
      return result
    } catch (thrown) {
      signal.throwIfAborted()
      if (!isAppError(thrown)) throw thrown
      await storeOutcome(id, wordsOf(thrown))
      return undefined
    }
  }

  /** The same for jobs. @throws unavailable: the request failed */
  async function answered<Result>(id: number, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const result = await asked(id, signal, work)
    if (result === undefined) throw errors.unavailable(stateOf(surely(id)).error ?? 'The media server was not notified')
    return result
  }

  const followLists = openLists(app, rows, faces, theirs)

  const columnsOf = ({ name, kind, url, secret, paths = [], isOn = true, withPlaylists = true }: ServerInput) => ({
    ...{ name, kind, url, secret },
    paths: JSON.stringify(paths),
    is_on: Number(isOn),
    with_playlists: Number(withPlaylists),
  })

  /** Finds the server's folder by its last name: our `/data/faces/tv` may be the server's `/media/tv`. */
  function matching(root: string, folders: readonly string[]): string | undefined {
    if (folders.some((folder) => isBelow(folder, root))) return root
    const alike = folders.filter((folder) => posix.basename(folder) === posix.basename(root))
    return alike.length === 1 ? alike[0] : undefined
  }

  /**
   * Starts the job that updates playlists, also if they were switched off, so that it removes the existing ones. Kodi
   * has no writable playlists.
   * @param areLeft  there were some when the address was changed
   */
  async function startLists(
    { id, kind, is_on: isOn, with_playlists: isWith }: ServerRow,
    areLeft = false,
  ): Promise<void> {
    if (kind === 'kodi' || isOn !== 1) return
    if (isWith === 1 || areLeft || rows.lists(id).length > 0) await app.jobs.start(LISTS, { server: id })
  }

  /** Reports that playlists in faces may have changed. */
  async function noteLists(): Promise<void> {
    for (const row of rows.all()) await startLists(row)
  }

  return {
    ...{ rows, pathsOf, stateOf },

    add: (server: ServerInput): Promise<ServerRow> =>
      ledger.write(() => {
        if (rows.all().length >= MOST_SERVERS)
          throw errors.conflict(say`There are already ${{ most: MOST_SERVERS }} media servers; remove one first`)
        return surely(rows.add({ ...columnsOf(server), created_at: epochSeconds(app.clock) }))
      }),

    async change(
      id: number,
      { name, kind, url, secret, paths, isOn, withPlaylists }: ServerChange,
    ): Promise<ServerRow> {
      const { row, areLeft } = await ledger.write(() => {
        const before = surely(id)
        const isElsewhere = (kind ?? before.kind) !== before.kind || (url ?? before.url) !== before.url
        const areLeft = isElsewhere && rows.leaveLists(id)
        rows.change({
          ...before,
          name: name ?? before.name,
          kind: kind ?? before.kind,
          url: url ?? before.url,
          secret: secret ?? before.secret,
          paths: paths ? JSON.stringify(paths) : before.paths,
          is_on: isOn === undefined ? before.is_on : Number(isOn),
          with_playlists: withPlaylists === undefined ? before.with_playlists : Number(withPlaylists),
        })
        return { row: surely(id), areLeft }
      })
      if (row.is_on === 1 && rows.waiting(id).length > 0) await app.jobs.start(TELL, { server: id })
      await startLists(row, areLeft)
      return row
    },

    remove: (id: number): Promise<void> =>
      ledger.write(() => {
        rows.leaveLists(id)
        if (!rows.remove(id)) throw errors.notFound('media server')
      }),

    /** Requests the server's folders, and finds out the paths under which the server sees our faces. */
    async test(id: number, all: readonly FaceRow[], signal: AbortSignal): Promise<ServerRow> {
      const row = surely(id)
      await asked(id, signal, async () => {
        const folders = await wayTo(row, signal).folders()
        const paths = pathsOf(row)
        const added: typeof paths = []
        const isMapped = ({ root }: FaceRow) => folders.some((folder) => isBelow(folder, theirs(row, root)))
        for (const face of all.filter((one) => !isMapped(one))) {
          const found = matching(face.root, folders)
          if (found !== undefined && found !== face.root) added.push([face.root, found])
        }
        const known = [...paths, ...added].map(([ours]) => ours)
        const lost = all.find((face) => !isMapped(face) && !known.includes(face.root))
        // The paths may have been changed during the request.
        await ledger.write(() => {
          const now = surely(id)
          const merged = [...pathsOf(now), ...added.filter(([ours]) => !pathsOf(now).some(([one]) => one === ours))]
          rows.change({ ...now, url: undefined, secret: undefined, paths: JSON.stringify(merged) })
        })
        if (lost)
          throw errors.unavailable(
            say`The media server answers, but none of its libraries reads the folder “${{ name: lost.name }}” (${{ root: lost.root }}). Its libraries read: ${{ folders: folders.slice(0, 10).join(', ') || '–' }}. Add the folder there, or enter its path as the media server sees it`,
          )
      })
      return surely(id)
    },

    /** @param isMore  there are more changes than these */
    async tell(face: FaceRow, changes: readonly Change[], isMore: boolean): Promise<void> {
      const told = rows.all().filter(({ is_on }) => is_on === 1)
      if (told.length === 0 || changes.length === 0) return
      await ledger.write(() => {
        for (const { id } of told) {
          const isTooMany = isMore || rows.waiting(id).length + changes.length > MOST_WAITING
          if (isTooMany) rows.noteTold(id, { path: `${face.root}${WHOLE}`, kind: 'changed' })
          else for (const { path, kind } of changes) rows.noteTold(id, { path: join(face.root, path), kind })
        }
      })
      for (const { id } of told) await app.jobs.start(TELL, { server: id }, { isPatient: true })
      if (isMore || changes.some(({ path }) => path.endsWith('.m3u8'))) await noteLists()
    },

    noteLists,

    /** Updates the server's playlists, in a job. @throws unavailable: try again later */
    async followLists(id: number, signal: AbortSignal): Promise<void> {
      const row = rows.get(id)
      if (row?.is_on !== 1) return
      const isWhole = await answered(id, signal, () => followLists(row, wayTo(row, signal), signal))
      if (!isWhole) throw errors.unavailable('The media server has not read all videos of its playlists yet')
    },

    /** Delivers the waiting changes, in a job. @throws unavailable: try again later */
    async deliver(id: number, signal: AbortSignal): Promise<void> {
      const row = rows.get(id)
      if (row?.is_on !== 1) return
      const waiting = rows.waiting(id)
      if (waiting.length === 0) return
      const roots = new Set(faces.faces().map(({ root }) => root))
      // An earlier version has noted the root alone.
      const changes = waiting.map(({ path, kind }): Change => {
        const their = theirs(row, join(path))
        return path.endsWith(WHOLE) || roots.has(path)
          ? { path: `${their}${WHOLE}`, kind: 'added' }
          : { path: their, kind }
      })
      await answered(id, signal, async () => {
        await wayTo(row, signal).tell(
          changes,
          [...roots].map((root) => theirs(row, root)),
        )
        return true
      })
      await ledger.write(() => waiting.forEach((change) => rows.dropTold(id, change)))
    },
  }
}
