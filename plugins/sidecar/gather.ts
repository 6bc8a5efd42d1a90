/**
 * Collects the content of sidecars: the same belongings as the bin stores, but with names of accounts instead of ids.
 */
import { readFile } from 'node:fs/promises'
import { isId } from 'archivolt'
import type { ArtKind } from '../media/types.ts'
import type { Renaming } from '../video/types.ts'
import type { App } from './app.ts'
import { ARCHIVE, headOf, type RecordOf, toText } from './records.ts'

const CHANNEL_ART = ['channel_thumb', 'channel_banner', 'channel_tvart'] as const

/** Converts ids of accounts to names. */
const toNames =
  ({ accounts }: Pick<App, 'accounts'>): Renaming =>
  (account) =>
    accounts.get(Number(account))?.username

/** The texts by id; videos that do not exist are omitted. */
export async function videoTexts(ids: readonly string[], app: App): Promise<Map<string, SidecarText>> {
  const { videos, channels, media } = app
  const found = await videos.collect(ids, { isLean: true, as: toNames(app) })
  const comments = await videos.comments.getTexts([...found.keys()])
  const names = await channels.names([...new Set([...found.values()].map(({ video }) => video.channel_id))])
  const texts = new Map<string, SidecarText>()
  for (const [id, { video, film, others }] of found) {
    const { watched_by: _w, shared_mark: _s, restored_mark: _r, ...doc } = video
    const place = film && media.places.get(film.placeId)
    const record: RecordOf<'video'> = {
      ...headOf('video', id),
      channel_name: names.get(video.channel_id) ?? video.channel_id,
      video: doc,
      ...(film && place && { film: { ...film }, place: { path: place.path, label: place.label } }),
      ...(await (!video.active || film ? pictureOf('video', id, app) : {})),
      others,
    }
    const said = comments.get(id)
    // Comments are most of the text, and are inserted as they are stored.
    const text = toText(record, said === undefined ? '' : `,"comments":${said}`)
    texts.set(id, { text, channelId: video.channel_id, isPlaced: film !== undefined })
  }
  return texts
}

export interface SidecarText {
  text: string
  channelId: string
  /** Its film is in a folder of another program. */
  isPlaced: boolean
}

export async function channelText(id: string, app: App): Promise<string | undefined> {
  const belongings = await app.channels.collect(id)
  if (!belongings) return undefined
  const others = { ...belongings.others }
  for (const { of, isOnlyForBin } of app.hook('channel.belongings')) if (isOnlyForBin) delete others[of]
  const pictures: Record<string, string> = {}
  for (const kind of CHANNEL_ART) {
    const { picture } = await pictureOf(kind, id, app)
    if (picture !== undefined) pictures[kind] = picture
  }
  // Views are restored with accounts.
  const { channel, handles } = belongings
  const record: RecordOf<'channel'> = { ...headOf('channel', id), ...{ channel, handles, pictures, others } }
  return toText(record)
}

export async function playlistText(id: string, app: App): Promise<string | undefined> {
  const found = await app.playlists.collectBelongings(id)
  const belongings = found && app.playlists.renamedBelongings(found, toNames(app))
  if (!belongings) return undefined
  // Views are restored with accounts.
  const { seenBy: _, ...playlist } = belongings
  const record: RecordOf<'playlist'> = {
    ...headOf('playlist', belongings.id),
    playlist,
    ...(await pictureOf('playlist', id, app)),
  }
  return toText(record)
}

export function archiveText({ accounts, preferences, hook }: App): string {
  const record: RecordOf<'archive'> = {
    ...headOf('archive', ARCHIVE),
    accounts: accounts.list().map(({ username: name, is_staff, is_active, may_download, view }) => ({
      ...{ name, is_staff, is_active, may_download },
      view: view as Record<string, string[]> | null,
    })),
    preferences: chosen(preferences),
    others: Object.fromEntries(hook('archive.belongings').map(({ of, collect }) => [of, collect()])),
  }
  return toText(record)
}

/** Preferences that differ from their defaults, without secrets. */
function chosen({ sections, all }: App['preferences']): RecordOf<'archive'>['preferences'] {
  const values = all()
  const found: RecordOf<'archive'>['preferences'] = {}
  for (const [section, keys] of Object.entries(sections))
    for (const [key, schema] of Object.entries(keys)) {
      const value = values[section]?.[key]
      const { default: initial } = schema as { default?: unknown }
      if ('x-secret' in schema || JSON.stringify(value) === JSON.stringify(initial)) continue
      found[section] = { ...found[section], [key]: value }
    }
  return found
}

async function pictureOf(kind: ArtKind, id: string, { media }: App): Promise<{ picture?: string }> {
  // Watch later has no picture, and its id cannot name one.
  if (!isId(id) || !(await media.hasArt(kind, id))) return {}
  return { picture: (await readFile(media.artPathOf(kind, id))).toString('base64') }
}
