/**
 * Reads the history of YTPTube, with a row for each download that has its URL and its file, and YTPTube's list of
 * downloads.
 */
import { dirname } from 'node:path'
import {
  channelOrHandleIn,
  flagOf,
  given,
  idInAddress,
  numberOf,
  objectOf,
  playlistInAddress,
  secondsOf,
  textOf,
} from '../../film-kit/values.ts'
import { jsonOf, wholeFile, withDatabase } from './files.ts'
import { type CatalogKind, NoCatalog } from './types.ts'

const IS_DATABASE = /(?:^|\/)ytptube\.db$/i
const IS_ARCHIVE = /(?:^|\/)archive\.log$/i

/** The data of a row, which is text; some SQLite drivers store it as bytes. */
function dataOf(value: unknown): Record<string, unknown> {
  try {
    return objectOf(jsonOf(Buffer.isBuffer(value) ? value : Buffer.from(textOf(value))))
  } catch (thrown) {
    if (thrown instanceof NoCatalog) return {}
    throw thrown
  }
}

const pathOf = ({ folder, filename }: Record<string, unknown>): string =>
  textOf(filename).startsWith('/')
    ? textOf(filename)
    : [textOf(folder).replace(/^\/+|\/+$/g, ''), textOf(filename)].filter(Boolean).join('/')

export const ytptube: CatalogKind = {
  name: 'ytptube',
  title: 'YTPTube',
  find: (files) => files.filter((file) => IS_DATABASE.test(file)),
  beside: (files) => files.filter((file) => IS_ARCHIVE.test(file)),

  read({ files: [path], beside, own }, take) {
    withDatabase(path!, own, ['history'], (db) => {
      for (const { type, url, data, created_at: at } of db.rows('history', ['type', 'url', 'data', 'created_at'])) {
        const row = dataOf(data)
        const id = idInAddress(row.url) ?? idInAddress(url) ?? textOf(row.id)
        if (type === 'queue' || row.status !== 'finished' || textOf(row.filename) === '') continue
        const { title, description } = row
        const extras = objectOf(row.extras)
        const nanoseconds = numberOf(row.timestamp)
        const info = {
          ...{ id, title, description },
          ...{ channel_id: extras.channel_id, channel: extras.channel, uploader: extras.uploader },
          epoch: nanoseconds === undefined ? secondsOf(at) : Math.floor(nanoseconds / 1e9),
        }
        take.film({ id, path: pathOf(row), info: given(info) })
      }
      if (!db.has('tasks')) return
      for (const { name, url, enabled } of db.rows('tasks', ['name', 'url', 'enabled'])) {
        const [channel, playlist] = [channelOrHandleIn(url), playlistInAddress(url)]
        if (!flagOf(enabled)) continue
        if (playlist !== undefined) take.along({ kind: 'playlist', id: playlist, name: textOf(name) })
        else if (channel !== undefined) take.along({ kind: 'channel', id: channel, name: textOf(name) })
      }
    })
    // The archive file lists all downloads, including those with presets that are not in the history.
    const archive = beside.find((file) => dirname(file) === dirname(path!))
    if (archive !== undefined)
      for (const line of wholeFile(archive).toString('utf8').split(/\r?\n/)) take.archived(line)
  },
}
