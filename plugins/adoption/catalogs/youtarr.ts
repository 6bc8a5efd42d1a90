/** Reads Youtarr: a dump of its MariaDB and its folder of information files, or its backup, which contains both. */
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { orWhereAbsent } from '../../film-kit/disk-fault.ts'
import { filesInTar, type Packed } from '../../film-kit/tar.ts'
import { dayOf, flagOf, given, numberOf, objectOf, secondsOf, textOf } from '../../film-kit/values.ts'
import { jsonOf } from './files.ts'
import { rowsOfDump } from './sql-dump.ts'
import { type CatalogFilm, type CatalogKind, type CatalogSource, type CatalogTake, NoCatalog } from './types.ts'

const MOST_DUMP_BYTES = 4 * 2 ** 30
/** The number of dumps and backups that are compared. */
const MOST_FILES = 50
const TABLES = new Set(['Videos', 'channels', 'channelvideos', 'video_watch_status', 'playlists', 'playlistvideos'])
const MOST_INFO_BYTES = 64 << 20
/** Limits of playlists, and of all their members together. */
const MOST_PLAYLISTS = 10_000
const MOST_MEMBERS = 500_000
const IS_DUMP = /\.sql$/i
const IS_BACKUP = /\/youtarr-backup-[^/]*\.(?:tar\.gz|tgz)$/i
const INFO = /^([A-Za-z0-9_-]{11})\.info\.json$/

const MEDIA_TYPES: Record<string, string> = { video: 'video', short: 'short', livestream: 'livestream' }

type Row = Record<string, string | null>

function filmOf(row: Row, path: string, infoFile: string | undefined): CatalogFilm {
  const id = textOf(row.youtubeId)
  return {
    id,
    path,
    info: given({
      id,
      title: row.youTubeVideoName,
      description: row.description,
      channel_id: row.channel_id,
      channel: row.youTubeChannelName,
      upload_date: dayOf(row.originalDate),
      duration: numberOf(row.duration),
      media_type: MEDIA_TYPES[textOf(row.media_type)],
      epoch: secondsOf(row.last_downloaded_at),
      is_gone: flagOf(row.youtube_removed) || undefined,
    }),
    infoFile,
  }
}

/** Ids that have an information file, by its folder. */
function infosIn(folder: string): Map<string, string> {
  const names = orWhereAbsent(() => readdirSync(folder), [])
  return new Map(
    names.flatMap((name) => {
      const [, id] = INFO.exec(name) ?? []
      return id === undefined ? [] : [[id, `${folder}/${name}`] as const]
    }),
  )
}

/** The owner: the dump identifies people by their number in the media server. */
const ownerOf = (row: Row): string => [row.server_type, row.server_user_id].filter(Boolean).join(':')

/**
 * The playlists. They are complete only after the whole dump has been read, because tables and members are in any
 * order.
 */
function playlistsOf(take: CatalogTake) {
  const playlists: Row[] = []
  const members = new Map<string, Array<{ id: string; at: number }>>()
  let count = 0
  return {
    take(row: Row): void {
      if (playlists.length < MOST_PLAYLISTS) playlists.push(row)
    },
    takeMember(row: Row): void {
      const [list, id] = [textOf(row.playlist_id), textOf(row.youtube_id)]
      if (list === '' || id === '' || ++count > MOST_MEMBERS) return
      const own = members.get(list) ?? []
      own.push({ id, at: numberOf(row.position) ?? own.length })
      members.set(list, own)
    },
    tell(titleOf: ReadonlyMap<string, string>): void {
      for (const row of playlists) {
        const [id, name] = [textOf(row.playlist_id), textOf(row.title)]
        if (flagOf(row.enabled) && flagOf(row.auto_download)) take.along({ kind: 'playlist', id, name })
        const listed = (members.get(id) ?? members.get(textOf(row.id)) ?? []).sort((a, b) => a.at - b.at)
        const entries = listed.map((one) => ({ id: one.id, title: titleOf.get(one.id) ?? '' }))
        if (entries.length > 0) take.along({ kind: 'platform_list', id, name, entries })
      }
    },
  }
}

