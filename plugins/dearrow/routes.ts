/** The thumbnails that were cut (contract 9.40). */
import { defineRoute, errors, file, Type } from 'archivolt'
import type { App } from './app.ts'
import { pictureOf } from './pictures.ts'

export const showPicture = defineRoute({
  method: 'GET',
  path: '/cache/dearrow/:file',
  access: 'viewer',
  summary: 'A thumbnail at the time that viewers propose',
  params: Type.Object({ file: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,160}$' }) }),
  query: { size: Type.Optional(Type.Enum(['small', 'medium', 'large'], { description: 'there is one size' })) },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  async handle({ params }, { pictures, videos }: App) {
    const id = pictureOf(params.file)
    if (id === undefined || !pictures.has(id) || !(await videos.has(id))) throw errors.notFound('file')
    return file(pictures.pathOf(id), 'image/jpeg')
  },
})
