/** The route of the search (contract 5.8, 6.1). */
import { defineRoute, errors, json, Type } from 'archivolt'
import type { App } from './app.ts'
import { CommentHit } from './comments.ts'
import { SubtitleHit } from './fragments.ts'
import { parseQuery, QUERY_TYPES } from './query-syntax.ts'
import { runQuery } from './search.ts'

const RECORDS = Type.Array(
  Type.Object({ _index: Type.String(), _score: Type.Number() }, { description: 'a complete record' }),
)

export const search = defineRoute({
  method: 'GET',
  path: '/api/search/',
  access: 'viewer',
  summary: 'Search videos, channels, playlists, subtitles or comments; at most 30 hits',
  query: {
    query: Type.String({ maxLength: 1000, description: 'words, with keywords such as `video:` or `active:yes`' }),
  },
  reply: Type.Object({
    results: Type.Object({
      video_results: RECORDS,
      channel_results: RECORDS,
      playlist_results: RECORDS,
      fulltext_results: Type.Array(SubtitleHit),
      comment_results: Type.Optional(
        Type.Array(CommentHit, { description: 'omitted unless comments were searched (`comment:`)' }),
      ),
    }),
    queryType: Type.Enum([...QUERY_TYPES]),
  }),
  errors: ['bad_request'],
  revalidates: true,
  async handle({ query: { query: text }, actor }, app: App) {
    if (!text?.trim()) throw errors.wrongField('query', 'is required')
    return json(await runQuery(parseQuery(text), actor, app))
  },
})
