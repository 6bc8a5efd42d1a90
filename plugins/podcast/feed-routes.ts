/**
 * A feed and all files that it refers to. Its address alone gives access: the signature opens only this feed's part of
 * the archive.
 */
import {
  type Actor,
  bytes,
  defineRoute,
  errors,
  file,
  hasVersion,
  idInName,
  isId,
  ownUrl,
  type ReplyHeaders,
  ROW_PATTERN,
  Type,
} from 'archivolt'
import type { App } from './app.ts'
import { chaptersOf } from './chapters.ts'
import type { FeedHead } from './contents.ts'
import { versionOf } from './feed-versions.ts'
import type { Feed } from './feeds.ts'
import { makeSounds } from './make-sounds-task.ts'
import { rssOf } from './rss.ts'
import { SOUND_ENDING, SOUND_TYPE } from './sounds.ts'

const own = {
  feedId: Type.String({ pattern: ROW_PATTERN }),
  signed: Type.String({
    pattern: '^[A-Za-z0-9_.-]{1,160}$',
    description: 'the signature in the address of the feed',
  }),
}
const Path = Type.Object(own)
const FilePath = Type.Object({ ...own, file: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,160}$' }) })
const shared = { method: 'GET', access: 'viewer', signedInPath: true } as const

/** @throws not_found: the feed was deleted, or belongs to another account */
const feedOf = ({ params, actor }: { params: { feedId: string }; actor: Actor }, { feeds }: App): Feed =>
  feeds.existing(Number(params.feedId), actor.id)

interface FileInput {
  params: { feedId: string; file: string }
  actor: Actor
}

/** The video of a file. @throws not_found: the video is not in this feed */
async function videoOf(input: FileInput, id: string | undefined, app: App) {
  const feed = feedOf(input, app)
  if (id === undefined || !isId(id)) throw errors.notFound('file')
  return app.contents.videoIn(feed, id, input.actor)
}

/** Lets players in web pages read feeds; they have no rights other than those of the address. */
const letPagesRead = (headers: ReplyHeaders): void => headers.set('access-control-allow-origin', '*')

export const showFeed = defineRoute({
  ...shared,
  path: '/podcast/:feedId/:signed/feed.xml',
  summary: 'A podcast as RSS',
  params: Path,
  reply: Type.String(),
  replyType: 'application/rss+xml',
  errors: ['not_found'],
  async handle(input, app: App) {
    const { actor, headers, request } = input
    const feed = feedOf(input, app)
    const base = ownUrl(request, app)
    headers.set('cache-control', 'private, no-cache')
    letPagesRead(headers)
    const known = app.feedVersions.current(feed, base, actor)
    if (known && hasVersion(request.headers, known.version)) {
      if (known.isLacking && app.sounds.isRunDue()) await startMaking(app)
      return bytes('', RSS, { version: known.version })
    }
    const { content, version, lacking } = await app.feedVersions.make(feed, base, actor, async () =>
      rssOf({
        feed,
        head: await app.contents.headOf(feed, actor),
        videos: app.contents.videosOf(feed, actor),
        address: app.feeds.addressOf(feed, base),
        base,
        sounds: app.sounds,
      }),
    )
    if (app.sounds.noteLacking(lacking) || (lacking.length > 0 && app.sounds.isRunDue())) await startMaking(app)
    return bytes(content, RSS, { version })
  },
})

/**
 * Makes sound after changes without an event: of a private playlist, of the size limit, of a disk that is online again.
 */
async function startMaking({ jobs, log }: App): Promise<void> {
  await jobs
    .start(makeSounds, {}, { isPatient: true })
    .catch((err: unknown) => log.warn({ err }, 'the sound of podcasts cannot be made'))
}

const RSS = 'application/rss+xml; charset=utf-8'
export const showCover = defineRoute({
  ...shared,
  path: '/podcast/:feedId/:signed/cover.jpg',
  summary: 'The square picture of a podcast',
  params: Path,
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  async handle(input, app: App) {
    const { actor, signal } = input
    const feed = feedOf(input, app)
    const path = await coverOf(feed, await app.contents.headOf(feed, actor), actor, signal, app)
    if (path === undefined) throw errors.notFound('picture')
    return file(path, 'image/jpeg')
  },
})

/** The picture of the target, or of the first video that has one. */
async function coverOf(feed: Feed, { art }: FeedHead, actor: Actor, signal: AbortSignal, { contents, squares }: App) {
  const own = art && isId(art.id) ? await squares.squareOf(art.kind, art.id, signal) : undefined
  if (own !== undefined) return own
  for (const id of (await contents.idsOf(feed, actor)).slice(0, MOST_TRIED)) {
    const square = await squares.squareOf('video', id, signal)
    if (square !== undefined) return square
  }
  return undefined
}

const MOST_TRIED = 20

export const showPicture = defineRoute({
  ...shared,
  path: '/podcast/:feedId/:signed/picture/:file',
  summary: 'The square picture of a video in a podcast',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  async handle(input, app: App) {
    const { platform_id: id } = await videoOf(input, idInName(input.params.file, '.jpg'), app)
    const path = await app.squares.squareOf('video', id, input.signal)
    if (path === undefined) throw errors.notFound('picture')
    return file(path, 'image/jpeg')
  },
})

export const showSound = defineRoute({
  ...shared,
  path: '/podcast/:feedId/:signed/sound/:file',
  summary: 'The audio of a video in a podcast, with byte ranges',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: SOUND_TYPE,
  errors: ['permission_denied', 'not_found', 'invalid_range'],
  async handle(input, app: App) {
    const { platform_id: id } = await videoOf(input, idInName(input.params.file, SOUND_ENDING), app)
    if (!app.sounds.has(id)) throw errors.notFound('file')
    return file(app.sounds.pathOf(id), SOUND_TYPE, await app.media.play({ actor: input.actor, videoId: id }))
  },
})

export const showFilm = defineRoute({
  ...shared,
  path: '/podcast/:feedId/:signed/film/:file',
  summary: 'The file of a video in a podcast, with byte ranges',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: 'video/mp4',
  errors: ['permission_denied', 'not_found', 'invalid_range', 'unavailable'],
  async handle(input, app: App) {
    const video = await videoOf(input, input.params.file.split('.', 1)[0], app)
    const path = await app.media.filmPath(video.channel_id, video.platform_id)
    const permit = await app.media.play({ actor: input.actor, videoId: video.platform_id })
    return file(path, app.sounds.typeOf(video), permit)
  },
})

export const showChapters = defineRoute({
  ...shared,
  path: '/podcast/:feedId/:signed/chapters/:file',
  summary: 'The chapters of a video in a podcast; apps do not list parts to skip',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: 'application/json+chapters',
  errors: ['not_found'],
  async handle(input, app: App) {
    const video = await videoOf(input, idInName(input.params.file, '.json'), app)
    const text = JSON.stringify({ version: '1.2.0', chapters: chaptersOf(video) })
    letPagesRead(input.headers)
    return bytes(text, 'application/json+chapters; charset=utf-8', { version: versionOf(text) })
  },
})

export const showTranscript = defineRoute({
  ...shared,
  path: '/podcast/:feedId/:signed/transcript/:file',
  summary: 'Subtitles of a video in a podcast',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: 'text/vtt',
  errors: ['not_found'],
  async handle(input, app: App) {
    const [id, lang = '', ending] = input.params.file.split('.')
    const video = await videoOf(input, id, app)
    if (ending !== 'vtt' || !video.subtitles.some((one) => one.lang === lang)) throw errors.notFound('file')
    letPagesRead(input.headers)
    return file(app.media.subtitlePathOf(video.channel_id, video.platform_id, lang), 'text/vtt; charset=utf-8')
  },
})
