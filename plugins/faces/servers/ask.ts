/** How each kind of media server is asked and told. What it answers comes from outside: nothing of it is trusted. */
import { posix } from 'node:path'
import { errors, say } from 'archivolt'
import type { App } from '../app.ts'
import type { Change } from '../types.ts'
import type { Kind } from './tables.ts'

const WITHIN_SECONDS = 15
const MOST_BYTES = 5_000_000

export interface Asked {
  kind: Kind
  url: string
  secret: string
}

/** One kind of server. Paths are the server's own. @throws unavailable: a sentence on what is wrong */
interface Way {
  /** The folders that its libraries read. */
  folders(): Promise<string[]>
  tell(changes: readonly Change[]): Promise<void>
}

const KNOWN: Record<Kind, string> = { jellyfin: 'Jellyfin', emby: 'Emby', plex: 'Plex', kodi: 'Kodi' }

export function openWay({ kind, url, secret }: Asked, app: Pick<App, 'fetch'>, signal: AbortSignal): Way {
  const server = KNOWN[kind]
  const base = url.replace(/(?<!\/)\/+$/, '')

  /** @param body  undefined: a GET */
  async function ask(path: string, headers: Record<string, string>, body?: object): Promise<unknown> {
    const reply = await app.fetch(`${base}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      signal,
      withinSeconds: WITHIN_SECONDS,
      maxBytes: MOST_BYTES,
      redirect: 'manual',
    })
    const { status } = reply
    if (status === 401 || status === 403)
      throw errors.unavailable(say`${{ server }} refuses the key: make a new one there, and enter it here`)
    if (status >= 300 && status < 400)
      throw errors.unavailable(
        say`The address leads elsewhere (status ${{ status }}): enter the address of ${{ server }} itself`,
      )
    if (status === 404) throw errors.unavailable(say`There is no ${{ server }} at this address`)
    if (status >= 400) throw errors.unavailable(say`${{ server }} answered with status ${{ status }}`)
    const text = await reply.text()
    if (text.trim() === '') return undefined
    try {
      return JSON.parse(text)
    } catch {
      // Others answer plain words where all is well, but none of them a page.
      if (!text.trimStart().startsWith('<')) return undefined
      throw errors.unavailable(say`What answers at this address is no ${{ server }}, but a web page`)
    }
  }

  const ways: Record<Kind, () => Way> = { jellyfin: media, emby: media, plex, kodi }
  return ways[kind]()

  function media(): Way {
    const headers = { authorization: `MediaBrowser Token="${secret.replaceAll('"', '')}"`, 'x-emby-token': secret }
    const types = { added: 'Created', changed: 'Modified', removed: 'Deleted' } as const
    return {
      folders: async () =>
        listIn(await ask('/Library/VirtualFolders', headers)).flatMap((one) => textsIn(one['Locations'])),
      async tell(changes) {
        const updates = changes.map((change) => ({ Path: change.path, UpdateType: types[change.kind] }))
        await ask('/Library/Media/Updated', headers, { Updates: updates })
      },
    }
  }

  function plex(): Way {
    const headers = { 'x-plex-token': secret }
    async function sections(): Promise<Array<{ key: string; folders: string[] }>> {
      const container = objectIn(objectIn(await ask('/library/sections', headers))['MediaContainer'])
      return listIn(container['Directory']).map((one) => ({
        key: String(one['key']),
        folders: listIn(one['Location']).flatMap(({ path }) => textsIn([path])),
      }))
    }
    return {
      folders: async () => (await sections()).flatMap(({ folders }) => folders),
      async tell(changes) {
        const all = await sections()
        for (const folder of foldersOf(changes)) {
          const section = all.find((one) => one.folders.some((of) => isBelow(of, folder)))
          if (!section || !/^\d+$/.test(section.key)) throw noLibrary(folder)
          await ask(`/library/sections/${section.key}/refresh?path=${encodeURIComponent(folder)}`, headers)
        }
      },
    }
  }

  function kodi(): Way {
    const headers: Record<string, string> =
      secret === '' ? {} : { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }
    async function call(method: string, params: object): Promise<Record<string, unknown>> {
      const answer = objectIn(await ask('/jsonrpc', headers, { jsonrpc: '2.0', id: 1, method, params }))
      if (answer['error'] !== undefined || !('result' in answer))
        throw errors.unavailable(say`${{ server }} did not take what it was told (${{ method }})`)
      return objectIn(answer['result'])
    }
    /** A changed NFO is read again for its episode alone: a scan passes it over. */
    async function refresh(nfo: string): Promise<void> {
      const name = posix.basename(nfo, '.nfo')
      const filter = { field: 'filename', operator: 'startswith', value: name }
      const { episodes } = await call('VideoLibrary.GetEpisodes', { filter, properties: ['file'] })
      for (const { episodeid, file } of listIn(episodes))
        if (String(file).startsWith(nfo.slice(0, -'nfo'.length)))
          await call('VideoLibrary.RefreshEpisode', { episodeid, ignorenfo: false })
    }
    return {
      folders: async () =>
        listIn((await call('Files.GetSources', { media: 'video' }))['sources']).flatMap(({ file }) =>
          textsIn([file]).map((path) => path.replace(/\/$/, '')),
        ),
      async tell(changes) {
        const fresh = changes.filter(({ kind }) => kind === 'added')
        for (const folder of showsOf(fresh))
          await call('VideoLibrary.Scan', { directory: `${folder}/`, showdialogs: false })
        for (const { path, kind } of changes) if (kind === 'changed' && path.endsWith('.nfo')) await refresh(path)
        if (changes.some(({ kind }) => kind === 'removed')) await call('VideoLibrary.Clean', { showdialogs: false })
      },
    }
  }

  function noLibrary(folder: string): Error {
    return errors.unavailable(
      say`No library of ${{ server }} reads ${{ folder }}: add one there, or correct the paths here`,
    )
  }
}

export const isBelow = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)

const foldersOf = (changes: readonly Change[]): Set<string> => new Set(changes.map(({ path }) => posix.dirname(path)))
/** Kodi makes a show of the folder above the years; it is told of that one. */
const showsOf = (changes: readonly Change[]): Set<string> =>
  new Set([...foldersOf(changes)].map((folder) => folder.replace(/\/Season \d+$/, '')))

type Loose = Record<string, unknown>
const objectIn = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {})
const listIn = (value: unknown): Loose[] => (Array.isArray(value) ? value.map(objectIn) : [])
const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
