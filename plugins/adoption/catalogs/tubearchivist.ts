/**
 * Reads TubeArchivist's backup: a zip in which each document is one line, after a line with its name. Positions are in
 * the dump of its Redis. `tubearchivist-folder.ts` recognises its folders.
 */

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline, Transform } from 'node:stream'
import { say } from 'archivolt'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { isDiskFault } from '../../film-kit/disk-fault.ts'
import { reportAlive } from '../../film-kit/heartbeat.ts'
import { commentsIn, infoOf } from '../../film-kit/tubearchivist-document.ts'
import { numberOf, objectOf, objectsOf, textOf } from '../../film-kit/values.ts'
import { isDocuments, linesOfDocuments } from './documents.ts'
import { wholeFile } from './files.ts'
import { textsInRedisDump } from './redis-dump.ts'
import { cachedPictures, looksLikeTubeArchivist } from './tubearchivist-folder.ts'
import { type CatalogKind, type CatalogTake, NoCatalog } from './types.ts'

const MOST_ENTRY_BYTES = 8 * 2 ** 30
const MAX_RATIO = 200
const MOST_LINE_BYTES = 32 << 20
/** The number of backups of one day that are compared. */
const MOST_OF_A_DAY = 50
const MOST_REDIS_BYTES = 512 << 20
const ENTRY = /^es_([a-z_]+)-\d{8}-\d{1,6}\.json$/
/** The indexes to read; `config` and `subtitle` are not used. */
const WANTED = new Set(['video', 'channel', 'playlist', 'download', 'comment'])
const BACKUP = /(?:^|\/)ta_backup-(\d{8})[^/]*\.zip$/i
const POSITION = /(?:^|:)(\d{1,6}):progress:([A-Za-z0-9_-]{11})$/

type Doc = Record<string, unknown>

export const tubearchivist: CatalogKind = {
  name: 'tubearchivist',
  title: 'TubeArchivist',
  /** Finds the backups of the newest day; there may be several. */
  find(files) {
    const backups = files.filter((file) => BACKUP.test(file))
    if (backups.length === 0) return files.filter(isDocuments)
    const newest = backups.map(dateOf).sort().at(-1)
    return backups.filter((file) => dateOf(file) === newest)
  },

  recognise: looksLikeTubeArchivist,

  beside: (files) => files.filter((file) => /(?:^|\/)redis\/(?:[^/]+\/)?dump\.rdb$/i.test(file)).slice(0, 1),

  async choose(files) {
    const backups = files.slice(0, MOST_OF_A_DAY)
    if (backups.length < 2) return backups
    const times = await Promise.all(backups.map(timesOf))
    const newest = backups.reduce((best, _file, at) => (isLater(times[at]!, times[best]!) ? at : best), 0)
    return [backups[newest]!]
  },

  async read({ files: [path = ''], beside: [dump], place, isAllowed }, take) {
    const ids = new Set<string>()
    const cached = cachedPictures(place, isAllowed)
    const cache = dirname(dirname(path))
    const pictureOf = (id: string): string | undefined =>
      isDocuments(path) ? cached(id) : `${cache}/videos/${id[0]!.toLowerCase()}/${id}.jpg`
    const each = isDocuments(path) ? eachStored : eachDocument
    await each(path, (kind, id, doc) => {
      if (kind === 'video') readVideo(id, doc, pictureOf(id), ids, take)
      if (kind === 'channel' && doc.channel_subscribed === true)
        take.along({ kind: 'channel', id: textOf(doc.channel_id) || id, name: textOf(doc.channel_name) })
      if (kind === 'playlist') readPlaylist(id, doc, take)
      if (kind === 'comment') take.comments(id, commentsIn(doc))
      if (kind === 'download' && doc.status === 'ignore')
        take.along({
          kind: 'ignore',
          id,
          title: textOf(doc.title),
          channelId: textOf(doc.channel_id),
          channelName: textOf(doc.channel_name),
        })
    })
    if (dump !== undefined) readPositions(dump, take)
  },
}

const dateOf = (file: string): string => BACKUP.exec(file)?.[1] ?? ''

/** When the documents were written: by the zip, otherwise by the file, whose date may be that of a copy. */
async function timesOf(path: string): Promise<[writtenMs: number, changedMs: number]> {
  const zip = await openZip(path).catch((thrown: unknown) => {
    if (thrown instanceof NoCatalog) return undefined
    throw thrown
  })
  let writtenMs = -1
  try {
    for await (const entry of zip?.eachEntry() ?? [])
      writtenMs = Math.max(writtenMs, entry.getLastModDate({ timezone: 'UTC' }).getTime())
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    writtenMs = -1 // damaged: sorted after all others
  } finally {
    zip?.close()
  }
  return [writtenMs, statSync(path).mtimeMs]
}

const isLater = ([written, changed]: readonly number[], [otherWritten, otherChanged]: readonly number[]): boolean =>
  written! > otherWritten! || (written === otherWritten && changed! > otherChanged!)

