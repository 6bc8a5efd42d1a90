/**
 * Reads MeTube's list of downloads: URLs and file names. Before April 2026 this list was a Python shelf, in the
 * database format of the image of that time; each format stores the objects as whole pickles, one after the other.
 */
import { dirname } from 'node:path'
import { fieldsOf, isPickled, pickleAt } from '../../film-kit/pickle.ts'
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
import { isDatabase, jsonIn, wholeFile, withDatabase } from './files.ts'
import { type CatalogKind, type CatalogTake, NoCatalog } from './types.ts'

const itemsOf = (path: string, kind: string): Record<string, unknown>[] => {
  const list = objectOf(jsonIn(path))
  if (list.kind !== kind) throw new NoCatalog('It is a different list')
  return objectsOf(list.items)
}

const FORM_JSON = /(?:^|\/)\.?(?:metube|state)\/completed\.json$/i
const FORM_SHELF = /(?:^|\/)\.?(?:metube|state)\/completed(?:\.(?:dat|db|pag))?$/i

/** A pickle begins with its protocol, and soon after that contains the name of this class. */
const CLASS = 'DownloadInfo'
const PROTOCOL = 0x80
const NEWEST_PROTOCOL = 5
const MOST_BEFORE_CLASS = 40

/** The fields of each download of a shelf. */
function* shelved(path: string, own: string): Generator<Record<string, unknown>> {
  if (!isDatabase(path)) return yield* pickledIn(wholeFile(path))
  const rows: Buffer[] = []
  withDatabase(path, own, ['Dict'], (db) => {
    for (const { value } of db.rows('Dict', ['value'])) if (Buffer.isBuffer(value)) rows.push(value)
  })
  for (const value of rows) yield* pickledIn(value)
}

function* pickledIn(bytes: Buffer): Generator<Record<string, unknown>> {
  for (let at = bytes.indexOf(CLASS); at >= 0; ) {
    const from = bytes.subarray(Math.max(0, at - MOST_BEFORE_CLASS), at).lastIndexOf(PROTOCOL)
    const start = Math.max(0, at - MOST_BEFORE_CLASS) + from
    let end = at + CLASS.length
    if (from >= 0 && (bytes[start + 1] ?? 0) <= NEWEST_PROTOCOL)
      try {
        const pickle = pickleAt(bytes, start)
        end = pickle.end
        if (isPickled(pickle.value)) yield fieldsOf(pickle.value)
      } catch (thrown) {
        // The pickle was overwritten by another record, or the bytes only look like a pickle.
        if (!(thrown instanceof SyntaxError)) throw thrown
      }
    at = bytes.indexOf(CLASS, end)
  }
}

/** The metadata from yt-dlp, which older lists contain. */
function entryOf(id: string, entry: unknown): Record<string, unknown> {
  const told = entry instanceof Map ? fieldsOf(entry) : objectOf(entry)
  if (told.id !== id) return {}
  const { description, channel_id, channel, uploader, upload_date, timestamp, duration } = told
  return { description, channel_id, channel, uploader, upload_date, timestamp, duration }
}

function takeDownload(download: Record<string, unknown>, key: unknown, take: CatalogTake): void {
  const { id: told, title, url, folder, filename, status, timestamp, entry } = download
  const id = idInAddress(url) ?? idInAddress(key) ?? textOf(told)
  if (status !== 'finished' || textOf(filename) === '') return
  const nanoseconds = numberOf(timestamp)
  const epoch = nanoseconds === undefined ? undefined : Math.floor(nanoseconds / 1e9)
  take.film({
    id,
    path: [textOf(folder), textOf(filename)].filter(Boolean).join('/'),
    info: given({ ...entryOf(id, entry), id, title, epoch }),
  })
}

export const metube: CatalogKind = {
  name: 'metube',
  title: 'MeTube',
  find: (files) => [...files.filter((file) => FORM_JSON.test(file)), ...files.filter((file) => FORM_SHELF.test(file))],

  read({ files, isAllowed, own }, take) {
    const [path] = files
    if (FORM_JSON.test(path!)) {
      for (const { key, info } of itemsOf(path!, 'persistent_queue:completed')) takeDownload(objectOf(info), key, take)
    } else {
      let count = 0
      for (const download of shelved(path!, own)) {
        takeDownload(download, undefined, take)
        count++
      }
      if (count === 0) throw new NoCatalog('It is a different list')
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
