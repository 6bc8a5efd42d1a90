/**
 * Routes for places: folders of other programs, whose films are only read unless a person permits more (contract 9.16).
 */
import { defineRoute, errors, isBlank, ROW_PATTERN, say, Type } from 'archivolt'
import type { Place } from '../media/types.ts'
import { followPlaces } from './5-follow.ts'
import type { App } from './app.ts'
import { endWaiting } from './away.ts'
import { missingRoots } from './missing-roots.ts'

const Path = Type.String({ minLength: 1, maxLength: 4096, description: 'an absolute path on the server' })
const Label = Type.String({ minLength: 1, maxLength: 100 })
const PlaceId = Type.Object({ placeId: Type.String({ pattern: ROW_PATTERN }) })

const PlaceRecord = Type.Object({
  id: Type.Integer(),
  path: Type.String(),
  label: Type.String(),
  state: Type.Enum(['there', 'away']),
  away_since: Type.Optional(Type.Integer({ description: 'epoch seconds; only while the folder is offline' })),
  added_at: Type.Integer({ description: 'epoch seconds' }),
  videos: Type.Integer({ description: 'number of videos in the folder' }),
  follow: Type.Boolean({ description: 'new videos in the folder are imported automatically' }),
  ours: Type.Boolean({ description: 'Archivolt may delete files in the folder when their videos are removed' }),
})

const toRecord = ({ id, path, label, awaySince, addedAt, films, isOurs }: Place, app: App) => ({
  id,
  path,
  label,
  state: awaySince === undefined ? ('there' as const) : ('away' as const),
  away_since: awaySince,
  added_at: addedAt,
  videos: films,
  follow: app.adoptions.followed.has(id),
  ours: isOurs,
})

/** Refuses control characters, which would garble logs and lists. */
function checkedText<Text extends string | undefined>(name: string, text: Text): Text {
  if (text !== undefined && (/\p{Cc}/u.test(text) || isBlank(text)))
    throw errors.badRequest(say`${{ name }} must be plain text`, { fields: { [name]: 'must be plain text' } })
  return text
}

function checkedPath<Text extends string | undefined>(path: Text): Text {
  if (path !== undefined && !checkedText('path', path)!.startsWith('/'))
    throw errors.badRequest('path must begin with /', { fields: { path: 'must begin with /' } })
  return path
}

/** Common folder names, to which the name of the parent folder is added. */
const PLAIN_NAMES = new Set('data download downloads library media output video videos youtube'.split(' '))

/** The folder's name, with that of its parent folder if the name is a common one. */
function nameOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '')
  const [outer, last = '/'] = [parts.at(-2), parts.at(-1)]
  const name = outer !== undefined && PLAIN_NAMES.has(last.toLowerCase()) ? `${outer}/${last}` : last
  return [...name].slice(-100).join('')
}

export const listPlaces = defineRoute({
  method: 'GET',
  path: '/api/place/',
  access: 'admin',
  summary: 'Folders of other programs, and the folders below which they may be',
  reply: Type.Object({
    roots: Type.Array(Type.String()),
    missing: Type.Array(Type.String({ description: 'the roots that are not folders on this server' })),
    places: Type.Array(PlaceRecord),
  }),
  handle: async (_input, app: App) => ({
    roots: [...app.media.places.roots()],
    missing: await missingRoots(app),
    places: app.media.places.list().map((place) => toRecord(place, app)),
  }),
})

export const addPlace = defineRoute({
  method: 'POST',
  path: '/api/place/',
  access: 'admin',
  summary: 'Add a folder of another program, whose files are only read',
  body: Type.Object({ path: Path, label: Type.Optional(Label) }),
  reply: PlaceRecord,
  errors: ['bad_request', 'conflict', 'unprocessable'],
  async handle({ body: { path, label } }, app: App) {
    checkedText('label', label)
    const place = await app.media.places.add(checkedPath(path), label ?? nameOf(path))
    app.adoptions.found.dropCached()
    return toRecord(place, app)
  },
})

export const changePlace = defineRoute({
  method: 'POST',
  path: '/api/place/:placeId/',
  access: 'admin',
  summary:
    'Change a folder: its path, its name, whether new videos are imported automatically, and whether Archivolt may delete files in it',
  params: PlaceId,
  body: Type.Object({
    path: Type.Optional(Path),
    label: Type.Optional(Label),
    follow: Type.Optional(Type.Boolean()),
    ours: Type.Optional(Type.Boolean()),
  }),
  reply: PlaceRecord,
  errors: ['bad_request', 'not_found', 'conflict', 'unprocessable', 'unavailable'],
  async handle({ params, body: { path, label, follow, ours } }, app: App) {
    const id = Number(params.placeId)
    const { places } = app.media
    const said = [checkedPath(path), checkedText('label', label), follow, ours]
    if (said.every((value) => value === undefined))
      throw errors.badRequest('path, label, follow or ours is required', { fields: { path: 'or label, follow, ours' } })
    places.get(id)
    if (path !== undefined) await places.move(id, path)
    if (path !== undefined) app.adoptions.found.dropCached()
    if (ours !== undefined) await places.setOurs(id, ours)
    if (follow !== undefined) {
      await app.adoptions.followed.set(id, follow)
      if (follow) await app.jobs.start(followPlaces)
    }
    return toRecord(label === undefined ? places.get(id) : await places.rename(id, label), app)
  },
})

export const removePlace = defineRoute({
  method: 'DELETE',
  path: '/api/place/:placeId/',
  access: 'admin',
  summary: 'Remove a folder without videos in the archive; its files stay unchanged',
  params: PlaceId,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found', 'conflict'],
  async handle({ params }, app: App) {
    await app.media.places.remove(Number(params.placeId))
    await app.adoptions.followed.set(Number(params.placeId), false)
    await endWaiting(Number(params.placeId), app)
    app.adoptions.found.dropCached()
    return { success: true as const }
  },
})
