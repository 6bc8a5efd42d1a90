/**
 * Creates playlists in media servers: each playlist that a face has as a file is also created there, in the same order,
 * and kept up to date. An item is found by its path; items that the server has not read yet are added later.
 */
import { join } from 'node:path'
import type { App } from '../app.ts'
import { filmPaths, listMarks } from '../playlists.ts'
import type { Rows } from '../tables.ts'
import type { FaceRow } from '../types.ts'
import { type ListRow, type Making, MOVED, type ServerRow, type ServerRows } from './tables.ts'
import { type Entry, type Item, isBelow, type Lists, type Way } from './way.ts'

/** Number of pages with the newest items, among which a video is found that was just added. */
const NEWEST_PAGES = 5
/** Maximum number of remembered items that were not found; beyond it, all are forgotten. */
const MOST_MISSED = 20_000

interface Wanted {
  face: FaceRow
  mark: string
}

interface Opened {
  remote: string
  entries: Entry[]
}

export function openLists(
  app: App,
  rows: ServerRows,
  faces: Pick<Rows, 'faces' | 'pathsOf' | 'lists'>,
  theirs: (row: ServerRow, path: string) => string,
) {
  /**
   * Number of searches that did not find an item, by server and path. After the first one, it is worth reading
   * everything once.
   */
  const missed = new Map<string, number>()

  /** The wanted playlists by id. If several faces have the same playlist, uses the first face that the server reads. */
  function wantedOf(row: ServerRow, read: readonly FaceRow[]): Map<string, Wanted> {
    const wanted = new Map<string, Wanted>()
    if (row.with_playlists !== 1) return wanted
    for (const face of read)
      for (const [id, mark] of listMarks(faces, face.id))
        if (!wanted.has(id)) wanted.set(id, { face, mark: `${face.id} ${mark}` })
    return wanted
  }

  /** Asks a server for its own id, unless it is known, and takes back the playlists that stayed in it. */
  async function recognize(row: ServerRow, lists: Lists): Promise<void> {
    if (row.machine !== null) return
    const machine = await lists.machine()
    await app.ledger.write(() => {
      // Its address may have changed during the request.
      if (rows.get(row.id)?.url === row.url) rows.recognize(row, machine)
    })
  }

  /** The name of a playlist, and the paths of its videos as the server has them, each once. */
  async function pathsOf(row: ServerRow, face: FaceRow, id: string): Promise<{ name: string; paths: string[] }> {
    const doc = await app.playlists.get(id)
    const ids = (doc?.playlist_entries ?? []).filter(({ downloaded }) => downloaded).map((entry) => entry.platform_id)
    const films = await filmPaths(faces, face.id, [...new Set(ids)])
    const paths = [...new Set(ids)].flatMap((video) => films.get(video) ?? [])
    return { name: doc?.playlist_name ?? '', paths: paths.map((path) => theirs(row, join(face.root, path))) }
  }

  function shouldReadAll(row: ServerRow, missing: readonly string[]): boolean {
    if (missed.size > MOST_MISSED) missed.clear()
    const counts = missing.map((path) => missed.get(`${row.id} ${path}`) ?? 0)
    return counts.includes(1) || (counts.includes(0) && rows.lists(row.id).length === 0)
  }

  /** Finds items of one server, and reads only as many as necessary. */
  function openFinder(row: ServerRow, lists: Lists, roots: readonly string[]) {
    const found = new Map<string, string>()
    const pages = lists.items(roots)[Symbol.asyncIterator]()
    let read = 0
    let isOver = false
    const isMissing = (path: string) => !found.has(alike(path))
    async function next(): Promise<void> {
      const { done, value } = await pages.next()
      isOver = done === true
      read++
      for (const { id, path } of (value ?? []) as Item[])
        if (roots.some((root) => isBelow(alike(root), alike(path)))) found.set(alike(path), id)
    }
    return async (paths: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const isAll = shouldReadAll(row, paths.filter(isMissing))
      while (!isOver && (isAll || read < NEWEST_PAGES) && paths.some(isMissing)) await next()
      for (const path of paths) {
        const key = `${row.id} ${path}`
        if (isMissing(path)) missed.set(key, (missed.get(key) ?? 0) + 1)
        else missed.delete(key)
      }
      return found
    }
  }

  /** The playlist as the server has it; undefined: it does not exist there. */
  async function openList(lists: Lists, known: ListRow): Promise<Opened | undefined> {
    const { remote, name, making } = known
    if (making === null || making === MOVED) {
      // If the server was installed again, this id may be that of a person's playlist.
      if (making === MOVED && !(await lists.named(name)).includes(remote)) return undefined
      const entries = await lists.entries(remote, name)
      return entries && { remote, entries }
    }
    const { before, items } = app.ledger.json<Making>(making, 'faces_list.making', { before: [], items: [] })
    const others = new Set([...before, ...rows.lists(known.server_id).map((one) => one.remote)])
    for (const id of (await lists.named(name)).filter((one) => !others.has(one))) {
      const entries = (await lists.entries(id, name)) ?? []
      if (entries.length > 0 && entries.every((entry) => items.includes(entry.id))) return { remote: id, entries }
    }
    return undefined
  }

  /**
   * Creates a playlist. Its row is written first, so that after an interruption the playlist is found instead of
   * created again. @returns its id
   */
  async function create(lists: Lists, row: Omit<ListRow, 'remote' | 'making'>, items: string[]): Promise<string> {
    const making: Making = { before: await lists.named(row.name), items }
    await app.ledger.write(() => rows.setList({ ...row, remote: '', making: JSON.stringify(making) }))
    return lists.create(row.name, items)
  }

  /** @returns whether the server has all its items */
  async function bringUp(
    row: ServerRow,
    lists: Lists,
    find: ReturnType<typeof openFinder>,
    { id, face, mark }: Wanted & { id: string },
  ): Promise<boolean> {
    const { name, paths } = await pathsOf(row, face, id)
    const known = rows.list(row.id, id)
    const there = known && (await openList(lists, known))
    const items = new Map((there?.entries ?? []).map((entry) => [alike(entry.path), entry.id]))
    const lacking = paths.filter((path) => !items.has(alike(path)))
    for (const [path, item] of lacking.length > 0 ? await find(lacking) : []) items.set(path, item)
    const wanted = [...new Set(paths.flatMap((path) => items.get(alike(path)) ?? []))]
    const isWhole = paths.every((path) => items.has(alike(path)))

    const next = { server_id: row.id, playlist: id, name, mark: '' }
    const current = known?.name === name && wanted.length > 0 ? there : undefined
    if (current) await lists.arrange(current.remote, current.entries, wanted)
    else if (there) await lists.remove(there.remote)
    const remote = current?.remote ?? (wanted.length > 0 ? await create(lists, next, wanted) : undefined)
    await app.ledger.write(() => {
      if (remote === undefined) rows.dropList(row.id, id)
      else rows.setList({ ...next, remote, mark: isWhole ? mark : '', making: null })
    })
    return isWhole
  }

  async function drop(lists: Lists, known: ListRow): Promise<void> {
    const there = await openList(lists, known)
    if (there) await lists.remove(there.remote)
    await app.ledger.write(() => rows.dropList(known.server_id, known.playlist))
  }

  /** @returns whether the server has all videos of the playlists */
  return async function followLists(row: ServerRow, way: Way, signal: AbortSignal): Promise<boolean> {
    const { lists } = way
    if (!lists) return true
    await recognize(row, lists)
    const folders = await way.folders()
    const rootOf = ({ root }: FaceRow) => theirs(row, root)
    const read = faces.faces().filter((face) => folders.some((one) => isBelow(one, rootOf(face))))
    const wanted = wantedOf(row, read)
    for (const known of rows.lists(row.id)) if (!wanted.has(known.playlist)) await drop(lists, known)
    const find = openFinder(row, lists, read.map(rootOf))
    let isWhole = true
    for (const [id, one] of wanted) {
      signal.throwIfAborted()
      if (rows.list(row.id, id)?.mark === one.mark) continue
      if (!(await bringUp(row, lists, find, { ...one, id }))) isWhole = false
    }
    return isWhole
  }
}

/** A path in a normalized form, because servers may write it differently. */
const alike = (path: string): string => path.replaceAll('\\', '/').normalize('NFC')
