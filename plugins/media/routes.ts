/** Routes of files next to the API: media with byte ranges, subtitles, pictures (contract 1.4). */
import { type Actor, bytes, defineRoute, errors, file, isId, Type } from 'archivolt'
import type { App } from './app.ts'
import { contentTypeOf, type Ending } from './containers.ts'
import { statsOf } from './files.ts'
import { type ArtFolder, parseArtName, parseMediaName, VARIANTS, type Variant, variantPath } from './paths.ts'
import { PLACEHOLDER_JPEG } from './placeholder.ts'
import type { KnownKind } from './types.ts'

/** The allowed characters of a name; `paths.ts` decides which names are valid. */
const FileName = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,160}$' })
const size = Type.Optional(
  Type.Enum(VARIANTS, {
    description: 'width of the picture: 320, 640 or 960 pixels; the full picture if there is no such variant',
  }),
)

export const showMedia = defineRoute({
  method: 'GET',
  path: '/media/:channelId/:file',
  access: 'viewer',
  signedInQuery: true,
  summary: 'A video file, with byte ranges, or a subtitle file',
  params: Type.Object({ channelId: FileName, file: FileName }),
  reply: Type.Unknown(),
  replyType: 'video/mp4',
  errors: ['permission_denied', 'not_found', 'invalid_range', 'unavailable'],
  async handle({ params, actor }, app: App) {
    const name = parseMediaName(params.file)
    if (!name || !isId(params.channelId)) throw errors.notFound('file')
    await refuseHidden('video', name.videoId, actor, app)
    if ('ending' in name) return sendFilm(params.channelId, name, actor, app)
    return file(app.media.subtitlePathOf(params.channelId, name.videoId, name.lang), 'text/vtt; charset=utf-8')
  },
})

/** Does not check first whether the file exists: sending it shows this. */
async function sendFilm(
  channelId: string,
  { videoId, ending }: { videoId: string; ending: Ending },
  actor: Actor,
  { media }: Pick<App, 'media'>,
) {
  const placed = media.places.filmOf(videoId)
  if (placed && (ending !== placed.ending || placed.channelId !== channelId)) throw errors.notFound('file')
  const known = media.pathOf(channelId, videoId)
  const path = placed || !known.endsWith(`.${ending}`) ? await media.filmPath(channelId, videoId) : known
  if (!placed && !path.endsWith(`.${ending}`)) throw errors.notFound('file')
  return file(path, contentTypeOf(ending), await media.play({ actor, videoId }))
}

/** Files are not in the index, so the view of an account is checked with the document of the file. */
async function refuseHidden(kind: KnownKind, id: string, actor: Actor, { index }: App): Promise<void> {
  if (!actor.view) return
  const definition = index.definitions.find(({ name }) => name === kind)
  if (!definition || !(await index.collection(definition).known([id])).has(id)) throw errors.notFound('file')
}

const KINDS = { videos: 'video', channels: 'channel', playlists: 'playlist' } as const

interface ArtInput {
  params: { file: string }
  query: { size?: Variant }
  actor: Actor
}

async function sendArt(folder: ArtFolder, { params, query, actor }: ArtInput, app: App) {
  const picture = parseArtName(folder, params.file)
  if (!picture) throw errors.notFound('file')
  const kind = KINDS[folder]
  await refuseHidden(kind, picture.id, actor, app)
  if (!app.media.showsArt(picture.kind, actor.view)) return bytes(PLACEHOLDER_JPEG, 'image/jpeg')
  const full = app.media.artPathOf(picture.kind, picture.id)
  for (const path of query.size ? [variantPath(full, query.size), full] : [full]) {
    const stats = await statsOf(path)
    if (stats) return file(path, 'image/jpeg', { stats })
  }
  const isListed = (await app.media.isKnown(kind, picture.id)) || (await app.media.isKept(kind, picture.id))
  if (isListed) return bytes(PLACEHOLDER_JPEG, 'image/jpeg')
  throw errors.notFound('file')
}

export const showVideoArt = defineRoute({
  method: 'GET',
  path: '/cache/videos/:letter/:file',
  access: 'viewer',
  summary: 'The thumbnail of a video',
  params: Type.Object({ letter: FileName, file: FileName }),
  query: { size },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  handle(input, app: App) {
    const { letter, file: name } = input.params
    if (letter !== name.charAt(0).toLowerCase()) throw errors.notFound('file')
    return sendArt('videos', input, app)
  },
})

export const showChannelArt = defineRoute({
  method: 'GET',
  path: '/cache/channels/:file',
  access: 'viewer',
  summary: 'A picture of a channel: thumb, banner or tvart',
  params: Type.Object({ file: FileName }),
  query: { size },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  handle: (input, app: App) => sendArt('channels', input, app),
})

export const showPlaylistArt = defineRoute({
  method: 'GET',
  path: '/cache/playlists/:file',
  access: 'viewer',
  summary: 'The picture of a playlist',
  params: Type.Object({ file: FileName }),
  query: { size },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  handle: (input, app: App) => sendArt('playlists', input, app),
})
