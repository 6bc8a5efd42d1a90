/** A platform that answers as a test says, and the plugins that are tested with it. */
import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AppOf, definePlugin, errors, type Plugin, type Services, Type } from 'archivolt'
import { aDownloadReceipt, type TestApp, type TestOptions, testApp } from 'archivolt/testing'
import channel from '../../../plugins/channel/plugin.ts'
import media from '../../../plugins/media/plugin.ts'
import type { MediaProbe } from '../../../plugins/media/types.ts'
import { FAILURES, type FailureClass } from '../../../plugins/platform/failure-classes.ts'
import { fetchDirectly } from '../../../plugins/platform/fetch-picture.ts'
import type { ChannelMetadata } from '../../../plugins/platform/types.ts'
import video from '../../../plugins/video/plugin.ts'
import { FILM_FILE, PICTURE_FILE } from '../../support/film.ts'

type Platform = Services['platform']['platform']
type Downloaded = Awaited<ReturnType<Platform['download']>>
type Ingest = Parameters<Services['video']['videos']['ingest']>[0]

export interface ScriptedPlatform {
  plugin: Plugin
  /** By id and by handle; missing ones are `gone`. */
  channels: Map<string, ChannelMetadata>
  /** Thrown instead of an answer. */
  fails?: Error | undefined
  /** All requests, in order. */
  asked: string[]
}

export const aFailure = (failure: FailureClass): Error =>
  Object.assign(new Error(`${failure}, says the platform`), { failure })

export const channelMetadata = (id: string, changes: Partial<ChannelMetadata> = {}): ChannelMetadata => ({
  id,
  name: `Channel ${id}`,
  description: 'about it',
  tags: ['one'],
  subscribers: 10,
  views: 20,
  tabs: ['videos'],
  art: {},
  ...changes,
})

export function scriptedPlatform(): ScriptedPlatform {
  const script: ScriptedPlatform = { plugin: definePlugin({ name: 'platform' }), channels: new Map(), asked: [] }
  const targets: Platform['targets'] = (text) => {
    if (text.startsWith('@')) return [{ type: 'channel', id: text, isHandle: true }]
    if (/^UC\w{22}$/.test(text)) return [{ type: 'channel', id: text }]
    if (/^\w{11}$/.test(text)) return [{ type: 'video', id: text }]
    throw errors.badRequest(`${text} is nothing of the platform`)
  }
  const platform: Partial<Platform> = {
    name: 'YouTube',
    targets,
    targetsIn(text) {
      try {
        return targets(text)
      } catch {
        return []
      }
    },
    async channel(id) {
      script.asked.push(id)
      if (script.fails) throw script.fails
      const metadata = script.channels.get(id)
      if (!metadata) throw aFailure('gone')
      return metadata
    },
    refusals: async () => ({}),
    failures: FAILURES,
    failureOf: (thrown) =>
      thrown instanceof Error && 'failure' in thrown ? (thrown as ReturnType<Platform['failureOf']>) : undefined,
    mirror: (id) => ({ youtube_id: id }),
    original: () => undefined,
    isArtUrl: (url) => url.startsWith('http://127.0.0.1'),
    fetchPicture: fetchDirectly,
  }
  const setting = (env: string, value: unknown) => ({ env, schema: Type.Any(), default: value, meaning: env })
  script.plugin = definePlugin({
    name: 'platform',
    settings: { ffmpeg: setting('AV_FFMPEG', 'ffmpeg'), ffprobe: setting('AV_FFPROBE', 'ffprobe') },
    hooks: [
      'platform.waiting',
      'platform.space',
      'platform.library',
      'platform.halted',
      'platform.known',
      'platform.canaries',
    ],
    services: () => ({ platform: platform as Platform }),
  })
  return script
}

export interface VideoApp extends TestApp {
  platform: ScriptedPlatform
  /** A path in the library. */
  inLibrary(...parts: string[]): string
}

/** An app with platform (scripted), media, channel, video, and a test's additional plugins. */
export async function videoApp(
  scope: Parameters<typeof testApp>[0],
  { plugins = [], ...options }: TestOptions = {},
): Promise<VideoApp> {
  const platform = scriptedPlatform()
  const app = await testApp(scope, { ...options, plugins: [platform.plugin, media, channel, video, ...plugins] })
  return Object.create(app, {
    platform: { value: platform },
    inLibrary: { value: (...parts: string[]) => join(app.dataDir, 'media', ...parts) },
  }) as VideoApp
}

const CUES = `WEBVTT

00:00.000 --> 00:01.000
cold proof

00:01.000 --> 00:02.000
of sourdough
`

/** A staged download with a film of one second, a thumbnail and English subtitles. */
export async function aDownload(
  app: AppOf<'media'>,
  id: string,
  channelId: string,
  changes: Partial<Downloaded['metadata']> = {},
): Promise<Downloaded> {
  const folder = await app.media.staging(id)
  await mkdir(folder, { recursive: true })
  const [mediaPath, thumbnailPath, subtitlePath] = [`${id}.mp4`, `${id}.webp`, `${id}.en.vtt`].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  await copyFile(FILM_FILE, mediaPath)
  await copyFile(PICTURE_FILE, thumbnailPath)
  await writeFile(subtitlePath, CUES)
  return {
    metadata: {
      id,
      title: `Video ${id}`,
      description: 'two\nlines',
      channelId,
      channelName: `Channel ${channelId}`,
      vidType: 'videos',
      published: '2026-01-02',
      durationSeconds: 1,
      tags: ['bread'],
      categories: ['Food'],
      chapters: [],
      viewCount: 5,
      likeCount: 4,
      averageRating: 0,
      thumbnails: [],
      subtitles: { user: ['en'], auto: [] },
      ...changes,
    },
    receipt: aDownloadReceipt(),
    mediaPath,
    thumbnailPath,
    subtitles: [{ lang: 'en', name: 'English', source: 'user', url: '', path: subtitlePath }],
  }
}

/** A download that was probed already and has no picture: its ingest needs no ffmpeg. */
export async function anIngest(
  app: AppOf<'media'>,
  id: string,
  channelId: string,
): Promise<Ingest & { probe: MediaProbe }> {
  const { thumbnailPath: _, ...downloaded } = await aDownload(app, id, channelId)
  const { size: sizeBytes } = await stat(downloaded.mediaPath)
  const streams = [{ type: 'video', index: 0, codec: 'h264', bitrate: 100_000, width: 320, height: 180 } as const]
  return { downloaded, probe: { sizeBytes, durationSeconds: 1, streams } }
}
