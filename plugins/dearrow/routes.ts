/** Routes for titles by viewers, and for the thumbnails that were cut (contract 9.40). */
import { defineRoute, errors, file, say, Type } from 'archivolt'
import type { App } from './app.ts'
import { pictureOf } from './pictures.ts'

const MOST_TITLES = 50

export const listTitles = defineRoute({
  method: 'GET',
  path: '/api/dearrow/',
  access: 'viewer',
  summary: 'Titles that viewers propose for these videos',
  query: {
    ids: Type.String({ maxLength: 8000, description: `ids of at most ${MOST_TITLES} videos, separated by commas` }),
  },
  reply: Type.Record(Type.String(), Type.String(), {
    description: 'by id; videos without a proposed title are omitted',
  }),
  errors: ['bad_request'],
  async handle({ query }, { videos }: App) {
    const ids = [...new Set((query.ids ?? '').split(','))].filter((id) => id !== '')
    if (ids.length > MOST_TITLES)
      throw errors.wrongField('ids', say`must have at most ${{ count: MOST_TITLES }} entries`)
    const docs = await videos.collection.getMany(ids)
    return Object.fromEntries([...docs].flatMap(([id, { dearrow }]) => (dearrow?.title ? [[id, dearrow.title]] : [])))
  },
})

export const showPicture = defineRoute({
  method: 'GET',
  path: '/cache/dearrow/:file',
  access: 'viewer',
  summary: 'A thumbnail from the moment that viewers propose',
  params: Type.Object({ file: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,160}$' }) }),
  query: {
    size: Type.Optional(Type.Enum(['small', 'medium', 'large'], { description: 'ignored: there is only one size' })),
  },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  async handle({ params }, { pictures, videos }: App) {
    const id = pictureOf(params.file)
    if (id === undefined || !pictures.has(id) || !(await videos.has(id))) throw errors.notFound('file')
    return file(pictures.pathOf(id), 'image/jpeg')
  },
})
