/** Reads the local database of YoutubeDL-Material: one JSON object with a list for each table. */

import {
  channelOrHandleIn,
  dayOf,
  given,
  idInAddress,
  numberOf,
  objectOf,
  objectsOf,
  playlistInAddress,
  textOf,
  textsOf,
} from '../../film-kit/values.ts'
import { jsonIn } from './files.ts'
import { type CatalogKind, NoCatalog } from './types.ts'

const infoOf = (id: string, row: Record<string, unknown>): Record<string, unknown> => {
  const registered = numberOf(row.registered)
  return given({
    id,
    title: row.title,
    description: row.description,
    channel: row.uploader,
    upload_date: dayOf(row.upload_date),
    duration: numberOf(row.duration),
    view_count: numberOf(row.view_count),
    epoch: registered === undefined ? undefined : Math.floor(registered / 1000),
  })
}

export const youtubedlMaterial: CatalogKind = {
  name: 'youtubedl-material',
  title: 'YoutubeDL-Material',
  find: (files) => files.filter((file) => /(?:^|\/)local_db\.json$/i.test(file)),

  read({ files }, take) {
    const db = objectOf(jsonIn(files[0]!))
    if (!Array.isArray(db.files) || !Array.isArray(db.subscriptions))
      throw new NoCatalog('It contains no list of files')
    const idOf = new Map<string, string>()
    for (const row of objectsOf(db.files)) {
      // Its own `id` is the name of the file.
      const id = idInAddress(row.url)
      if (id === undefined || textOf(row.path) === '') continue
      idOf.set(textOf(row.uid), id)
      take.film({ id, path: textOf(row.path), info: infoOf(id, row) })
      if (row.favorite === true) take.along({ kind: 'keep', id })
    }
    for (const { url, name, isPlaylist, paused } of objectsOf(db.subscriptions)) {
      const id = isPlaylist === true ? playlistInAddress(url) : channelOrHandleIn(url)
      if (id !== undefined && paused !== true)
        take.along({ kind: isPlaylist === true ? 'playlist' : 'channel', id, name: textOf(name) })
    }
    for (const { id, name, uids } of objectsOf(db.playlists)) {
      const entries = textsOf(uids).flatMap((uid) => idOf.get(uid) ?? [])
      take.along({ kind: 'list', id: textOf(id), name: textOf(name), entries })
    }
  },
}
