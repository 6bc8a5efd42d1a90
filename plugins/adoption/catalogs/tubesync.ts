/**
 * Reads TubeSync's SQLite file, or a dump of another database. yt-dlp's information about a video is in its row, in a
 * separate table, or missing.
 */
import { basename, dirname } from 'node:path'
import { trimmed } from '../../film-kit/trimmed.ts'
import { flagOf, given, numberOf, objectOf, objectsOf, secondsOf, textOf } from '../../film-kit/values.ts'
import { type ForeignDatabase, jsonIn, jsonOf, mentions, withDatabase } from './files.ts'
import { type CatalogKind, type CatalogTake, type ListedEntry, NoCatalog } from './types.ts'

const SOURCE = [
  ...['uuid', 'source_type', 'key', 'name', 'index_schedule', 'download_media', 'source_resolution'],
  ...['filter_text', 'filter_text_invert', 'filter_seconds', 'filter_seconds_min'],
  ...['delete_old_media', 'days_to_keep', 'download_cap'],
]
const MEDIA = [
  ...['uuid', 'key', 'title', 'duration', 'published', 'media_file', 'downloaded', 'download_date', 'metadata'],
  ...['skip', 'manual_skip', 'source_id', 'thumb', 'downloaded_width', 'downloaded_height'],
  ...['downloaded_video_codec', 'downloaded_audio_codec'],
]
interface Source {
  kind: 'channel' | 'playlist'
  /** The id; undefined: only the name is known, and the videos have the id. */
  id?: string
  name: string
  isFetched: boolean
  entries: ListedEntry[]
}

function sourceOf(row: Record<string, unknown>): Source {
  const [key, name] = [textOf(row.key), textOf(row.name)]
  // A source of sound only must not become a subscription that downloads films.
  const isWanted = flagOf(row.download_media) && row.source_resolution !== 'audio'
  const isFetched = (numberOf(row.index_schedule) ?? 0) > 0 && isWanted
  if (row.source_type === 'p') return { kind: 'playlist', id: key, name, isFetched, entries: [] }
  return { kind: 'channel', ...(row.source_type === 'i' && { id: key }), name, isFetched, entries: [] }
}

function told(text: unknown): Record<string, unknown> {
  if (textOf(text) === '') return objectOf(text)
  try {
    return objectOf(jsonOf(Buffer.from(textOf(text))))
  } catch (thrown) {
    if (thrown instanceof NoCatalog) return {}
    throw thrown
  }
}

const infoOf = (row: Record<string, unknown>, metadata: Record<string, unknown>, source: Source | undefined) =>
  given({
    title: row.title,
    ...(source?.kind === 'channel' && source.id !== undefined && { channel_id: source.id, channel: source.name }),
    timestamp: secondsOf(row.published),
    duration: numberOf(row.duration),
    width: numberOf(row.downloaded_width),
    height: numberOf(row.downloaded_height),
    ...metadata,
    id: row.key,
    vcodec: textOf(row.downloaded_video_codec).toLowerCase(),
    acodec: textOf(row.downloaded_audio_codec).toLowerCase(),
    epoch: secondsOf(row.download_date),
  })

/** How a database, or a dump of one, is read. */
interface Store {
  sources: Iterable<Record<string, unknown>>
  media: Iterable<Record<string, unknown>>
  /** The information in its separate table, by the row of the video. */
  metadataOf(uuid: string): unknown
}

function inDatabase(db: ForeignDatabase): Store {
  // The information of a video is long, so it is read only when it is needed.
  const numbers = new Map<string, number>()
  if (db.has('sync_media_metadata'))
    for (const { media_id: uuid, rowid } of db.rows('sync_media_metadata', ['media_id', 'rowid']))
      if (textOf(uuid) !== '') numbers.set(textOf(uuid), rowid as number)
  return {
    sources: db.rows('sync_source', SOURCE),
    media: db.rows('sync_media', MEDIA),
    metadataOf(uuid) {
      const number = numbers.get(uuid)
      return number === undefined ? undefined : db.cell('sync_media_metadata', 'value', number)
    },
  }
}