async function readDump(
  stream: Readable,
  sizeBytes: number,
  infos: Map<string, string>,
  take: CatalogTake,
): Promise<void> {
  if (sizeBytes > MOST_DUMP_BYTES) throw new NoCatalog('The dump is larger than 4 GiB')
  const [idOf, titleOf] = [new Map<string, string>(), new Map<string, string>()]
  const playlists = playlistsOf(take)
  let isAny = false
  for await (const { table, row } of rowsOfDump(stream, TABLES)) {
    if (table === 'Videos') {
      isAny = true
      const id = textOf(row.youtubeId)
      idOf.set(textOf(row.id), id)
      titleOf.set(id, textOf(row.youTubeVideoName))
      for (const file of [row.filePath, row.audioFilePath])
        if (textOf(file) !== '') take.film(filmOf(row, textOf(file), infos.get(id)))
      if (flagOf(row.protected)) take.along({ kind: 'keep', id })
    } else if (table === 'channels') {
      const name = textOf(row.title) || textOf(row.uploader)
      if (flagOf(row.enabled) && textOf(row.channel_id) !== '')
        take.along({ kind: 'channel', id: textOf(row.channel_id), name })
      take.settings(
        { name, kind: 'channel', id: textOf(row.channel_id) },
        {
          titles: row.title_filter_regex,
          shortest: numberOf(row.min_duration),
          longest: numberOf(row.max_duration),
          quality: row.video_quality,
          ...tabsOf(textOf(row.auto_download_enabled_tabs)),
        },
      )
    } else if (table === 'playlists') playlists.take(row)
    else if (table === 'playlistvideos') playlists.takeMember(row)
    else if (table === 'channelvideos' && flagOf(row.ignored))
      take.along({
        kind: 'ignore',
        id: textOf(row.youtube_id),
        title: textOf(row.title),
        channelId: textOf(row.channel_id),
      })
    else if (table === 'video_watch_status') {
      const id = idOf.get(textOf(row.video_id))
      if (id === undefined) continue
      const [at, position] = [secondsOf(row.last_watched_at), numberOf(row.position_ms)]
      if (flagOf(row.played)) take.along({ kind: 'watched', id, owner: ownerOf(row), at })
      else if (position !== undefined && position > 0)
        take.along({ kind: 'position', id, owner: ownerOf(row), seconds: position / 1000 })
    }
  }
  playlists.tell(titleOf)
  if (!isAny) throw new NoCatalog('The dump has no table of videos')
}

/** Reads the information files of a folder. Skips files that are not JSON or very long. */
async function readBackup(path: string, take: CatalogTake): Promise<void> {
  let hasDump = false
  const ids: string[] = []
  for await (const file of filesInTar(path, NoCatalog)) {
    const [, inner = ''] = /^(?:\.\/)?[^/]+\/(.+)$/.exec(file.name) ?? []
    const [, id] = /^jobs\/info\/([^/]+)\.info\.json$/.exec(inner) ?? []
    if (inner === 'database/youtarr.sql' && !hasDump) {
      hasDump = true
      await readDump(Readable.from(file.pieces()), file.sizeBytes, new Map(), take)
    } else if (id !== undefined && file.sizeBytes <= MOST_INFO_BYTES) {
      const info = await infoIn(file)
      if (info.id !== id) continue
      take.info(id, info)
      ids.push(id)
    }
  }
  if (!hasDump && ids.length === 0) throw new NoCatalog('The backup contains neither a dump nor .info.json files')
  // Continues without the dump: the file names contain the ids.
  if (!hasDump) for (const id of ids) take.film({ id, info: { id } })
}

async function infoIn(file: Packed): Promise<Record<string, unknown>> {
  const bytes = await buffer(file.pieces())
  try {
    return objectOf(jsonOf(bytes))
  } catch (thrown) {
    if (thrown instanceof NoCatalog) return {}
    throw thrown
  }
}

const changedMs = (path: string): number => statSync(path).mtimeMs

const HAS_ID = /\[[A-Za-z0-9_-]{11}\]\.[a-z0-9]+$/
const IN_FOLDER = / - ([A-Za-z0-9_-]{11})\/[^/]+ \[\1\]\.[a-z0-9]+$/

export const youtarr: CatalogKind = {
  name: 'youtarr',
  title: 'Youtarr',
  // `<channel> - <title> - <id>/<channel> - <title> [<id>].mp4`
  recognise(names) {
    const films = names.filter((name) => HAS_ID.test(name))
    return films.length > 0 && films.filter((name) => IN_FOLDER.test(name)).length > films.length / 2 ? 0.8 : 0
  },
  find(files) {
    const dumps = files.filter((file) => /\/youtarr[^/]*\.sql$/i.test(file))
    const lists = files.filter((file) => /(?:^|\/)config\/complete\.list$/i.test(file))
    const whole = [...dumps, ...files.filter((file) => IS_BACKUP.test(file))].slice(0, MOST_FILES)
    return whole.length > 0 ? whole : lists.slice(0, 1)
  },

  /** The newest dump. */
  async choose(files) {
    return [files.reduce((best, file) => (changedMs(file) > changedMs(best) ? file : best))]
  },

  async read({ files, place }: CatalogSource, take) {
    const [path] = files
    if (IS_BACKUP.test(path!)) return readBackup(path!, take)
    const infos = new Map(
      [dirname(path!), dirname(dirname(path!)), dirname(place)].flatMap((folder) => [
        ...infosIn(`${folder}/jobs/info`),
        ...infosIn(`${folder}/config/jobs/info`),
      ]),
    )
    if (IS_DUMP.test(basename(path!))) return readDump(createReadStream(path!), statSync(path!).size, infos, take)
    if (infos.size === 0) throw new NoCatalog('There are no .info.json files next to it')
    // Without a dump only these files are read; the file names contain the ids.
    for (const [id, infoFile] of infos) take.film({ id, info: { id }, infoFile })
  },
}

/** The tabs of a channel that are downloaded. @param names  '' if the dump does not tell */
function tabsOf(names: string): { shorts?: string; streams?: string } {
  const tabs = names.split(',').map((name) => name.trim())
  if (names === '') return {}
  const of = (tab: string) => (!tabs.includes(tab) ? 'exclude' : tabs.includes('video') ? '' : 'only')
  return { shorts: of('short'), streams: of('livestream') }
}
