/** The search over HTTP (contract 5.8, 6.1). */
import { defineRoute, errors, json, listOf, objectOf, queryText, Type } from 'archivolt'
import type { App } from './app.ts'
import { SubtitleHit } from './fragments.ts'
import { parseQuery, QUERY_TYPES } from './query-syntax.ts'
import { type Groups, runQuery } from './search.ts'

const RECORDS = Type.Array(
  Type.Object({ _index: Type.String(), _score: Type.Number() }, { description: 'a whole record' }),
)

const groupText = ({ video, channel, playlist, full }: Groups): string =>
  objectOf({
    video_results: listOf(video),
    channel_results: listOf(channel),
    playlist_results: listOf(playlist),
    fulltext_results: listOf(full),
  })

export const search = defineRoute({
  method: 'GET',
  path: '/api/search/',
  access: 'viewer',
  summary: 'Search videos, channels, playlists or subtitles; at most 30 hits',
  query: { query: queryText({ required: true, description: 'words, with keywords such as `video:` or `active:yes`' }) },
  reply: Type.Object({
    results: Type.Object({
      video_results: RECORDS,
      channel_results: RECORDS,
      playlist_results: RECORDS,
      fulltext_results: Type.Array(SubtitleHit),
    }),
    queryType: Type.Enum([...QUERY_TYPES]),
  }),
  errors: ['bad_request'],
  revalidates: true,
  async handle({ query: { query: text }, actor }, app: App) {
    if (!text?.trim()) throw errors.wrongField('query', 'is required')
    const query = parseQuery(text)
    const groups = await runQuery(query, actor, app)
    return json(objectOf({ results: groupText(groups), queryType: JSON.stringify(query.type) }))
  },
})
