/**
 * Adds removed videos to the bin: first the record next to the film, then, after the index has deleted the video, the
 * row.
 */
import { chunksOf } from 'archivolt'
import type { ChannelBin } from '../channel/channels.ts'
import type { Recorded } from '../media/types.ts'
import type { KeptPlaylist, PlaylistBin } from '../playlist/kept.ts'
import type { Because, VideoBin } from '../video/types.ts'
import type { App } from './app.ts'
import { readChannel, readVideo, type VideoRecord } from './records.ts'
import type { NewRow, Rows } from './rows.ts'

/** Number of records in memory at once, because the comments of one video can have megabytes. */
const TOGETHER = 25

type Head = Pick<
  NewRow,
  'kind' | 'video_id' | 'channel_id' | 'title' | 'channel_name' | 'size_bytes' | 'duration' | 'is_gone'
>

export function openHolding(app: App, rows: Rows) {
  const { media, videos, channels } = app
  const { binned } = media
  /** Records that this process has written; those of an earlier process are read from the disk. */
  const heads = new Map<string, Map<string, Head>>()

  async function holdVideos(trashId: string, ids: readonly string[]): Promise<void> {
    for (const some of chunksOf(ids, TOGETHER)) {
      const collected = await videos.collect(some)
      const names = await channels.names([...new Set([...collected.values()].map(({ video }) => video.channel_id))])
      const records = [...collected].map(([videoId, belongings]) => {
        const channelId = belongings.video.channel_id
        const kept = { ...belongings, channelName: names.get(channelId) ?? channelId }
        noteHead(trashId, headOf(kept))
        return { of: { channelId, videoId }, text: JSON.stringify(kept) }
      })
      await binned.write(trashId, records)
    }
  }

  function noteHead(trashId: string, head: Head): void {
    const known = heads.get(trashId) ?? new Map<string, Head>()
    heads.set(trashId, known.set(`${head.kind} ${head.video_id}`, head))
  }

  async function keep(trashId: string, removal: string, { why, by, note = '' }: Because): Promise<void> {
    const records = await binned.records(trashId)
    const known = heads.get(trashId)
    heads.delete(trashId)
    if (records.length === 0) return
    await binned.hold(trashId)
    const added: NewRow[] = []
    // Channels come first, so that their videos find them.
    for (const { channelId, videoId } of records.sort((a, b) => Number('videoId' in a) - Number('videoId' in b))) {
      const key = videoId === undefined ? `channel ${channelId}` : `video ${videoId}`
      const head = known?.get(key) ?? (await headFromDisk(trashId, channelId, videoId))
      const removed_at = app.clock.now()
      if (head) added.push({ ...head, removal, trash: trashId, why, by_user: by ?? null, note, removed_at })
    }
    await rows.add(added)
  }

  async function headFromDisk(trashId: string, channelId: string, videoId?: string): Promise<Head> {
    try {
      if (videoId !== undefined) return headOf(await readVideo(app, trashId, channelId, videoId))
      return channelHead((await readChannel(app, trashId, channelId)).channel)
    } catch (err) {
      // The entry stays in the bin: its details cannot be shown, but its film still exists.
      app.log.warn({ err, trash: trashId, video: videoId }, 'a record in the bin cannot be read')
      const id = videoId ?? channelId
      const kind = videoId === undefined ? 'channel' : 'video'
      return {
        kind,
        video_id: id,
        channel_id: channelId,
        title: id,
        channel_name: '',
        size_bytes: 0,
        duration: 0,
        is_gone: 1,
      }
    }
  }

  /** Restores documents that were already removed; the removal then puts their files back. */
  async function takeBack(trashId: string, ids: readonly Recorded[]): Promise<void> {
    for (const some of chunksOf(ids, TOGETHER)) {
      const known = await videos.known(some.flatMap(({ videoId }) => videoId ?? []))
      const lost = new Map<string, VideoRecord>()
      for (const { channelId, videoId } of some) {
        if (videoId === undefined) await channels.giveBack(channelId, await readChannel(app, trashId, channelId))
        else lost.set(videoId, await readVideo(app, trashId, channelId, videoId))
      }
      // Includes videos that still exist, because the data of other plugins may be lost.
      if (lost.size > 0) await videos.giveBack(lost)
      app.log.warn({ trash: trashId, videos: lost.size - known.size }, 'a removal failed: what was gone is back')
    }
  }

  async function keepFilm(videoId: string, next: string): Promise<void> {
    const video = await videos.get(videoId)
    if (!video || !media.isOurs(videoId)) return
    const { channel_id: channelId } = video
    const trash = await media.setAside(channelId, videoId, next)
    if (trash === undefined) return
    const channelName = (await channels.names([channelId])).get(channelId) ?? channelId
    const record: VideoRecord = { video, subtitles: [], others: {}, channelName }
    await binned.write(trash, [{ of: { channelId, videoId }, text: JSON.stringify(record) }])
    const row: NewRow = {
      ...headOf(record),
      kind: 'film',
      ...{ removal: trash, trash, why: 'replaced', by_user: null, note: '', is_gone: 0, removed_at: app.clock.now() },
    }
    // Both in one transaction.
    await Promise.all([binned.hold(trash), rows.add([row])])
  }

  const isOn = () => app.preferences.section('bin').days > 0

  const ofVideos: VideoBin = {
    isOn,
    hold: holdVideos,
    keep,
    takeBack: async (trashId) => takeBack(trashId, await binned.records(trashId)),
    keepFilm,
  }

  const ofChannels: ChannelBin = {
    isOn,
    async hold(trashId, channelId) {
      const filter = { eq: ['channel_id', channelId] as ['channel_id', string] }
      for await (const batch of videos.collection.scan({ filter, batch: TOGETHER }))
        await holdVideos(
          trashId,
          batch.map(({ id }) => id),
        )
      const told = await channels.collect(channelId)
      if (!told) return
      noteHead(trashId, channelHead(told.channel))
      await binned.write(trashId, [{ of: { channelId }, text: JSON.stringify(told) }])
    },
    keep: (trashId, _channelId, removal, by) => keep(trashId, removal, { why: 'channel', by }),
    takeBack: async (trashId) => takeBack(trashId, await binned.records(trashId)),
  }

  const ofPlaylists: PlaylistBin = {
    isOn,
    keep: (jobId, removal, by, kept) =>
      rows.add([
        {
          kind: 'playlist',
          removal,
          trash: jobId,
          video_id: kept.id,
          channel_id: kept.doc?.playlist_channel_id ?? '',
          title: kept.name,
          channel_name: kept.doc?.playlist_channel ?? '',
          size_bytes: 0,
          duration: 0,
          is_gone: kept.doc?.playlist_active === false ? 1 : 0,
          why: 'removed',
          by_user: by,
          note: '',
          removed_at: app.clock.now(),
          private_to: kept.list?.privateTo ?? null,
          record: JSON.stringify(kept),
        },
      ]),
    takeBack: (jobId) => rows.drop(jobId, 'playlist'),
    async amend(playlistId, entries) {
      const row = rows.playlist(playlistId)
      const kept = row && app.ledger.json<KeptPlaylist | undefined>(row.record ?? '', 'bin_entry.record', undefined)
      if (!row || !kept?.list) return
      const had = new Set((kept.entries ?? []).map(({ videoId }) => videoId))
      const added = entries.filter(({ videoId }) => !had.has(videoId))
      const all = [...(kept.entries ?? []), ...added].sort((one, other) => one.place - other.place)
      await rows.setRecord(row.id, JSON.stringify({ ...kept, entries: all }))
    },
  }

  return { ofVideos, ofChannels, ofPlaylists }
}

const headOf = ({ video, channelName }: VideoRecord): Head => ({
  kind: 'video',
  video_id: video.platform_id,
  channel_id: video.channel_id,
  title: video.title,
  channel_name: channelName,
  size_bytes: video.media_size,
  duration: video.player.duration,
  is_gone: video.active ? 0 : 1,
})

const channelHead = ({
  channel_id: id,
  channel_name: name,
  channel_active,
}: {
  channel_id: string
  channel_name: string
  channel_active: boolean
}): Head => ({
  kind: 'channel',
  video_id: id,
  channel_id: id,
  title: name,
  channel_name: name,
  size_bytes: 0,
  duration: 0,
  is_gone: channel_active ? 0 : 1,
})
