/** Reads the metadata of videos, channels and playlists, and the comments of a video. */
import { epochSeconds, errors } from 'archivolt'
import { isMissingTab } from './ask-failure.ts'
import { type ChildAskOptions, ChildError, type ChildRequest } from './child.ts'
import { classify, mayNeedAccount } from './classify.ts'
import { FAILURES } from './failure-classes.ts'
import { listTab } from './list-tab.ts'
import {
  isId,
  isPartial,
  noFormats,
  toChannelMetadata,
  toComment,
  toPlaylistEntry,
  toPlaylistHead,
  toPlaylistName,
  toVideoMetadata,
} from './metadata.ts'
import type { Platform, VideoMetadata } from './types.ts'
import { checkId, forAsker, LONG_QUIET_MS, ofMetadata, ofVideo, type YtDlp } from './ytdlp.ts'

const MAX_COMMENTS_FORM = /^(?:\d{1,9}|all)(?:,(?:\d{1,9}|all)){0,4}$/

type MetadataReader = Pick<Platform, 'video' | 'channel' | 'playlist' | 'playlistsOf' | 'list' | 'comments'>

export function openMetadataReader(ofAll: YtDlp): MetadataReader {
  return {
    video: async (id, options) => {
      const ytdlp = forAsker(ofAll, options)
      return ytdlp.ask(ofVideo(checkId(id, 'video')), options, (child) => readVideo(id, child, ytdlp))
    },

    channel: (idOrHandle, options) => {
      const ytdlp = forAsker(ofAll, options)
      const path = isChannelId(idOrHandle) ? `channel/${idOrHandle}` : idOrHandle
      return ytdlp.ask(ofMetadata(idOrHandle), options, async (child) =>
        toChannelMetadata((await ytdlp.shared.ask({ op: 'channel', path }, child)).result),
      )
    },

    playlist: async (id, options) => {
      const ytdlp = forAsker(ofAll, options)
      return ytdlp.ask(ofMetadata(checkId(id, 'playlist'), LONG_QUIET_MS), options, async (child) => {
        const request = { op: 'playlist', playlistId: id, most: options.most }
        const { result, rows } = await readParts(request, child, toPlaylistEntry, ytdlp)
        const head = toPlaylistHead(result)
        return { id, ...head, entries: rows }
      })
    },

    playlistsOf: async (channelId, options) => {
      checkId(channelId, 'channel')
      const ytdlp = forAsker(ofAll, options)
      try {
        return await ytdlp.ask(
          ofMetadata(channelId, LONG_QUIET_MS),
          options,
          async (child) => (await readParts({ op: 'playlists', channelId }, child, toPlaylistName, ytdlp)).rows,
        )
      } catch (error) {
        if (isMissingTab(error)) return []
        throw error
      }
    },

    list: (channelId, tab, options) => listTab(channelId, tab, options, forAsker(ofAll, options)),

    comments: async (id, { max, sort }, options) => {
      checkId(id, 'video')
      if (!MAX_COMMENTS_FORM.test(max))
        throw errors.badRequest('Limits of comments are up to five numbers, or `all`, separated by commas')
      const ytdlp = forAsker(ofAll, options)
      return ytdlp.ask(
        ofVideo(id, LONG_QUIET_MS),
        options,
        async (child) => (await readParts({ op: 'comments', videoId: id, max, sort }, child, toComment, ytdlp)).rows,
      )
    },
  }
}

/** @throws ChildError: the video cannot be played, and its metadata is too incomplete to store */
export async function readVideo(id: string, child: ChildAskOptions, ytdlp: YtDlp): Promise<VideoMetadata> {
  const nowSeconds = () => epochSeconds(ytdlp.clock)
  const { result, warnings } = await ytdlp.shared.ask({ op: 'video', videoId: id }, child)
  if (!result.hasFormats) {
    const evidence = noFormats(result, warnings)
    const isHeldBack = child.isSignedIn === false && mayNeedAccount(evidence)
    const hasMetadata = FAILURES[classify(evidence, nowSeconds()).failure].hasMetadata === true
    if (isHeldBack || !hasMetadata || !isId(result.channel_id) || isPartial(warnings)) throw new ChildError(evidence)
  }
  return toVideoMetadata(result, id, warnings, nowSeconds())
}

/** Reads an answer that arrives in parts. @param toRow  undefined: the row is skipped */
async function readParts<Row>(
  request: ChildRequest,
  child: ChildAskOptions,
  toRow: (raw: unknown) => Row | undefined,
  { shared }: YtDlp,
): Promise<{ result: Record<string, unknown>; rows: Row[] }> {
  const rows: Row[] = []
  const onPart = (part: unknown[]): void => {
    for (const raw of part) {
      const row = toRow(raw)
      if (row !== undefined) rows.push(row)
    }
  }
  const { result } = await shared.ask(request, { ...child, onPart })
  return { result, rows }
}

const isChannelId = (text: string): boolean => /^[A-Za-z0-9_-]{24}$/.test(text)