/** Reads a dump made by `manage.py dumpdata`, for databases that are not a file. @throws NoCatalog: it is not a dump */
function inDump(path: string): Store {
  const whole = jsonIn(path)
  const rows = objectsOf(whole)
  const of = (model: string) => rows.filter((row) => row.model === model)
  const fieldsOf = ({ pk, fields }: Record<string, unknown>) => {
    const { source, ...own } = objectOf(fields)
    return { ...own, uuid: textOf(pk), source_id: textOf(source) }
  }
  if (of('sync.media').length === 0) throw new NoCatalog('This is not a TubeSync dump')
  const told = of('sync.metadata').map(({ fields }) => objectOf(fields))
  const metadata = new Map(told.map(({ media, value }) => [textOf(media), value]))
  return {
    sources: of('sync.source').map(fieldsOf),
    media: of('sync.media').map(fieldsOf),
    metadataOf: (uuid) => metadata.get(uuid),
  }
}

function take(store: Store, folder: string, into: CatalogTake): void {
  const sources = new Map<string, Source>()
  const settings = new Map<string, Record<string, unknown>>()
  for (const row of store.sources) {
    sources.set(textOf(row.uuid), sourceOf(row))
    settings.set(textOf(row.uuid), {
      [flagOf(row.filter_text_invert) ? 'not_titles' : 'titles']: row.filter_text,
      [flagOf(row.filter_seconds_min) ? 'shortest' : 'longest']: row.filter_seconds,
      newest: row.download_cap,
      ...(flagOf(row.delete_old_media) && { kept_for: row.days_to_keep }),
      quality: row.source_resolution,
    })
  }
  for (const row of store.media) {
    const [id, source] = [textOf(row.key), sources.get(textOf(row.source_id))]
    const inRow = told(row.metadata)
    const inTable = store.metadataOf(textOf(row.uuid))
    const metadata = inTable !== undefined ? told(inTable) : inRow._using_table === true ? {} : inRow
    source?.entries.push({ id, title: textOf(row.title) })
    if (source?.kind === 'channel') source.id ??= textOf(metadata.channel_id) || undefined
    const [file, picture] = [textOf(row.media_file), textOf(row.thumb)]
    if (file !== '' && flagOf(row.downloaded))
      into.film({
        id,
        path: file,
        info: infoOf(row, trimmed(metadata), source),
        ...(picture !== '' && { pictureFile: `${folder}/media/${picture}` }),
      })
    // A premiere also counts as skipped by hand until it can be downloaded.
    const isDecided = Object.keys(inRow).length > 0
    if (flagOf(row.skip) && flagOf(row.manual_skip) && isDecided)
      into.along({ kind: 'ignore', id, title: textOf(row.title) })
  }
  for (const [uuid, { kind, id, name, isFetched, entries }] of sources) {
    into.settings({ name, kind, id }, settings.get(uuid) ?? {})
    if (id === undefined) continue
    if (kind === 'playlist') into.along({ kind: 'platform_list', id, name, entries })
    if (isFetched) into.along({ kind, id, name })
  }
}

function isDump(file: string): boolean {
  const name = basename(file).toLowerCase()
  return name.endsWith('.json') && (name === 'sync.json' || /tubesync|dumpdata/.test(name))
}

export const tubesync: CatalogKind = {
  name: 'tubesync',
  title: 'TubeSync',
  find(files) {
    const databases = files.filter((file) => /(?:^|\/)db\.sqlite3$/i.test(file))
    return databases.length > 0 ? databases : files.filter(isDump).slice(0, 1)
  },

  isOne: (file) => isDump(file) || mentions(file, 'sync_media'),

  read({ files: [path = ''], own }, into) {
    if (isDump(path)) return take(inDump(path), dirname(path), into)
    withDatabase(path, own, ['sync_source', 'sync_media', 'django_migrations'], (db) =>
      take(inDatabase(db), dirname(path), into),
    )
  },
}
