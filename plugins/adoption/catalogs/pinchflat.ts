/** Reads Pinchflat's SQLite file, which has a row for each video of each source, and its compressed files of yt-dlp. */
import { dirname } from 'node:path'
import { dayOf, flagOf, given, numberOf, secondsOf, textOf } from '../../film-kit/values.ts'
import { withDatabase } from './files.ts'
import type { CatalogKind, ListedEntry } from './types.ts'

interface Source {
  channelId?: string
  channelName?: string
}

const SOURCE = [
  ...['id', 'collection_id', 'collection_type', 'collection_name', 'custom_name'],
  ...['enabled', 'download_media', 'marked_for_deletion_at', 'media_profile_id'],
  ...['download_cutoff_date', 'retention_period_days', 'title_filter_regex'],
  ...['min_duration_seconds', 'max_duration_seconds'],
]
const PROFILE = ['id', 'preferred_resolution', 'shorts_behaviour', 'livestream_behaviour']
const ITEM = [
  ...['id', 'media_id', 'title', 'description', 'media_filepath', 'source_id', 'livestream', 'short_form_content'],
  ...['uploaded_at', 'duration_seconds', 'media_downloaded_at', 'prevent_download', 'prevent_culling', 'original_url'],
  'playlist_index',
]
/** The stored title of a video that the platform refused. */
const NO_TITLE = /^youtube video #/i
const MIDNIGHT = /T00:00:00/

type OrderedEntry = ListedEntry & { at: number }

const titleOf = (row: Record<string, unknown>): string => (NO_TITLE.test(textOf(row.title)) ? '' : textOf(row.title))

function infoOf(row: Record<string, unknown>, source: Source | undefined): Record<string, unknown> {
  const title = titleOf(row)
  const uploaded = textOf(row.uploaded_at)
  const isShort = flagOf(row.short_form_content) || textOf(row.original_url).includes('/shorts/')
  return given({
    id: row.media_id,
    title,
    description: row.description,
    channel_id: source?.channelId,
    channel: source?.channelName,
    // Rows of early versions have only the date.
    timestamp: MIDNIGHT.test(uploaded) ? undefined : secondsOf(uploaded),
    upload_date: uploaded.startsWith('1970-01-01') ? undefined : dayOf(uploaded),
    duration: numberOf(row.duration_seconds),
    media_type: isShort ? 'short' : flagOf(row.livestream) ? 'livestream' : 'video',
    epoch: secondsOf(row.media_downloaded_at),
  })
}

export const pinchflat: CatalogKind = {
  name: 'pinchflat',
  title: 'Pinchflat',
  find: (files) => files.filter((file) => /(?:^|\/)pinchflat\.db$/i.test(file)),

  read({ files, own }, take) {
    const [path] = files
    const metadataFolder = `${dirname(dirname(path!))}/metadata/media_items`
    withDatabase(path!, own, ['media_items', 'sources', 'media_profiles', 'schema_migrations'], (db) => {
      const sources = new Map<unknown, Source>()
      const lists = new Map<unknown, { id: string; name: string; entries: OrderedEntry[] }>()
      const ofSound = new Set<unknown>()
      const profiles = new Map<unknown, Record<string, unknown>>()
      for (const row of db.rows('media_profiles', PROFILE)) {
        profiles.set(row.id, row)
        if (row.preferred_resolution === 'audio') ofSound.add(row.id)
      }
      for (const row of db.rows('sources', SOURCE)) {
        const [id, name] = [textOf(row.collection_id), textOf(row.collection_name) || textOf(row.custom_name)]
        const isChannel = row.collection_type === 'channel'
        sources.set(row.id, isChannel ? { channelId: id, channelName: name } : {})
        if (!isChannel) lists.set(row.id, { id, name, entries: [] })
        const isFetched = flagOf(row.enabled) && flagOf(row.download_media) && row.marked_for_deletion_at === null
        // A source of sound only must not become a subscription that downloads films.
        if (isFetched && !ofSound.has(row.media_profile_id))
          take.along({ kind: isChannel ? 'channel' : 'playlist', id, name })
        const {
          preferred_resolution: quality,
          shorts_behaviour: shorts,
          livestream_behaviour: streams,
        } = profiles.get(row.media_profile_id) ?? {}
        take.settings(
          { name, kind: isChannel ? 'channel' : 'playlist', id },
          {
            titles: row.title_filter_regex,
            shortest: row.min_duration_seconds,
            longest: row.max_duration_seconds,
            since: row.download_cutoff_date,
            kept_for: row.retention_period_days,
            quality,
            ...(shorts !== 'include' && { shorts }),
            ...(streams !== 'include' && { streams }),
          },
        )
      }
      for (const row of db.rows('media_items', ITEM)) {
        const [id, file] = [textOf(row.media_id), textOf(row.media_filepath)]
        const source = sources.get(row.source_id)
        lists.get(row.source_id)?.entries.push({ id, title: titleOf(row), at: numberOf(row.playlist_index) ?? 0 })
        if (file !== '')
          take.film({
            id,
            path: file,
            info: infoOf(row, source),
            infoFile: `${metadataFolder}/${Number(row.id)}/metadata.json.gz`,
            pictureFile: `${metadataFolder}/${Number(row.id)}/thumbnail.jpg`,
          })
        if (flagOf(row.prevent_culling)) take.along({ kind: 'keep', id })
        if (flagOf(row.prevent_download)) take.along({ kind: 'ignore', id, title: textOf(row.title), ...source })
      }
      for (const { entries, ...one } of lists.values())
        take.along({ kind: 'platform_list', ...one, entries: entries.sort((a, b) => a.at - b.at) })
    })
  },
}
