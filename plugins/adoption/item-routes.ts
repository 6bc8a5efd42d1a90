/** Routes for the rows of a plan, and for corrections by people: the video or channel of a film (contract 9.17). */
import { extname, isAbsolute, join } from 'node:path'
import { defineRoute, errors, file as fileReply, listing, ROW_PATTERN, Said, saidOf, say, Type } from 'archivolt'
import { videoIn } from '../film-kit/ids.ts'
import { sidecarPath } from '../film-kit/names.ts'
import { isPicture } from '../film-kit/sidecars.ts'
import type { FoundFile } from '../film-kit/types.ts'
import { completeVideos } from './4-complete.ts'
import type { App } from './app.ts'
import { ITEM_STATES, type ItemRow, OUTCOMES, PARTS } from './plans/rows.ts'
import { ofColumn } from './plans/stored-words.ts'

export const AdoptionId = Type.Object({ adoptionId: Type.String({ pattern: ROW_PATTERN }) })
const ItemId = Type.Object({
  adoptionId: Type.String({ pattern: ROW_PATTERN }),
  number: Type.String({ pattern: '^\\d{1,9}$' }),
})

const ItemRecord = Type.Object({
  number: Type.Integer({ description: 'position in the plan' }),
  outcome: Type.Enum([...OUTCOMES]),
  state: Type.Enum([...ITEM_STATES]),
  code: Type.String(),
  reason: Type.String(),
  said: Type.Optional(Said),
  file: Type.String({ description: 'path relative to the place' }),
  platform_id: Type.String(),
  title: Type.String(),
  channel_id: Type.String(),
  channel_name: Type.String(),
  media_size: Type.Integer(),
  correctable: Type.Boolean({ description: 'whether a person can set the video of this film' }),
  picture: Type.Boolean({ description: 'whether there is a picture next to the film' }),
})

const fileOf = ({ file }: ItemRow): FoundFile | undefined =>
  file === null ? undefined : (JSON.parse(file) as FoundFile)

const isCorrectable = ({ file, outcome, state }: ItemRow): boolean =>
  file !== null && ['new', 'ask', 'problem'].includes(outcome) && (state === 'planned' || state === 'left')

function toItemRecord(row: ItemRow): string {
  const { texts, said } = saidOf([ofColumn(row.why)])
  return JSON.stringify({
    number: row.number,
    outcome: row.outcome,
    state: row.state,
    code: row.code ?? '',
    reason: texts[0],
    said,
    file: row.path,
    platform_id: row.video_id ?? '',
    title: row.title,
    channel_id: row.channel_id ?? '',
    channel_name: row.channel_name ?? '',
    media_size: row.size_bytes,
    correctable: isCorrectable(row),
    picture: fileOf(row)?.picture !== undefined,
  })
}

export const listItems = defineRoute({
  method: 'GET',
  path: '/api/adoption/:adoptionId/item/',
  access: 'admin',
  summary: 'The rows of a plan',
  params: AdoptionId,
  query: {
    outcome: Type.Optional(Type.Enum([...OUTCOMES])),
    state: Type.Optional(Type.Enum([...ITEM_STATES])),
    code: Type.Optional(Type.String({ maxLength: 40, description: 'code of a problem' })),
    part: Type.Optional(
      Type.Enum([...PARTS], {
        description:
          'imported, waiting, left: rows with the outcome new or ask, by state; ' +
          'skipped: problems, except videos without a file',
      }),
    ),
  },
  envelope: 'page',
  reply: Type.Array(ItemRecord),
  errors: ['not_found'],
  handle({ params, query, page: { from, size } }, app: App) {
    const { id } = app.adoptions.get(Number(params.adoptionId))
    const { rows, total } = app.adoptions.items.page(id, query, from, size)
    return listing(rows.map(toItemRecord), total)
  },
})

const MOST_SAID = 1000

