/** Routes for faces (contract 9.26), for admins only, because a face may show the whole archive. */
import {
  defineRoute,
  errors,
  ID_PATTERN,
  mustNotBeBlank,
  Name,
  ROW_PATTERN,
  Said,
  saidOf,
  Type,
  type Words,
} from 'archivolt'
import type { App } from './app.ts'
import { type FaceRow, FORMS } from './types.ts'

const MOST_CHOSEN = 500
/** Maximum number of groups, so that one filter of a search server can contain all their members. */
const MOST_GROUPS = 20
const Ids = Type.Array(Type.String({ pattern: ID_PATTERN }), { maxItems: MOST_CHOSEN, uniqueItems: true })
const Selection = Type.Object(
  {
    channels: Type.Optional(Ids),
    playlists: Type.Optional(Ids),
    groups: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { maxItems: MOST_GROUPS, uniqueItems: true })),
    account: Type.Optional(Type.Integer({ minimum: 1 })),
    watched: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

const shape = {
  form: Type.Enum([...FORMS]),
  template: Type.Optional(Type.String({ minLength: 1, maxLength: 500, pattern: '^[^\\p{C}]*$' })),
  selection: Selection,
}
const given = {
  ...shape,
  name: Name,
  root: Type.String({ minLength: 1, maxLength: 1000, pattern: '^[^\\p{C}]*$' }),
  takes_back: Type.Optional(Type.Boolean()),
  with_places: Type.Optional(Type.Boolean()),
}

const Count = Type.Integer({ minimum: 0 })
const State = Type.Object({
  at: Type.Optional(Count),
  took_ms: Type.Optional(Count),
  films: Type.Optional(Count),
  changed: Type.Optional(Count),
  links: Type.Optional(Type.Record(Type.String(), Count)),
  error: Type.Optional(Type.String()),
  problems: Type.Optional(Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }))),
  more_problems: Type.Optional(Count),
})
const Face = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  root: Type.String(),
  form: Type.Enum([...FORMS]),
  template: Type.String(),
  selection: Selection,
  takes_back: Type.Boolean(),
  with_places: Type.Boolean(),
  is_on: Type.Boolean(),
  created: Count,
  state: State,
  said: Type.Optional(Said),
})
const Params = Type.Object({ faceId: Type.String({ pattern: ROW_PATTERN }) })

export const listFaces = defineRoute({
  method: 'GET',
  path: '/api/face/',
  access: 'admin',
  scope: 'admin',
  summary: 'Faces with the outcome of the last render of each, and the folders in which faces may be created',
  reply: Type.Object({ faces: Type.Array(Face), roots: Type.Array(Type.String()) }),
  handle: (_input, app: App) => ({
    faces: app.faces.rows.faces().map((row) => record(row, app)),
    roots: app.settings.faceRoots,
  }),
})

export const addFace = defineRoute({
  method: 'POST',
  path: '/api/face/',
  access: 'admin',
  summary: 'Add a face; a job fills its folder',
  body: Type.Object(given),
  reply: Face,
  errors: ['bad_request', 'unprocessable', 'conflict', 'unavailable'],
  async handle({ body }, app: App) {
    mustNotBeBlank(body.name)
    const { takes_back: takesBack, with_places: withPlaces, ...face } = body
    return record(await app.faces.add({ ...face, takesBack, withPlaces }), app)
  },
})

export const changeFace = defineRoute({
  method: 'POST',
  path: '/api/face/:faceId/',
  access: 'admin',
  summary: 'Change a face, switch it on or off, accept its current folder, or update it',
  params: Params,
  body: Type.Partial(
    Type.Object({ ...given, root: Type.Never(), is_on: Type.Boolean(), command: Type.Enum(['accept', 'update']) }),
  ),
  reply: Face,
  errors: ['bad_request', 'unprocessable', 'conflict'],
  async handle({ params: { faceId }, body }, app: App) {
    const { command, takes_back: takesBack, with_places: withPlaces, is_on: isOn, root: _, ...change } = body
    const id = Number(faceId)
    if (change.name !== undefined) mustNotBeBlank(change.name)
    if (command === 'accept') await app.faces.accept(id)
    const face = await app.faces.change(id, { ...change, takesBack, withPlaces, isOn })
    if (command === 'update') await app.jobs.start('update_faces', { face: id })
    return record(face, app)
  },
})

export const removeFace = defineRoute({
  method: 'DELETE',
  path: '/api/face/:faceId/',
  access: 'admin',
  summary: 'Remove a face with all files that it has created; the library stays unchanged',
  params: Params,
  reply: Type.Object({ success: Type.Literal(true), task_id: Type.String() }),
  errors: ['unavailable'],
  async handle({ params: { faceId } }, app: App) {
    const id = Number(faceId)
    if (!app.faces.rows.face(id)) throw errors.notFound('face')
    const job = await app.jobs.start('faces.remove', { face: id })
    return { success: true, task_id: job.id }
  },
})

export const previewFace = defineRoute({
  method: 'POST',
  path: '/api/face/preview/',
  access: 'admin',
  summary: 'Preview a face: its first twenty paths and the kind of its links; nothing is stored',
  body: Type.Object({ ...shape, root: Type.Optional(given.root) }),
  reply: Type.Object({
    paths: Type.Array(Type.String()),
    link: Type.Optional(Type.Enum(['hard', 'reflink', 'symbolic'])),
    reason: Type.Optional(Type.String()),
    said: Type.Optional(Said),
  }),
  errors: ['bad_request', 'conflict'],
  async handle({ body: { root = '', ...face } }, app: App) {
    const { reason, ...shown } = await app.faces.preview({ ...face, root })
    if (reason === undefined) return shown
    const { texts, said } = saidOf([reason])
    return { ...shown, reason: texts[0]!, ...(said && { said }) }
  },
})

function record(row: FaceRow, app: App) {
  const { error, problems, ...state } = app.faces.stateOf(row)
  const words: Words[] = [...(error === undefined ? [] : [error]), ...(problems ?? []).map(({ reason }) => reason)]
  const { texts, said } = saidOf(words)
  const reasons = error === undefined ? texts : texts.slice(1)
  return {
    id: row.id,
    name: row.name,
    root: row.root,
    form: row.form,
    template: row.template,
    selection: app.faces.selectionOf(row),
    takes_back: row.takes_back === 1,
    with_places: row.with_places === 1,
    is_on: row.is_on === 1,
    created: row.created_at,
    state: {
      ...state,
      ...(error !== undefined && { error: texts[0]! }),
      ...(problems && { problems: problems.map(({ path }, at) => ({ path, reason: reasons[at]! })) }),
    },
    ...(said && { said }),
  }
}
