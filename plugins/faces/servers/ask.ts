/** How each kind of media server is asked and told. What it answers comes from outside: nothing of it is trusted. */
import { posix } from 'node:path'
import { errors, say } from 'archivolt'
import type { App } from '../app.ts'
import type { Change } from '../types.ts'
import { openKodi } from './kodi.ts'
import { listIn, objectIn, textsIn } from './loose.ts'
import type { Kind } from './tables.ts'
import { isBelow, type Way } from './way.ts'

const WITHIN_SECONDS = 15
const MOST_BYTES = 5_000_000

export interface Asked {
  kind: Kind
  url: string
  secret: string
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

  const ways: Record<Kind, () => Way> = {
    ...{ jellyfin: media, emby: media, plex },
    kodi: () => openKodi(ask, secret, signal),
  }
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

  function noLibrary(folder: string): Error {
    return errors.unavailable(
      say`No library of ${{ server }} reads ${{ folder }}: add one there, or correct the paths here`,
    )
  }
}

const foldersOf = (changes: readonly Change[]): Set<string> => new Set(changes.map(({ path }) => posix.dirname(path)))
