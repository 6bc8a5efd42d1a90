/** Reads MeTube's list of downloads: addresses and file names. Older lists are pickles, which are never read. */
import { dirname } from 'node:path'
import {
  channelOrHandleIn,
  given,
  idInAddress,
  numberOf,
  objectOf,
  objectsOf,
  playlistInAddress,
  textOf,
} from '../../film-kit/values.ts'
import { jsonIn } from './files.ts'
import { type CatalogKind, NoCatalog } from './types.ts'

const itemsOf = (path: string, kind: string): Record<string, unknown>[] => {
  const list = objectOf(jsonIn(path))
  if (list.kind !== kind) throw new NoCatalog('It is another list')
  return objectsOf(list.items)
}

export const metube: CatalogKind = {
  name: 'metube',
  title: 'MeTube',
  find: (files) => files.filter((file) => /(?:^|\/)\.?(?:metube|state)\/completed\.json$/i.test(file)),

  read({ files, isAllowed }, take) {
    const [path] = files
    for (const { key, info } of itemsOf(path!, 'persistent_queue:completed')) {
      const { id: told, title, url, folder, filename, status, timestamp } = objectOf(info)
      const id = idInAddress(url) ?? idInAddress(key) ?? textOf(told)
      if (status !== 'finished' || textOf(filename) === '') continue
      const nanoseconds = numberOf(timestamp)
      take.film({
        id,
        path: [textOf(folder), textOf(filename)].filter(Boolean).join('/'),
        info: given({ id, title, epoch: nanoseconds === undefined ? undefined : Math.floor(nanoseconds / 1e9) }),
      })
    }
    const subscriptions = `${dirname(path!)}/subscriptions.json`
    if (!isAllowed(subscriptions)) return
    for (const { url, name, enabled } of itemsOf(subscriptions, 'subscriptions')) {
      const [channel, playlist] = [channelOrHandleIn(url), playlistInAddress(url)]
      if (enabled !== true) continue
      if (playlist !== undefined) take.along({ kind: 'playlist', id: playlist, name: textOf(name) })
      else if (channel !== undefined) take.along({ kind: 'channel', id: channel, name: textOf(name) })
    }
  },
}
