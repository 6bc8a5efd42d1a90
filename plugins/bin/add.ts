/**
 * Adds removed videos to the bin: first the record next to the film, then, after the index has deleted the video, the
 * row.
 */
import { chunksOf, isAppError } from 'archivolt'
import type { ChannelBin } from '../channel/channels.ts'
import type { Recorded } from '../media/types.ts'
import type { PlaylistBelongings, PlaylistBin } from '../playlist/playlist-belongings.ts'
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

  /** Whether failed removals may have left trash. */
  let isSomeLeft = true

  async function holdVideos(trashId: string, ids: readonly string[]): Promise<void> {
    for (const some of chunksOf(ids, TOGETHER)) {
      const collected = await videos.collect(some)
      const names = await channels.names([...new Set([...collected.values()].map(({ video }) => video.channel_id))])
      const records = [...collected].map(([videoId, belongings]) => {
        const channelId = belongings.video.channel_id
        const record = { ...belongings, channelName: names.get(channelId) ?? channelId }
        noteHead(trashId, headOf(record))
        return { of: { channelId, videoId }, text: JSON.stringify(record) }
      })
      await binned.write(trashId, records)
    }
  }

  function noteHead(trashId: string, head: Head): void {
    const known = heads.get(trashId) ?? new Map<string, Head>()
    heads.set(trashId, known.set(`${head.kind} ${head.video_id}`, head))
  }

  async function addEntries(trashId: string, removal: string, { why, by, note = '' }: Because): Promise<void> {
    const records = await binned.records(trashId)
    const known = heads.get(trashId)
    heads.delete(trashId)
    if (records.length === 0) return
    const added: NewRow[] = []
    // Channels come first, so that their videos find them.
    for (const { channelId, videoId } of records.sort((a, b) => Number('videoId' in a) - Number('videoId' in b))) {
      const key = videoId === undefined ? `channel ${channelId}` : `video ${videoId}`
      const head = known?.get(key) ?? (await headFromDisk(trashId, channelId, videoId))
      const removed_at = app.clock.now()
      if (head) added.push({ ...head, removal, trash: trashId, why, by_user: by ?? null, note, removed_at })
    }
    // The rows come first: held trash without rows counts as left by a failed removal.
    await rows.add(added)
    await binned.hold(trashId)
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
      app.log.warn(
        { trash: trashId, videos: lost.size - known.size },
        'a removal failed; the videos that it had removed were restored',
      )
    }
  }

  /**
   * Takes over the trash of a removal that failed and could not be undone, for example on a full disk: videos in the
   * archive get their files and data back, and the others become entries of the bin.
   */
  async function takeOver(trashId: string): Promise<void> {
    const records = await binned.records(trashId)
    const known = new Set([
      ...(await videos.known(records.flatMap(({ videoId }) => videoId ?? []))),
      ...(await channels.known(records.flatMap(({ channelId, videoId }) => (videoId === undefined ? channelId : [])))),
    ])
    const there = records.filter(({ channelId, videoId }) => known.has(videoId ?? channelId))
    for (const one of there)
      await takeBack(trashId, [one]).catch((err: unknown) => {
        if (!isAppError(err, 'unprocessable')) throw err
        app.log.warn({ err, trash: trashId, ...one }, 'a record in the bin cannot be read')
      })
    if (there.length === records.length) {
      await media.putBack(trashId)
      return media.emptyTrash(trashId)
    }
    await binned.putBack(
      trashId,
      there.filter((one) => one.videoId !== undefined),
    )
    for (const { channelId, videoId } of there) if (videoId === undefined) await binned.putBackRest(trashId, channelId)
    await binned.dropRecords(trashId, there)
    await addEntries(trashId, trashId, { why: 'removed' })
  }

  /** Takes over all such trash. It looks for some only after the start, and after a removal that could not be undone. */
  async function takeOverLeft(): Promise<void> {
    if (!isSomeLeft || (await media.absence()) !== undefined) return
    isSomeLeft = false
    for (const trashId of binned.left((trashId) => rows.hasOthers(trashId, []))) {
      app.log.warn(
        { trash: trashId },
        'a removal failed: files that are still in its trash are put back, or become entries of the bin',
      )
      await orLeave(trashId, takeOver(trashId)).catch((err: unknown) =>
        app.log.warn(
          { err, trash: trashId },
          'the trash of a failed removal could not be taken over; trying again within an hour',
        ),
      )
    }
  }

  async function orLeave<Result>(trashId: string, work: Promise<Result>): Promise<Result> {
    try {
      return await work
    } catch (thrown) {
      isSomeLeft = true
      await binned.leave(trashId)
      throw thrown
    }
  }

  async function binFilm(videoId: string, next: string): Promise<void> {
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

  const takeBackAll = (trashId: string) =>
    orLeave(
      trashId,
      binned.records(trashId).then((all) => takeBack(trashId, all)),
    )

  const isOn = () => app.preferences.section('bin').days > 0

  const ofVideos: VideoBin = {
    isOn,
    hold: holdVideos,
    keep: (trashId, removal, because) => orLeave(trashId, addEntries(trashId, removal, because)),
    takeBack: takeBackAll,
    keepFilm: binFilm,
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
    keep: (trashId, _channelId, removal, by) => orLeave(trashId, addEntries(trashId, removal, { why: 'channel', by })),
    takeBack: takeBackAll,
  }

  const ofPlaylists: PlaylistBin = {
    isOn,
    keep: (jobId, removal, by, playlist) =>
      rows.add([
        {
          kind: 'playlist',
          removal,
          trash: jobId,
          video_id: playlist.id,
          channel_id: playlist.doc?.playlist_channel_id ?? '',
          title: playlist.name,
          channel_name: playlist.doc?.playlist_channel ?? '',
          size_bytes: 0,
          duration: 0,
          is_gone: playlist.doc?.playlist_active === false ? 1 : 0,
          why: 'removed',
          by_user: by,
          note: '',
          removed_at: app.clock.now(),
          private_to: playlist.list?.privateTo ?? null,
          record: JSON.stringify(playlist),
        },
      ]),
    takeBack: (jobId) => rows.drop(jobId, 'playlist'),
    async amend(playlistId, entries) {
      const row = rows.playlist(playlistId)
      const binned =
        row && app.ledger.json<PlaylistBelongings | undefined>(row.record ?? '', 'bin_entry.record', undefined)
      if (!row || !binned?.list) return
      const had = new Set((binned.entries ?? []).map(({ videoId }) => videoId))
      const added = entries.filter(({ videoId }) => !had.has(videoId))
      const all = [...(binned.entries ?? []), ...added].sort((one, other) => one.place - other.place)
      await rows.setRecord(row.id, JSON.stringify({ ...binned, entries: all }))
    },
  }

  return { ofVideos, ofChannels, ofPlaylists, takeOverLeft }
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
