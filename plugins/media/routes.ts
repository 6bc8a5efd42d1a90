/** The files beside the API: media with byte ranges, subtitles, art (contract 1.4). */
import { bytes, defineRoute, errors, file, queryEnum, Type } from 'archivolt'
import type { App } from './app.ts'
import { exists } from './library.ts'
import { type ArtFolder, isId, parseArtName, parseMediaName, smallPath } from './paths.ts'
import { PLACEHOLDER_JPEG } from './placeholder.ts'

/** What a name in the path may be made of at all; which names are ours is for `paths.ts`. */
const FileName = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,160}$' })
const size = queryEnum(['small'], { description: 'the variant of 320 pixels, where there is one' })

export const showMedia = defineRoute({
  method: 'GET',
  path: '/media/:channelId/:file',
  access: 'user',
  summary: 'A media file, with byte ranges, or one of its subtitles',
  params: Type.Object({ channelId: FileName, file: FileName }),
  reply: Type.Unknown(),
  replyType: 'video/mp4',
  errors: ['not_found', 'invalid_range'],
  async handle({ params }, app: App) {
    const name = parseMediaName(params.file)
    if (!name || !isId(params.channelId)) throw errors.notFound('file')
    const { lang, videoId } = name
    const path =
      lang === undefined
        ? app.media.pathOf(params.channelId, videoId)
        : app.media.subtitlePathOf(params.channelId, videoId, lang)
    if (!(await exists(path))) throw errors.notFound('file')
    return file(path, lang === undefined ? 'video/mp4' : 'text/vtt; charset=utf-8')
  },
})

async function sendArt(app: App, folder: ArtFolder, name: string, variant: 'small' | undefined) {
  const picture = parseArtName(folder, name)
  if (!picture) throw errors.notFound('file')
  const full = app.media.artPathOf(picture.kind, picture.id)
  for (const path of variant ? [smallPath(full), full] : [full]) if (await exists(path)) return file(path, 'image/jpeg')
  const kind = folder === 'videos' ? 'video' : folder === 'channels' ? 'channel' : 'playlist'
  for (const isKnown of app.hook('media.known'))
    if (await isKnown(kind, picture.id)) return bytes(PLACEHOLDER_JPEG, 'image/jpeg')
  throw errors.notFound('file')
}

export const showVideoArt = defineRoute({
  method: 'GET',
  path: '/cache/videos/:letter/:file',
  access: 'user',
  summary: 'The thumbnail of a video',
  params: Type.Object({ letter: FileName, file: FileName }),
  query: { size },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  handle({ params, query }, app: App) {
    if (params.letter !== params.file.charAt(0).toLowerCase()) throw errors.notFound('file')
    return sendArt(app, 'videos', params.file, query.size)
  },
})

export const showChannelArt = defineRoute({
  method: 'GET',
  path: '/cache/channels/:file',
  access: 'user',
  summary: 'A picture of a channel: thumb, banner or tvart',
  params: Type.Object({ file: FileName }),
  query: { size },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  handle: ({ params, query }, app: App) => sendArt(app, 'channels', params.file, query.size),
})

export const showPlaylistArt = defineRoute({
  method: 'GET',
  path: '/cache/playlists/:file',
  access: 'user',
  summary: 'The picture of a playlist',
  params: Type.Object({ file: FileName }),
  query: { size },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  handle: ({ params, query }, app: App) => sendArt(app, 'playlists', params.file, query.size),
})
