/** TubeSync: Django's SQLite. What yt-dlp said of a video stands in its row, or in a table of its own, or nowhere. */
import { dirname } from 'node:path'
import { type ForeignDatabase, jsonOf, withDatabase } from './files.ts'
import { type CatalogKind, NoCatalog } from './types.ts'
import { flagOf, given, numberOf, objectOf, secondsOf, textOf } from './values.ts'

const SOURCE = ['uuid', 'source_type', 'key', 'name', 'index_schedule', 'download_media', 'source_resolution']
const MEDIA = [
  ...['uuid', 'key', 'title', 'duration', 'published', 'media_file', 'downloaded', 'download_date', 'metadata'],
  ...['skip', 'manual_skip', 'source_id', 'thumb', 'downloaded_width', 'downloaded_height'],
  ...['downloaded_video_codec', 'downloaded_audio_codec'],
]
interface Source {
  kind: 'channel' | 'playlist'
  /** Undefined: it is known by a name alone, and its videos tell. */
  id?: string
  name: string
  isFetched: boolean
}

function sourceOf(row: Record<string, unknown>): Source {
  const [key, name] = [textOf(row.key), textOf(row.name)]
  // Whoever wants sound alone does not want films from now on.
  const isWanted = flagOf(row.download_media) && row.source_resolution !== 'audio'
  const isFetched = (numberOf(row.index_schedule) ?? 0) > 0 && isWanted
  if (row.source_type === 'p') return { kind: 'playlist', id: key, name, isFetched }
  return { kind: 'channel', ...(row.source_type === 'i' && { id: key }), name, isFetched }
}

function told(text: unknown): Record<string, unknown> {
  if (textOf(text) === '') return {}
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

/** Of its own table, by the row that it belongs to. */
function metadataOf(db: ForeignDatabase): Map<string, Record<string, unknown>> {
  const found = new Map<string, Record<string, unknown>>()
  if (!db.has('sync_media_metadata')) return found
  for (const row of db.rows('sync_media_metadata', ['media_id', 'value'])) {
    if (textOf(row.media_id) === '') continue
    const { formats: _formats, comments: _comments, heatmap: _heatmap, ...rest } = told(row.value)
    found.set(textOf(row.media_id), rest)
  }
  return found
}

export const tubesync: CatalogKind = {
  name: 'tubesync',
  title: 'TubeSync',
  find: (files) => files.filter((file) => /(?:^|\/)db\.sqlite3$/i.test(file)),

  read({ files, own }, take) {
    const [path] = files
    withDatabase(path!, own, ['sync_source', 'sync_media', 'django_migrations'], (db) => {
      const sources = new Map([...db.rows('sync_source', SOURCE)].map((row) => [textOf(row.uuid), sourceOf(row)]))
      const inTable = metadataOf(db)
      for (const row of db.rows('sync_media', MEDIA)) {
        const [id, source] = [textOf(row.key), sources.get(textOf(row.source_id))]
        const inRow = told(row.metadata)
        const metadata = inTable.get(textOf(row.uuid)) ?? (inRow._using_table === true ? {} : inRow)
        if (source?.kind === 'channel') source.id ??= textOf(metadata.channel_id) || undefined
        const [file, picture] = [textOf(row.media_file), textOf(row.thumb)]
        if (file !== '' && flagOf(row.downloaded))
          take.film({
            id,
            path: file,
            info: infoOf(row, metadata, source),
            ...(picture !== '' && { pictureFile: `${dirname(path!)}/media/${picture}` }),
          })
        // A premiere is skipped by hand as well, until there is something to fetch.
        const isDecided = Object.keys(inRow).length > 0
        if (flagOf(row.skip) && flagOf(row.manual_skip) && isDecided)
          take.along({ kind: 'ignore', id, title: textOf(row.title) })
      }
      for (const { kind, id, name, isFetched } of sources.values())
        if (isFetched && id !== undefined) take.along({ kind, id, name })
    })
  },
}
