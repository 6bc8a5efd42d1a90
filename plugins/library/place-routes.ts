/** Places over HTTP: folders of other programs whose films are only read (contract 9.16). */
import { defineRoute, errors, Type } from 'archivolt'
import type { Place } from '../media/types.ts'
import type { App } from './app.ts'

const Path = Type.String({ minLength: 1, maxLength: 4096, description: 'an absolute path on the server' })
const Label = Type.String({ minLength: 1, maxLength: 100 })
const PlaceId = Type.Object({ placeId: Type.String({ pattern: '^[1-9][0-9]{0,8}$' }) })

export const PlaceRecord = Type.Object({
  id: Type.Integer(),
  path: Type.String(),
  label: Type.String(),
  state: Type.Enum(['there', 'away']),
  away_since: Type.Optional(Type.Integer({ description: 'epoch seconds; only while it is away' })),
  added_at: Type.Integer({ description: 'epoch seconds' }),
  videos: Type.Integer({ description: 'how many videos lie in it' }),
})

export const toRecord = ({ id, path, label, awaySince, addedAt, films }: Place) => ({
  id,
  path,
  label,
  state: awaySince === undefined ? ('there' as const) : ('away' as const),
  ...(awaySince !== undefined && { away_since: awaySince }),
  added_at: addedAt,
  videos: films,
})

/** Control characters would spoil logs and lists. */
function checkedText<Text extends string | undefined>(name: string, text: Text): Text {
  if (text !== undefined && (/\p{Cc}/u.test(text) || text.trim() === ''))
    throw errors.badRequest(`${name} must be a plain text`, { fields: { [name]: 'must be a plain text' } })
  return text
}

function checkedPath<Text extends string | undefined>(path: Text): Text {
  if (path !== undefined && !checkedText('path', path)!.startsWith('/'))
    throw errors.badRequest('path must begin with /', { fields: { path: 'must begin with /' } })
  return path
}

const lastPart = (path: string): string => path.split('/').findLast((part) => part !== '') ?? '/'

export const listPlaces = defineRoute({
  method: 'GET',
  path: '/api/place/',
  access: 'admin',
  summary: 'Folders of other programs whose films are only read, and below which folders there may be such',
  reply: Type.Object({ roots: Type.Array(Type.String()), places: Type.Array(PlaceRecord) }),
  handle: (_input, { media: { places } }: App) => ({ roots: [...places.roots()], places: places.list().map(toRecord) }),
})

export const addPlace = defineRoute({
  method: 'POST',
  path: '/api/place/',
  access: 'admin',
  summary: 'Name a folder of another program; nothing is ever written there',
  body: Type.Object({ path: Path, label: Type.Optional(Label) }),
  reply: PlaceRecord,
  errors: ['bad_request', 'conflict', 'unprocessable'],
  async handle({ body: { path, label } }, { media: { places } }: App) {
    checkedText('label', label)
    return toRecord(await places.add(checkedPath(path), label ?? lastPart(path).slice(0, 100)))
  },
})

export const changePlace = defineRoute({
  method: 'POST',
  path: '/api/place/:placeId/',
  access: 'admin',
  summary: 'Say where a place is now, or what people call it',
  params: PlaceId,
  body: Type.Object({ path: Type.Optional(Path), label: Type.Optional(Label) }),
  reply: PlaceRecord,
  errors: ['bad_request', 'not_found', 'conflict', 'unprocessable'],
  async handle({ params, body: { path, label } }, { media: { places } }: App) {
    const id = Number(params.placeId)
    if (checkedPath(path) === undefined && checkedText('label', label) === undefined)
      throw errors.badRequest('path or label is required', { fields: { path: 'or label is required' } })
    if (path !== undefined) await places.move(id, path)
    return toRecord(label === undefined ? places.get(id) : await places.rename(id, label))
  },
})

export const removePlace = defineRoute({
  method: 'DELETE',
  path: '/api/place/:placeId/',
  access: 'admin',
  summary: 'Forget a place where no videos lie; its files stay as they are',
  params: PlaceId,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found', 'conflict'],
  async handle({ params }, { media: { places } }: App) {
    await places.remove(Number(params.placeId))
    return { success: true as const }
  },
})