function readVideo(id: string, doc: Doc, pictureFile: string | undefined, ids: Set<string>, take: CatalogTake): void {
  const path = textOf(doc.media_url)
  if (ids.has(id)) return
  ids.add(id)
  if (path === '' || textOf(objectOf(doc.channel).channel_id) === '')
    return take.broken(id, say`its document has no channel or no file`)
  take.film({ id, path, info: infoOf(id, doc), pictureFile })
  const player = objectOf(doc.player)
  const at = numberOf(player.watched_date)
  if (player.watched === true) take.along({ kind: 'watched', id, owner: '', at })
}

function readPlaylist(id: string, doc: Doc, take: CatalogTake): void {
  const name = textOf(doc.playlist_name)
  const [entries, channelName] = [objectsOf(doc.playlist_entries), textOf(doc.playlist_channel)]
  if (doc.playlist_type === 'custom')
    return take.along({ kind: 'list', id, name, entries: entries.map((entry) => textOf(entry.youtube_id)) })
  take.along({
    kind: 'platform_list',
    id,
    name,
    ...{ channelName, channelId: textOf(doc.playlist_channel_id), description: textOf(doc.playlist_description) },
    isGone: doc.playlist_active === false,
    entries: entries.map(({ youtube_id: entryId, title, uploader }) => ({
      id: textOf(entryId),
      title: textOf(title),
      ...(typeof uploader === 'string' && uploader !== channelName && { uploader }),
    })),
  })
  if (doc.playlist_subscribed === true) take.along({ kind: 'playlist', id, name })
}

/**
 * Reads the positions; in a damaged dump, only those before the damage, because an import must not fail because of
 * positions.
 */
function readPositions(path: string, take: CatalogTake): void {
  try {
    takePositions(path, take)
  } catch (thrown) {
    if (!(thrown instanceof NoCatalog)) throw thrown
    take.unread(path, thrown.why)
  }
}

/** The positions of its users, by user number. */
function takePositions(path: string, take: CatalogTake): void {
  for (const { key, text } of textsInRedisDump(wholeFile(path, MOST_REDIS_BYTES))) {
    const [, owner, id] = POSITION.exec(key) ?? []
    if (owner === undefined) continue
    let told: Doc
    try {
      told = objectOf(JSON.parse(text))
    } catch {
      continue
    }
    const seconds = numberOf(told.position)
    if (seconds !== undefined && told.watched !== true) take.along({ kind: 'position', id: id!, owner, seconds })
  }
}

/** `ta_video`; a rebuilt index has a prefix and a suffix. */
const kindOf = (index: string): string => {
  const [before, ...after] = index.split('ta_')
  return after.length === 0 ? before! : after.at(-1)!.split('_', 1)[0]!
}

async function eachStored(path: string, take: (kind: string, id: string, doc: Doc) => void): Promise<void> {
  let named: Doc | undefined
  let isAny = false
  for await (const line of linesOfDocuments(path)) {
    reportAlive()
    if (!named) {
      named = objectOf(line.index)
      continue
    }
    const [kind, id] = [kindOf(textOf(named._index)), textOf(named._id)]
    named = undefined
    isAny = true
    if (WANTED.has(kind) && id !== '') take(kind, id, line)
  }
  if (!isAny) throw new NoCatalog('Its Elasticsearch holds no documents')
}

async function eachDocument(path: string, take: (kind: string, id: string, doc: Doc) => void): Promise<void> {
  const zip = await openZip(path)
  let isAny = false
  try {
    for await (const entry of zip.eachEntry()) {
      const [, name = ''] = ENTRY.exec(entry.fileName) ?? []
      const kind = name.replace(/^.*_/, '')
      if (!WANTED.has(kind)) continue
      isAny = true
      await eachLine(zip, entry, (id, doc) => take(kind, id, doc))
    }
  } catch (thrown) {
    if (thrown instanceof NoCatalog || isDiskFault(thrown)) throw thrown
    throw new NoCatalog('The backup is damaged')
  } finally {
    zip.close()
  }
  if (!isAny) throw new NoCatalog('The archive holds no documents')
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    return await yauzl.openPromise(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true })
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
    throw new NoCatalog('It is not a complete zip archive')
  }
}

async function eachLine(zip: ZipFile, entry: Entry, take: (id: string, doc: Doc) => void): Promise<void> {
  const isBomb = entry.uncompressedSize > 2 ** 20 && entry.uncompressedSize > entry.compressedSize * MAX_RATIO
  if (isBomb || entry.uncompressedSize > MOST_ENTRY_BYTES)
    throw new NoCatalog('It unpacks to more data than documents can have')
  const stream = await zip.openReadStreamPromise(entry)
  const guarded = pipeline(stream, withoutLongLines(), () => undefined)
  let id: string | undefined
  for await (const line of createInterface({ input: guarded, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue
    reportAlive()
    const value = objectOf(JSON.parse(line))
    if (id === undefined) id = textOf(objectOf(value.index)._id)
    else {
      if (id !== '') take(id, value)
      id = undefined
    }
  }
}

/** Stops at lines that would fill the memory before their end is found. */
function withoutLongLines(): Transform {
  let length = 0
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      const end = piece.lastIndexOf('\n')
      length = end < 0 ? length + piece.length : piece.length - end - 1
      if (length > MOST_LINE_BYTES) done(new NoCatalog('A document is too long'))
      else done(null, piece)
    },
  })
}