export const correctItems = defineRoute({
  method: 'POST',
  path: '/api/adoption/:adoptionId/item/',
  access: 'admin',
  summary: 'Set the video of a film, or the channel of films that only the platform could describe',
  params: AdoptionId,
  body: Type.Object({
    numbers: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: MOST_SAID })),
    folder: Type.Optional(
      Type.String({ maxLength: 4096, description: 'relative to the place: all films in or below it; empty: all' }),
    ),
    video: Type.Optional(Type.String({ maxLength: 2000, description: 'id or address, for one film' })),
    channel: Type.Optional(Type.String({ maxLength: 2000, description: 'id, handle or address' })),
  }),
  reply: Type.Object({ changed: Type.Integer() }),
  errors: ['bad_request', 'not_found', 'conflict', 'unprocessable', 'unavailable'],
  async handle({ params, body: { numbers, folder, video, channel }, signal }, app: App) {
    const adoption = app.adoptions.get(Number(params.adoptionId))
    if ((numbers === undefined) === (folder === undefined))
      throw errors.badRequest('Give either numbers or folder, but not both', {
        fields: { numbers: 'give either this or folder' },
      })
    if (video === undefined && channel === undefined)
      throw errors.badRequest('video or channel is required', { fields: { video: 'give this or channel' } })
    if (!['planned', 'adopted', 'failed'].includes(adoption.state))
      throw errors.conflict(
        say`The videos of this import cannot be corrected, because its state is ${{ state: adoption.state }}`,
      )
    const channelId = channel === undefined ? undefined : await channelIn(channel, signal, app)
    const those = numbers === undefined ? { folder: folder! } : { numbers }
    let changed = 0
    if (video !== undefined) changed = await setVideo(adoption.id, numbers, video, app)
    if (channelId !== undefined) {
      const name = (await app.channels.get(channelId))?.channel_name
      changed = Math.max(changed, await app.adoptions.items.sayChannel(adoption.id, those, channelId, name))
    }
    if (changed === 0)
      throw errors.conflict(
        'None of these videos can be corrected: they are already imported, or described by their own files',
      )
    if (adoption.state === 'adopted') await app.jobs.start(completeVideos, { adoption: adoption.id })
    return { changed }
  },
})

/** @throws bad_request: the text is not a video, or several films were given; conflict: another film is that video */
async function setVideo(id: number, numbers: readonly number[] | undefined, text: string, app: App): Promise<number> {
  const [number, ...others] = numbers ?? []
  if (number === undefined || others.length > 0)
    throw errors.badRequest('A video has only one file: give exactly one number', {
      fields: { numbers: 'must have exactly one' },
    })
  const videoId = videoIn(text.trim(), app)
  if (videoId === undefined)
    throw errors.badRequest(say`“${{ text }}” is not a video on ${{ platform: app.platform.name }}`, {
      fields: { video: 'must be the ID or link of a video' },
    })
  const row = app.adoptions.items.get(id, number)
  if (!row || !isCorrectable(row)) return 0
  const other = app.adoptions.items.takenBy(id, videoId)
  if (other && other.number !== number)
    throw errors.conflict(say`${{ file: other.path }} is already assigned to this video: correct that file first`)
  const isKnown = (await app.videos.readable([videoId])).has(videoId)
  return app.adoptions.items.sayVideo(id, number, videoId, isKnown ? 'known' : 'ask')
}

/** @throws bad_request: the text is not a channel; unprocessable: no channel has this handle; unavailable */
async function channelIn(text: string, signal: AbortSignal, app: App): Promise<string> {
  const id = await app.channels.resolve(text, { asker: 'adoption', signal, isUrgent: true })
  if (id === undefined) throw errors.unprocessable(say`${{ platform: app.platform.name }} has no channel “${{ text }}”`)
  return id
}

const PICTURES: Record<string, string> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
}

export const showItemPicture = defineRoute({
  method: 'GET',
  path: '/api/adoption/:adoptionId/item/:number/picture/',
  access: 'admin',
  summary: 'The picture next to a film of a plan',
  params: ItemId,
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  async handle({ params }, app: App) {
    const adoption = app.adoptions.get(Number(params.adoptionId))
    const row = app.adoptions.items.get(adoption.id, Number(params.number))
    const film = row && fileOf(row)
    const place = app.media.places.list().find(({ id }) => id === adoption.place_id)
    if (film?.picture === undefined || !place) throw errors.notFound('picture')
    const path = isAbsolute(film.picture) ? film.picture : join(place.path, sidecarPath(film.folder, film.picture))
    const type = PICTURES[extname(path).toLowerCase()]
    if (type === undefined || !(await isPicture(path).catch(() => false))) throw errors.notFound('picture')
    return fileReply(path, type)
  },
})

const MOST_CHANNELS = 100

export const listAdoptionChannels = defineRoute({
  method: 'GET',
  path: '/api/adoption/:adoptionId/channel/',
  access: 'admin',
  summary: `The number of videos to import from each channel, the largest first, at most ${MOST_CHANNELS} channels`,
  params: AdoptionId,
  reply: Type.Array(
    Type.Object({
      channel_id: Type.String({ description: 'empty: only the platform knows it' }),
      channel_name: Type.String(),
      count: Type.Integer(),
      size: Type.Integer({ description: 'bytes' }),
    }),
  ),
  errors: ['not_found'],
  async handle({ params }, app: App) {
    const { id } = app.adoptions.get(Number(params.adoptionId))
    const channels = await app.adoptions.items.channels(id, MOST_CHANNELS)
    return channels.map(({ id: channelId, name, count, bytes }) => ({
      channel_id: channelId,
      channel_name: name,
      count,
      size: bytes,
    }))
  },
})
