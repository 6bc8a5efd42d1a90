/** The service `segments`: stores a video's skip segments from the community service in its document (contract 5.9). */
import { epochSeconds, isSameCut } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { askForSegments, type KnownSegment } from './community.ts'

type SegmentList = NonNullable<VideoDoc['sponsorblock']>

const NONE: SegmentList = Object.freeze({ is_enabled: false, has_unlocked: false, segments: [] })

interface Segments {
  /** The list in the form of the reply: empty if no segments were fetched. */
  ofVideo(video: VideoDoc): SegmentList
  /**
   * Fetches a video's segments again, or removes them if they are no longer wanted.
   * Failures of the service are logged, not thrown: known segments stay until the next refresh.
   */
  refresh(videoId: string, signal?: AbortSignal): Promise<void>
  /** Like `refresh`. @throws any error that prevents the service from answering */
  read(videoId: string, signal?: AbortSignal): Promise<void>
  /** Whether segments are wanted for any video. */
  isWanted(): Promise<boolean>
  /** The videos whose segments are wanted; undefined: none. */
  wanted(): Promise<VideoFilter | undefined>
}

export function openSegments(app: App): Segments {
  const isOn = (): boolean => app.preferences.section('downloads').integrate_sponsorblock

  /** The channel's own setting takes precedence. */
  async function isWantedFor(channelId: string): Promise<boolean> {
    const channel = await app.channels.get(channelId)
    return channel?.channel_overwrites.integrate_sponsorblock ?? isOn()
  }

  /**
   * Omits segments for another cut of the film, because they would skip something else here. If the platform now has
   * another cut, segments of unknown cut are omitted, too.
   */
  const fitting = (segments: readonly KnownSegment[], { player, cut }: VideoDoc): KnownSegment[] =>
    segments.filter(({ videoDuration = 0 }) =>
      videoDuration || !cut ? isSameCut(videoDuration, player.duration) : false,
    )

  function toList(segments: readonly KnownSegment[]): SegmentList {
    return {
      is_enabled: true,
      last_refresh: epochSeconds(app.clock),
      // Without segments there is nothing to vote on.
      has_unlocked: segments.length > 0 && segments.every(({ locked }) => !locked),
      segments: segments.map(({ UUID, actionType, category, segment, locked = 0, votes = 0, videoDuration = 0 }) => ({
        UUID,
        actionType,
        category,
        segment,
        locked,
        votes,
        videoDuration,
      })),
    }
  }

  async function read(videoId: string, signal?: AbortSignal): Promise<void> {
    const video = await app.videos.get(videoId)
    if (!video) return
    if (!(await isWantedFor(video.channel_id))) {
      if (video.sponsorblock) await app.videos.collection.patch(videoId, { set: { sponsorblock: null } })
      return
    }
    const segments = await askForSegments(app.settings.segmentsUrl, videoId, signal)
    await app.videos.collection.patch(videoId, { set: { sponsorblock: toList(fitting(segments, video)) } })
  }

  return {
    ofVideo: (video) => video.sponsorblock ?? NONE,
    async refresh(videoId, signal) {
      try {
        await read(videoId, signal)
      } catch (err) {
        signal?.throwIfAborted()
        app.log.warn({ err, videoId }, 'skip segments could not be fetched; the next refresh tries again')
      }
    },
    read,
    isWanted: async () => isOn() || (await app.channels.collection.count({ eq: ['own_segments', true] }, 1)) > 0,
    async wanted() {
      const others: string[] = []
      const isAll = isOn()
      for await (const channels of app.channels.collection.scan({ filter: { eq: ['own_segments', !isAll] } }))
        others.push(...channels.map(({ id }) => id))
      if (isAll) return { not: { in: ['channel_id', others] } }
      return others.length > 0 ? { in: ['channel_id', others] } : undefined
    },
  }
}

declare module 'archivolt' {
  interface Services {
    segment: {
      segments: Segments
    }
  }
  interface Settings {
    /** Base URL of the skip-segment service, without a final slash. */
    segmentsUrl: string
  }
}
