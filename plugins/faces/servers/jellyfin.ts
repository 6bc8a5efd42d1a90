/** The client of Jellyfin and Emby, which have a common origin and share these requests. */
import { chunksOf, errors } from 'archivolt'
import { type Ask, inFull, pagesOf, withQuery } from './ask.ts'
import { type Loose, listIn, objectIn, textIn, textsIn } from './loose.ts'
import { type Entry, type Item, isBelow, type Way } from './way.ts'

/** Maximum number of ids per request: an id has 32 characters, and a URL may have some thousand. */
const IDS_AT_ONCE = 100
const TYPES = { added: 'Created', changed: 'Modified', removed: 'Deleted' } as const

export function openJellyfin(ask: Ask, secret: string): Way {
  const headers = { authorization: `MediaBrowser Token="${secret.replaceAll('"', '')}"`, 'x-emby-token': secret }
  const libraries = async () => listIn(await ask('/Library/VirtualFolders', { headers }))

  const read = (path: string, query: Record<string, string | number>) =>
    pagesOf(async (StartIndex, Limit) =>
      listIn(
        objectIn(await ask(withQuery(path, { ...query, Fields: 'Path', StartIndex, Limit }), { headers }))['Items'],
      ),
    )

  /**
   * The owner of our playlists: the first administrator, because a playlist must belong to an account, but a key has
   * none.
   */
  async function owner(): Promise<string> {
    const isAdmin = ({ Policy }: Loose) => {
      const { IsAdministrator, IsDisabled } = objectIn(Policy)
      return IsAdministrator === true && IsDisabled !== true
    }
    const found = listIn(await ask('/Users', { headers })).find(isAdmin)
    if (!found) throw errors.unavailable('The media server has no administrator to whom playlists could belong')
    return String(found['Id'])
  }

  /** Appends items to a playlist, in order. */
  async function append({ list, user }: Owned, items: readonly string[]): Promise<void> {
    for (const ids of chunksOf(items, IDS_AT_ONCE))
      await ask(withQuery(itemsOf(list), { Ids: ids.join(','), UserId: user }), { method: 'POST', headers })
  }

  return {
    folders: async () => (await libraries()).flatMap(({ Locations }) => textsIn(Locations)),

    async tell(changes) {
      const Updates = changes.map(({ path, kind }) => ({ Path: path, UpdateType: TYPES[kind] }))
      await ask('/Library/Media/Updated', { headers, body: { Updates } })
    },

    lists: {
      machine: async () => textIn(objectIn(await ask('/System/Info/Public', { headers }))['Id']),

      async *items(folders) {
        for (const { Locations, ItemId } of await libraries()) {
          if (!textsIn(Locations).some((location) => folders.some((folder) => isBelow(location, folder)))) continue
          const query = { ParentId: String(ItemId), Recursive: 'true', MediaTypes: 'Video,Audio' }
          const sort = { SortBy: 'DateCreated', SortOrder: 'Descending' }
          for await (const page of read('/Items', { ...query, ...sort })) yield page.map(toItem)
        }
      },

      async entries(id) {
        const { list, user } = ownedOf(id)
        // Checks first whether the playlist exists: when reading pages, a missing playlist would look like a URL
        // without a Jellyfin.
        const path = withQuery(itemsOf(list), { UserId: user, Limit: 1 })
        if ((await ask(path, { headers, mayBeAbsent: true })) === undefined) return undefined
        return (await inFull(read(itemsOf(list), { UserId: user }))).map(toEntry)
      },

      async named(name) {
        const user = await owner()
        const all = await inFull(read('/Items', { IncludeItemTypes: 'Playlist', Recursive: 'true', UserId: user }))
        return all.filter(({ Name }) => Name === name).map(({ Id }) => idOf({ list: String(Id), user }))
      },

      async create(name, items) {
        const user = await owner()
        const [first = [], ...others] = chunksOf(items, IDS_AT_ONCE)
        const made = await ask(withQuery('/Playlists', { Name: name, Ids: first.join(','), UserId: user }), {
          headers,
          body: { Name: name, UserId: user, IsPublic: true },
        })
        const owned = { list: String(objectIn(made)['Id']), user }
        await append(owned, others.flat())
        return idOf(owned)
      },

      /**
       * Replaces all entries after the first difference, because with a key, entries can be added and removed, but not
       * moved.
       */
      async arrange(id, present, wanted) {
        const owned = ownedOf(id)
        const isAnyTwice = new Set(present.map(({ entry }) => entry)).size < present.length
        const different = present.findIndex((one, at) => one.id !== wanted[at])
        const unchanged = isAnyTwice ? 0 : different < 0 ? present.length : different
        for (const some of chunksOf(present.slice(unchanged), IDS_AT_ONCE)) {
          const EntryIds = some.map(({ entry }) => entry).join(',')
          await ask(withQuery(itemsOf(owned.list), { EntryIds }), { method: 'DELETE', headers })
        }
        await append(owned, wanted.slice(unchanged))
      },

      async remove(id) {
        await ask(`/Items/${encodeURIComponent(ownedOf(id).list)}`, { method: 'DELETE', headers, mayBeAbsent: true })
      },
    },
  }
}

/** A playlist with the account to which it belongs. */
interface Owned {
  list: string
  user: string
}
const idOf = ({ list, user }: Owned): string => `${list} ${user}`
const ownedOf = (id: string): Owned => {
  const [list = '', user = ''] = id.split(' ')
  return { list, user }
}
const itemsOf = (list: string): string => `/Playlists/${encodeURIComponent(list)}/Items`

const toItem = ({ Id, Path }: Loose): Item => ({ id: String(Id), path: String(Path ?? '') })
const toEntry = (row: Loose): Entry => ({ ...toItem(row), entry: String(row['PlaylistItemId']) })
