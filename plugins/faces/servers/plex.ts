/** The client of Plex. */
import { posix } from 'node:path'
import { chunksOf, errors, say } from 'archivolt'
import type { Change } from '../types.ts'
import { type Ask, inFull, pagesOf, withQuery } from './ask.ts'
import { type Loose, listIn, objectIn, textIn, textsIn } from './loose.ts'
import { type Entry, type Item, isBelow, type Way } from './way.ts'

const KEYS_AT_ONCE = 100
/** The type of item in each kind of library: films, episodes, tracks. */
const CONTENT: Record<string, number> = { movie: 1, show: 4, artist: 10 }

interface Section {
  key: string
  kind: string
  folders: string[]
}

export function openPlex(ask: Ask, secret: string): Way {
  const headers = { 'x-plex-token': secret }
  /** Ids of items that are sound: a playlist has either films or sound. */
  const tracks = new Set<string>()

  const get = async (path: string): Promise<Loose> => objectIn(objectIn(await ask(path, { headers }))['MediaContainer'])

  async function sections(): Promise<Section[]> {
    return listIn((await get('/library/sections'))['Directory']).map(({ key, type, Location }) => ({
      key: String(key),
      kind: String(type),
      folders: listIn(Location).flatMap(({ path }) => textsIn([path])),
    }))
  }

  const read = (path: string, query: Record<string, string | number> = {}) =>
    pagesOf(async (start, size) => {
      const part = { 'X-Plex-Container-Start': start, 'X-Plex-Container-Size': size }
      return listIn((await get(withQuery(path, { ...query, ...part })))['Metadata'])
    })

  function toItem({ ratingKey, type, Media }: Loose): Item {
    const id = String(ratingKey)
    if (type === 'track') tracks.add(id)
    const [part] = listIn(Media).flatMap(({ Part }) => listIn(Part))
    return { id, path: String(part?.['file'] ?? '') }
  }

  const machine = async (): Promise<string> => textIn((await get('/identity'))['machineIdentifier'])

  /** The URI by which playlists refer to items. */
  async function uriOf(keys: readonly string[]): Promise<string> {
    return `server://${await machine()}/com.plexapp.plugins.library/library/metadata/${keys.join(',')}`
  }

  async function append(id: string, items: readonly string[]): Promise<void> {
    for (const keys of chunksOf(items, KEYS_AT_ONCE))
      await ask(withQuery(itemsOf(id), { uri: await uriOf(keys) }), { method: 'PUT', headers })
  }

  const entriesOf = async (id: string): Promise<Entry[]> =>
    (await inFull(read(itemsOf(id)))).map((row) => ({ ...toItem(row), entry: String(row['playlistItemID']) }))

  return {
    folders: async () => (await sections()).flatMap(({ folders }) => folders),

    async tell(changes, faces) {
      const all = await sections()
      const readerOf = (folder: string) => all.find(({ folders }) => folders.some((one) => isBelow(one, folder)))
      const read = faces.filter((face) => readerOf(face))
      const expected = read.length > 0 ? read : faces
      for (const folder of foldersOf(changes)) {
        const section = readerOf(folder)
        // The face was removed, or Plex does not read it although it reads others.
        if (!section && !expected.some((face) => isBelow(face, folder))) continue
        if (!section || !/^\d+$/.test(section.key))
          throw errors.unavailable(
            say`No library of ${{ server: 'Plex' }} reads ${{ folder }}: add one there, or correct the paths here`,
          )
        await ask(withQuery(`/library/sections/${section.key}/refresh`, { path: folder }), { headers })
      }
    },

    lists: {
      machine,

      async *items(wanted) {
        for (const { key, kind, folders } of await sections()) {
          const type = CONTENT[kind]
          if (type === undefined || !folders.some((one) => wanted.some((folder) => isBelow(one, folder)))) continue
          const path = `/library/sections/${encodeURIComponent(key)}/all`
          for await (const page of read(path, { type, sort: 'addedAt:desc' })) yield page.map(toItem)
        }
      },

      /**
       * Also compares the name: Plex reuses ids after its database was rebuilt, so a person's playlist could be
       * mistaken for ours.
       */
      async entries(id, name) {
        const answer = await ask(pathOf(id), { headers, mayBeAbsent: true })
        const [list] = listIn(objectIn(objectIn(answer)['MediaContainer'])['Metadata'])
        return list?.['title'] === name && list['smart'] !== true ? entriesOf(id) : undefined
      },

      named: async (name) =>
        (await inFull(read('/playlists')))
          .filter(({ title, smart }) => title === name && smart !== true)
          .map(({ ratingKey }) => String(ratingKey)),

      async create(name, items) {
        const [first = [], ...others] = chunksOf(items, KEYS_AT_ONCE)
        const type = tracks.has(first[0]!) ? 'audio' : 'video'
        const query = { type, title: name, smart: 0, uri: await uriOf(first) }
        const made = await ask(withQuery('/playlists', query), { method: 'POST', headers })
        const id = String(listIn(objectIn(objectIn(made)['MediaContainer'])['Metadata'])[0]?.['ratingKey'])
        await append(id, others.flat())
        return id
      },

      async arrange(id, present, wanted) {
        const isWanted = new Set(wanted)
        const seen = new Set<string>()
        for (const { id: item, entry } of present) {
          if (isWanted.has(item) && !seen.has(item)) seen.add(item)
          else await ask(`${itemsOf(id)}/${encodeURIComponent(entry)}`, { method: 'DELETE', headers })
        }
        await append(
          id,
          wanted.filter((item) => !seen.has(item)),
        )
        const order = await entriesOf(id)
        const isThere = new Set(order.map((one) => one.id))
        for (const [at, item] of wanted.filter((one) => isThere.has(one)).entries()) {
          const from = order.findIndex((one) => one.id === item)
          if (from === at) continue
          const [moved] = order.splice(from, 1)
          const path = `${itemsOf(id)}/${encodeURIComponent(moved!.entry)}/move`
          const before = order[at - 1]
          await ask(before ? withQuery(path, { after: before.entry }) : path, { method: 'PUT', headers })
          order.splice(at, 0, moved!)
        }
      },

      async remove(id) {
        await ask(pathOf(id), { method: 'DELETE', headers, mayBeAbsent: true })
      },
    },
  }
}

const pathOf = (id: string): string => `/playlists/${encodeURIComponent(id)}`
const itemsOf = (id: string): string => `${pathOf(id)}/items`
const foldersOf = (changes: readonly Change[]): Set<string> => new Set(changes.map(({ path }) => posix.dirname(path)))
